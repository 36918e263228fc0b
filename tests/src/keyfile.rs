//! A plain reader of keyfiles, independent of nmgen's own, so that one mistake cannot hide in both.

/// Sections in order, each with its keys in order; values unparsed.
pub type Sections = Vec<(String, Vec<(String, String)>)>;

/// Reads a keyfile line by line.
///
/// # Panics
/// On a line that is neither a section, a key with a value, a comment nor empty.
pub fn parse(text: &str) -> Sections {
    let mut sections = Sections::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            sections.push((name.to_owned(), Vec::new()));
            continue;
        }
        let pair = line.split_once('=').zip(sections.last_mut());
        let Some(((key, value), (_, entries))) = pair else {
            unreachable!("not a keyfile's line: {line:?}");
        };
        entries.push((key.to_owned(), value.to_owned()));
    }
    sections
}

/// A value as GLib decodes it (`g_key_file_parse_value_as_string`).
pub fn unescape(value: &str) -> String {
    let mut text = String::new();
    let mut characters = value.trim_start_matches([' ', '\t']).chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            text.push(character);
            continue;
        }
        match characters.next() {
            Some('s') => text.push(' '),
            Some('t') => text.push('\t'),
            Some('n') => text.push('\n'),
            Some('r') => text.push('\r'),
            Some('\\') => text.push('\\'),
            // A list's separator stays escaped until the list is split.
            Some(other) => text.extend(['\\', other]),
            None => text.push('\\'),
        }
    }
    text
}
