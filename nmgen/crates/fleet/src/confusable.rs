//! Characters that look like others of ASCII, or like nothing: from web pages, word processors and chats.

/// The first such character of a text, and what it is.
pub(crate) fn find(text: &str) -> Option<(char, &'static str)> {
    text.chars().find_map(|character| Some((character, kind(character)?)))
}

/// The text as it was meant.
pub(crate) fn plain(text: &str) -> String {
    let plain = |character: char| match kind(character) {
        Some(DASH) => Some('-'),
        Some(_) => None,
        None => Some(character),
    };
    text.chars().filter_map(plain).collect()
}

const DASH: &str = "a dash, which looks like a hyphen";

fn kind(character: char) -> Option<&'static str> {
    Some(match character {
        '\u{a0}' | '\u{202f}' => "a non-breaking space, which looks like a space",
        '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}' => {
            "a character that nobody sees"
        }
        '\u{2010}'..='\u{2015}' | '\u{2212}' => DASH,
        '\u{2018}'..='\u{201f}' | '\u{ab}' | '\u{bb}' => "a typographic quotation mark",
        other if other.is_whitespace() && !other.is_ascii() => "a space that YAML does not know",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::{find, plain};

    #[test]
    fn a_text_is_as_it_was_meant() {
        for (text, meant) in [
            ("bond0\u{a0}", "bond0"),
            ("active\u{2013}backup", "active-backup"),
            ("\u{201c}100\u{201d}", "100"),
            ("192.0.2.1\u{200b}", "192.0.2.1"),
        ] {
            assert!(find(text).is_some());
            assert_eq!(plain(text), meant);
        }
        assert!(find("müller-lüdenscheidt 10").is_none());
    }
}
