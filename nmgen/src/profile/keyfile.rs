//! The keyfile format: nm-settings-keyfile(5), and GLib's key file parser beneath it.

use std::fmt::Write;

/// A keyfile's sections in their order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Keyfile {
    /// No name occurs twice.
    pub sections: Vec<Section>,
}

/// A section's keys and values in their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Without the brackets.
    pub name: String,
    /// Values are as they are meant, not escaped; no key occurs twice.
    pub entries: Vec<(String, String)>,
}

/// Why a text is not a keyfile that nmstate meant to write.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Malformed {
    #[error("the section [{0}] occurs twice")]
    SectionTwice(String),
    #[error("the key {key} occurs twice in [{section}]")]
    KeyTwice { section: String, key: String },
    #[error("line {0} is neither a section nor a key with a value")]
    Line(usize),
    #[error("line {0} has a control character")]
    Control(usize),
}

impl Keyfile {
    /// Reads what nmstate wrote: its values are not escaped.
    pub(crate) fn parse_unescaped(text: &str) -> Result<Self, Malformed> {
        let mut keyfile = Self::default();
        let mut in_order = true;
        for (index, line) in text.split('\n').enumerate() {
            let number = index + 1;
            // Most lines are ASCII: bytes tell at once.
            let is_plain = line.bytes().all(|byte| matches!(byte, b' '..=b'~'));
            if !is_plain && line.chars().any(|c| c.is_control() && c != '\t') {
                return Err(Malformed::Control(number));
            }
            if line.is_empty() {
                continue;
            }
            if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                if keyfile.section(name).is_some() {
                    return Err(Malformed::SectionTwice(name.to_owned()));
                }
                keyfile.sections.push(Section { name: name.to_owned(), entries: Vec::new() });
                in_order = true;
                continue;
            }
            let (Some((key, value)), Some(section)) =
                (line.split_once('='), keyfile.sections.last_mut())
            else {
                return Err(Malformed::Line(number));
            };
            if !is_key(key) {
                return Err(Malformed::Line(number));
            }
            // nmstate sorts the keys, and then a key beyond the last is new: a section may have thousands.
            in_order &= section.entries.last().is_none_or(|(last, _)| last.as_str() < key);
            if !in_order && section.get(key).is_some() {
                return Err(Malformed::KeyTwice { section: section.name.clone(), key: key.into() });
            }
            section.entries.push((key.to_owned(), value.to_owned()));
        }
        Ok(keyfile)
    }

    /// The section with this name.
    pub fn section(&self, name: &str) -> Option<&Section> {
        self.sections.iter().find(|section| section.name == name)
    }

    /// The value of a key.
    pub fn get(&self, section: &str, key: &str) -> Option<&str> {
        self.section(section)?.get(key)
    }

    /// The file's text, with values escaped so that NetworkManager reads them as they are here.
    pub fn render(&self) -> String {
        let mut text = String::new();
        for (index, section) in self.sections.iter().enumerate() {
            if index > 0 {
                text.push('\n');
            }
            let _ = writeln!(text, "[{}]", section.name);
            for (key, value) in &section.entries {
                let _ = write!(text, "{key}=");
                escape(value, &mut text);
                text.push('\n');
            }
        }
        text
    }
}

impl Section {
    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.entries.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }
}

/// What GLib takes for a key (`g_key_file_is_key_name`), without its locale suffixes.
fn is_key(key: &str) -> bool {
    !key.is_empty() && key.trim() == key && !key.contains(['[', ']', '='])
}

/// The inverse of GLib's `g_key_file_parse_value_as_string`; nmstate leaves this out.
fn escape(value: &str, text: &mut String) {
    let mut leading = true;
    for character in value.chars() {
        match character {
            ' ' if leading => text.push_str("\\s"),
            '\t' if leading => text.push_str("\\t"),
            '\\' => text.push_str("\\\\"),
            _ => text.push(character),
        }
        leading = leading && matches!(character, ' ' | '\t');
    }
}
