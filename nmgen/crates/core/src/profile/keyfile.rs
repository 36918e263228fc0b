//! The keyfile format: nm-settings-keyfile(5), based on GLib's key files.

use std::fmt::Write;

use smol_str::SmolStr;

/// A keyfile's sections in their order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Keyfile {
    /// Names are unique.
    pub sections: Vec<Section>,
}

/// A section's keys and values in their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// The name without brackets.
    pub name: SmolStr,
    /// Values are unescaped; keys are unique.
    pub entries: Vec<Entry>,
}

/// A key and its value.
pub type Entry = (SmolStr, SmolStr);

/// The reason why a text is not a keyfile of nmstate's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
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
    /// Reads nmstate's output, whose values are not escaped.
    pub fn parse_unescaped(text: &str) -> Result<Self, Malformed> {
        let mut keyfile = Self::default();
        let mut in_order = true;
        for (index, line) in text.split('\n').enumerate() {
            let number = index + 1;
            // Most lines are plain ASCII: check bytes first.
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
                keyfile.sections.push(Section { name: name.into(), entries: Vec::new() });
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
            // nmstate sorts the keys, so a key after the last one is new: sections may have
            // thousands.
            in_order &= section.entries.last().is_none_or(|(last, _)| last.as_str() < key);
            if !in_order && section.get(key).is_some() {
                return Err(Malformed::KeyTwice {
                    section: section.name.to_string(),
                    key: key.into(),
                });
            }
            section.entries.push((key.into(), value.into()));
        }
        Ok(keyfile)
    }

    /// Reads any keyfile as leniently as GLib: white space around keys and values, comments, and the
    /// last value of a repeated key. Values stay escaped.
    pub fn parse_leniently(text: &str) -> Self {
        let mut keyfile = Self::default();
        let mut section = None;
        for line in text.lines().map(str::trim).filter(|line| !line.starts_with('#')) {
            if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                section = Some(name);
            } else if let (Some(section), Some((key, value))) = (section, line.split_once('=')) {
                keyfile.set(section, key.trim(), value.trim());
            }
        }
        keyfile
    }

    /// Sets a key. A new one goes to its place in nmstate's order, which is sorted.
    pub fn set(&mut self, section: &str, key: &str, value: &str) {
        match self.section_mut(section) {
            Some(section) => section.set(key, value),
            None => self
                .sections
                .push(Section { name: section.into(), entries: vec![(key.into(), value.into())] }),
        }
    }

    /// Removes a section with all its keys.
    pub fn remove(&mut self, section: &str) {
        self.sections.retain(|found| found.name != section);
    }

    /// The section with this name, to change it.
    pub fn section_mut(&mut self, name: &str) -> Option<&mut Section> {
        self.sections.iter_mut().find(|section| section.name == name)
    }

    /// The section with this name.
    pub fn section(&self, name: &str) -> Option<&Section> {
        self.sections.iter().find(|section| section.name == name)
    }

    /// The value of a key.
    pub fn get(&self, section: &str, key: &str) -> Option<&str> {
        self.section(section)?.get(key)
    }

    /// The file's text, with values escaped for NetworkManager.
    pub fn render(&self) -> String {
        self.render_with(escape)
    }

    /// The text of a keyfile whose values are still escaped: see [`Self::parse_leniently`].
    pub fn render_as_read(&self) -> String {
        self.render_with(|value, text| text.push_str(value))
    }

    /// Gives back the room for more sections and keys: the profiles of a fleet are in memory together.
    pub fn shrink_to_fit(&mut self) {
        self.sections.iter_mut().for_each(|section| section.entries.shrink_to_fit());
        self.sections.shrink_to_fit();
    }

    fn render_with(&self, write_value: impl Fn(&str, &mut String)) -> String {
        let mut text = String::new();
        for (index, section) in self.sections.iter().enumerate() {
            if index > 0 {
                text.push('\n');
            }
            let _ = writeln!(text, "[{}]", section.name);
            for (key, value) in &section.entries {
                let _ = write!(text, "{key}=");
                write_value(value, &mut text);
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

impl Section {
    /// Sets a key. A new one goes to its place in nmstate's order, which is sorted.
    pub fn set(&mut self, key: &str, value: &str) {
        match self.entries.iter_mut().find(|(known, _)| known == key) {
            Some((_, known)) => *known = value.into(),
            None => {
                self.entries.push((key.into(), value.into()));
                self.entries.sort();
            }
        }
    }

    /// Removes all keys with this prefix, and returns their values in order.
    pub fn take(&mut self, beginning: &str) -> Vec<String> {
        let is_it = |(key, _): &mut Entry| key.starts_with(beginning);
        self.entries.extract_if(.., is_it).map(|(_, value)| value.into()).collect()
    }
}

/// Mirrors GLib's `g_key_file_is_key_name`, without locale suffixes.
fn is_key(key: &str) -> bool {
    !key.is_empty() && key.trim() == key && !key.contains(['[', ']', '='])
}

/// The inverse of GLib's `g_key_file_parse_value_as_string`, which nmstate doesn't apply.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_keyfile_of_others_is_read_as_far_as_it_can_be() {
        let text = "uuid=0\n# [wifi]\n[connection]\n uuid = a \nid\nuuid=b=c\n\n[ethernet]\nmac-address=\n";
        let keyfile = Keyfile::parse_leniently(text);
        assert_eq!(keyfile.get("connection", "uuid"), Some("b=c"));
        assert_eq!(keyfile.get("ethernet", "mac-address"), Some(""));
        assert_eq!(keyfile.sections.len(), 2);
    }

    #[test]
    fn a_value_is_set_in_place_and_a_key_in_order() {
        let mut keyfile = Keyfile::parse_leniently("[ipv4]\ndns=a\nmethod=auto\n");
        keyfile.set("ipv4", "method", "manual");
        keyfile.set("ipv4", "may-fail", "true");
        keyfile.set("ipv6", "method", "disabled");
        let text = "[ipv4]\ndns=a\nmay-fail=true\nmethod=manual\n\n[ipv6]\nmethod=disabled\n";
        assert_eq!(keyfile.render(), text);
        assert_eq!(
            keyfile.section_mut("ipv4").map(|section| section.take("m")).unwrap_or_default(),
            ["true", "manual"]
        );
        keyfile.remove("ipv6");
        assert_eq!(keyfile.render(), "[ipv4]\ndns=a\n");
    }

    #[test]
    fn a_text_of_nmstates_is_read_strictly() {
        let refused = |text: &str| {
            Keyfile::parse_unescaped(text)
                .map_or_else(|malformed| malformed.to_string(), |keyfile| keyfile.render())
        };
        assert_eq!(refused("[a]\nb=c\n\n[d]\n"), "[a]\nb=c\n\n[d]\n");
        assert_eq!(refused("[a]\n[a]\n"), "the section [a] occurs twice");
        // Keys out of nmstate's order too.
        assert_eq!(refused("[a]\nc=1\nb=2\nc=3\n"), "the key c occurs twice in [a]");
        assert_eq!(refused("[a]\nb=1\nb=3\n"), "the key b occurs twice in [a]");
        assert_eq!(refused("[a]\nb=1\n[c]\nb=1\n"), "[a]\nb=1\n\n[c]\nb=1\n");
        for line in ["b", "=c", " b=c", "b =c", "b[0]=c", "b]=c"] {
            let expected = "line 2 is neither a section nor a key with a value";
            assert_eq!(refused(&format!("[a]\n{line}\n")), expected, "{line}");
        }
        assert_eq!(refused("b=c\n"), "line 1 is neither a section nor a key with a value");
        assert_eq!(refused("[a]\nb=\u{1}\n"), "line 2 has a control character");
        assert_eq!(refused("[a]\nb=\u{85}\n"), "line 2 has a control character");
        assert_eq!(refused("[a]\nb=\u{e9}\tc\n"), "[a]\nb=\u{e9}\tc\n");
    }

    #[test]
    fn a_value_is_escaped_as_glib_reads_it() {
        let rendered = |value: &str| {
            let mut keyfile = Keyfile::default();
            keyfile.set("a", "b", value);
            keyfile.render()
        };
        assert_eq!(rendered(" \t c d\t\\e"), "[a]\nb=\\s\\t\\sc d\t\\\\e\n");
    }
}
