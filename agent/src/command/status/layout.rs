//! Text within the width of a console.

/// The width of a console without a size of its own.
pub(super) const WIDTH: usize = 80;
/// The width of the keys.
const KEY: usize = 10;

/// `key: value`, the value on as many lines as it needs; words are never cut.
pub(super) fn entry(key: &str, value: &str) -> String {
    let indent = KEY + 2;
    let mut lines = wrapped(value, WIDTH - indent).into_iter();
    let mut text = format!("{key:>KEY$}: {}\n", lines.next().unwrap_or_default());
    for line in lines {
        text.push_str(&format!("{:indent$}{line}\n", ""));
    }
    text
}

/// Lines of at most `width` characters; a longer word has a line of its own. Control characters, which a
/// name in a document may have, do not reach the terminal.
pub(super) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let visible = |c: char| if c.is_control() && !c.is_whitespace() { '?' } else { c };
    let text: String = text.chars().map(visible).collect();
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_is_wider_than_the_console_unless_a_word_is() {
        assert_eq!(wrapped("", 10), Vec::<String>::new());
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("a\x1b[2Jb\nc", 10), ["a?[2Jb c"]);
        assert_eq!(wrapped("a abcdefghijkl b", 7), ["a", "abcdefghijkl", "b"]);
        let text = entry("next", &"word ".repeat(40));
        assert!(text.lines().all(|line| line.len() <= WIDTH), "{text}");
        assert_eq!(text.lines().nth(1).map(|line| line.find("word")), Some(Some(12)));
    }
}
