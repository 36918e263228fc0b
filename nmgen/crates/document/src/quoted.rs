//! Quoted texts that go on no further to the right than their key. YAML (1.2, 8.2.2) wants their lines indented, and so does our
//! scanner. libyaml and its port to Go, by which nmstate's tools and the consumers of manifests read, take them in any column.

use saphyr_parser::Parser;

use crate::text::lines::ends;

/// The scanner's words.
pub(super) const FAULT: &str = "invalid indentation in quoted scalar";

/// Each line costs a pass over the text, which may be a mebibyte: so many bytes are read in all.
const MOST: usize = 4 << 20;

/// Lines by their numbers, each with the characters that the parser has at its beginning and the text has not.
pub(super) type Added = Vec<(usize, usize)>;

/// Returns the text with these lines indented, and what was added; `None` if it has another fault.
pub(super) fn indented(text: &str) -> Option<(String, Added)> {
    let (mut text, mut added) = (text.to_owned(), Added::new());
    let mut left = MOST;
    loop {
        left = left.checked_sub(text.len())?;
        let Some(fault) = Parser::new_from_str(&text).find_map(Result::err) else {
            return Some((text, added));
        };
        // The fault is at the quote; a line below it is the first one that is not indented.
        let spaces = " ".repeat(fault.marker().col());
        let is_it = |(line, start): &(usize, usize)| {
            *line > fault.marker().line() && !text[*start..].starts_with(&spaces)
        };
        let found = (2..).zip(ends(&text)).find(is_it);
        let (line, start) = found.filter(|_| fault.info() == FAULT)?;
        added.push((line, spaces.len()));
        text.insert_str(start, &spaces);
    }
}

#[cfg(test)]
mod tests {
    use super::indented;
    use crate::text::{Position, Source};

    #[test]
    fn lines_of_quoted_texts_are_indented_and_no_others() {
        for (text, expected) in [
            ("a: 'b\nc'\nd: 1\n", "a: 'b\n   c'\nd: 1\n"),
            ("a: 'it''s\r\n\r\nb'\r\n", "a: 'it''s\r\n   \r\n   b'\r\n"),
            ("a: \"b\\\"\\\nc\\\\\"\nd: 'e\nf'\n", "a: \"b\\\"\\\n   c\\\\\"\nd: 'e\n   f'\n"),
        ] {
            assert_eq!(indented(text).map(|(text, _)| text).as_deref(), Some(expected));
        }
        for text in [
            "a: 'b\nc\n",
            "a: 'b\nc' d\n",
            "a: 'b\n---\nc'\n",
            "a: 'b\nc'\nd: 'e\n",
            "a:\n  b: [\n'c\n  d']\ne: |\nf\n",
        ] {
            assert_eq!(indented(text).map(|(text, _)| text), None);
        }
        let keys = |count| indented(&"a: 'b\nc'\n".repeat(count)).map(|(text, _)| text);
        assert_eq!(keys(64), Some("a: 'b\n   c'\n".repeat(64)));
        assert_eq!(keys(1_000), None);
    }

    #[test]
    fn places_are_those_of_the_file() -> Result<(), crate::diagnostic::Diagnostics> {
        let source =
            Source { name: "test".into(), text: "a:\n  b: ['é\nc', d, 'e\nf', g]\nh: i\n".into() };
        let root = crate::parse(&source)?.root;
        let list =
            root.get("a").and_then(|a| a.get("b")).map(|b| b.items().to_vec()).unwrap_or_default();
        let found: Vec<_> = list.iter().map(|item| (item.text(), item.span.start)).collect();
        let at = |line, column| Position { line, column };
        let expected = [("é c", at(2, 7)), ("d", at(3, 5)), ("e f", at(3, 8)), ("g", at(4, 5))];
        assert_eq!(found, expected.map(|(text, at)| (Some(text), at)));
        assert_eq!(root.get("h").map(|h| h.span.start), Some(at(5, 4)));
        Ok(())
    }
}
