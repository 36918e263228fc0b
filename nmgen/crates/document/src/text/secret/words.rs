//! Secrets in a line by its words: where no parser tells its values.

use std::ops::Range;

use super::keys::{VPN_SECRETS, is_in_prose, is_key, is_pair, is_public};
use super::section::{is_harmless, is_section};

/// The findings in a line's words.
pub(in crate::text) struct Words {
    /// The columns of the secrets, from 0.
    pub(in crate::text) values: Vec<Range<usize>>,
    /// The last value goes on in further lines.
    pub(super) goes_on: bool,
}

/// True for a line whose first key is that of a section with secrets.
pub(super) fn begins_section(line: &str) -> bool {
    let start = line.trim_start_matches([' ', '-', '"', '\'']);
    let key = start.split([':', '"', '\'', ' ']).next();
    key.is_some_and(is_section)
}

/// The values behind keys of secrets; below a section with secrets, behind each key that is not known to have none.
pub(in crate::text) fn in_words(line: &str, is_below: bool) -> Words {
    let characters: Vec<char> = line.chars().collect();
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    let (mut values, mut at, mut open) = (Vec::new(), 0, 0_usize);
    // The number of open brackets around the key of a section.
    let mut section: Option<usize> = None;
    while at < characters.len() {
        match characters[at] {
            '{' | '[' => open += 1,
            '}' | ']' => {
                open = open.saturating_sub(1);
                section = section.filter(|around| open > *around);
            }
            _ => {}
        }
        if !is_word(characters[at]) {
            at += 1;
            continue;
        }
        let length = characters[at..].iter().take_while(|c| is_word(**c)).count();
        let (start, end) = (at, at + length);
        at = end;
        let skip = |mut at: usize, of: &[char]| {
            while characters.get(at).is_some_and(|c| of.contains(c)) {
                at += 1;
            }
            at
        };
        let mark = skip(end, &['"', '\'', '\\', ' ', '\t']);
        if !matches!(characters.get(mark), Some(':' | '=')) {
            continue;
        }
        let word: String = characters[start..end].iter().collect();
        if is_section(&word) {
            section = section.or(Some(open));
            continue;
        }
        let is_field = is_below || section.is_some();
        let is_secret = is_key(&word) || is_field && !is_harmless(&word);
        // A harmless value is passed over: an address of IPv6 and a certificate's name have words that look like keys.
        if !is_secret && !is_field {
            continue;
        }
        let value = skip(mark + 1, &[' ', '\t']);
        let quote = skip(value, &['\\']);
        let (end, goes_on) = match characters.get(quote) {
            None => (value, is_secret),
            Some('|' | '>' | '&' | '*' | '!') if open == 0 && is_secret => (characters.len(), true),
            Some('"' | '\'') => match closing(&characters, quote, quote - value) {
                Some(end) => (end, false),
                None => (characters.len(), is_secret),
            },
            // A section's value, which has keys of its own.
            Some('{' | '[') if !is_secret => continue,
            Some('{' | '[') => match group(&characters, value) {
                Some(end) => (end, false),
                None => (characters.len(), true),
            },
            Some(_) if open > 0 => {
                let ends = |c: &char| matches!(c, ',' | '}' | ']' | '"' | '\'');
                let length = characters[value..].iter().position(ends);
                (length.map_or(characters.len(), |length| value + length), false)
            }
            Some(_) if is_secret => (characters.len(), false),
            Some(_) => {
                let comment = characters[value..].windows(2).position(|pair| pair == [' ', '#']);
                (comment.map_or(characters.len(), |length| value + length), false)
            }
        };
        if is_secret && end > value {
            let is_end = |c: &char| c.is_whitespace() || matches!(c, ',' | '}' | ']');
            let length = characters[value..end].iter().position(is_end).unwrap_or(end - value);
            let text: String = characters[value..value + length].iter().collect();
            if is_key(&word) && is_public(&word, text.trim_matches(['"', '\'', '\\'])) {
                at = value + length;
                continue;
            }
            values.push(value..end);
        }
        if goes_on {
            return Words { values, goes_on };
        }
        at = end.max(at);
    }
    Words { values, goes_on: false }
}

/// The secrets of a comment: those behind keys, and the words that follow one for a secret: `# psk abc`.
pub(super) fn in_comment(comment: &str) -> (Vec<Range<usize>>, Option<Range<usize>>) {
    let values = in_words(comment, false).values;
    let (mut at, mut before) = (0, String::new());
    for part in comment.split_inclusive(|c: char| c.is_whitespace() || matches!(c, ':' | '=')) {
        at += part.chars().count();
        let word = part.trim_matches(|c: char| !c.is_alphanumeric());
        let is_key = part.ends_with([':', '=']);
        if is_in_prose(word) && !is_key || is_pair(&before, word) {
            let (end, rest) = (comment.trim_end().chars().count(), comment.chars().skip(at));
            let start = at + rest.take_while(|c| !c.is_alphanumeric()).count();
            return (values, (start < end).then_some(start..end));
        }
        word.clone_into(&mut before);
    }
    (values, None)
}

/// The secrets of a line of a profile's section in which each key has one, or none is a path.
pub(super) fn of_profile(line: &str, section: &str) -> Words {
    let key = line.split('=').next().unwrap_or_default();
    let name = key.trim_matches(['#', ';', ' ', '\t']);
    let is_one = is_key(name) || section == VPN_SECRETS && !name.ends_with("-flags");
    let start = key.chars().count() + 1;
    let value = start..line.chars().count();
    Words {
        values: if is_one && !value.is_empty() { vec![value] } else { Vec::new() },
        goes_on: false,
    }
}

/// The column behind the bracket that ends a group.
fn group(characters: &[char], first: usize) -> Option<usize> {
    let mut open = 0_usize;
    for (at, character) in characters.iter().enumerate().skip(first) {
        match character {
            '{' | '[' => open += 1,
            '}' | ']' if open == 1 => return Some(at + 1),
            '}' | ']' => open -= 1,
            _ => {}
        }
    }
    None
}

/// The column behind the quote that ends a quoted value: `''` within single quotes, and a quote behind a backslash within double
/// ones, are content. The quotes of a text within a text have backslashes before them, as many as the first one.
fn closing(characters: &[char], first: usize, escapes: usize) -> Option<usize> {
    let quote = *characters.get(first)?;
    let mut at = first + 1;
    let mut before = 0;
    while let Some(found) = characters.get(at) {
        let is_doubled = || escapes == 0 && characters.get(at + 1) == Some(&'\'');
        match found {
            '\\' => before += 1,
            '\'' if quote == '\'' && is_doubled() => at += 1,
            '\'' if quote == '\'' => return Some(at + 1),
            '"' if quote == '"' && before % (2 * (escapes + 1)) == escapes => return Some(at + 1),
            _ => before = 0,
        }
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::in_words;

    fn hidden(line: &str, is_below: bool) -> String {
        super::super::hide(line, in_words(line, is_below).values, 0..0).0
    }

    #[test]
    fn a_quoted_secret_ends_at_its_own_quote() {
        for (line, expected) in [
            (r#"{password: "abc\"REST"}"#, "{password: <hidden>}"),
            (r#"{password: "abc\\", b: "c"}"#, r#"{password: <hidden>, b: "c"}"#),
            ("{password: 'it''s REST', b: c}", "{password: <hidden>, b: c}"),
            ("{password: '', b: c}", "{password: <hidden>, b: c}"),
            (r"{password: 'a\', b: c}", "{password: <hidden>, b: c}"),
            (r#"'{"password": "a\"b", "c": 1}'"#, r#"'{"password": <hidden>, "c": 1}'"#),
            (
                r#""{\"password\": \"a\\\"REST\", \"c\": 1}""#,
                r#""{\"password\": <hidden>, \"c\": 1}""#,
            ),
            (r#"password: "abc\"REST"#, "password: <hidden>"),
        ] {
            assert_eq!(hidden(line, false), expected);
        }
    }

    #[test]
    fn unknown_keys_of_a_section_are_secrets() {
        for (line, is_below, expected) in [
            (
                "[{mtu: 1, 802.1x: {identity: a, sss: b, key: c}, sss: d}]",
                false,
                "[{mtu: 1, 802.1x: {identity: a, sss: <hidden>, key: <hidden>}, sss: d}]",
            ),
            ("macsec: {key: a, encrypt: true}", false, "macsec: {key: <hidden>, encrypt: true}"),
            ("  sss: a # b", true, "  sss: <hidden>"),
            ("  sss: a # b", false, "  sss: a # b"),
            ("  identiy: a", true, "  identiy: a"),
            ("  left: 2001:db8:f::55", true, "  left: 2001:db8:f::55"),
            ("  left: 2001:db8::1 # psk: b", true, "  left: 2001:db8::1 # psk: <hidden>"),
            ("  leftid: \"CN=host,O=Org\"", true, "  leftid: \"CN=host,O=Org\""),
            (
                "{libreswan: {left: 2001:db8::1, leftid: 'CN=a,O=b', psk: c}}",
                false,
                "{libreswan: {left: 2001:db8::1, leftid: 'CN=a,O=b', psk: <hidden>}}",
            ),
            ("  private-key: file:///a:b", true, "  private-key: file:///a:b"),
        ] {
            assert_eq!(hidden(line, is_below), expected);
        }
    }
}
