//! Guides: the blocks of their text.

/// A block between lines of three backquotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block<'a> {
    /// The words behind the first backquotes.
    pub kind: &'a str,
    /// The lines, without the last line's end.
    pub text: &'a str,
}

impl<'a> Block<'a> {
    /// The name of the file that the block is, `yaml file=NAME`.
    #[must_use]
    pub fn file(self) -> Option<&'a str> {
        self.kind.split_once(" file=").map(|(_, name)| name)
    }

    /// Whether its commands are for the node: behind `#`, not `$`.
    #[must_use]
    pub fn is_of_node(self) -> bool {
        self.kind == "console" && self.text.starts_with("# ")
    }
}

/// The blocks of a text, in order.
pub fn blocks(text: &str) -> impl Iterator<Item = Block<'_>> {
    text.split("\n```").skip(1).step_by(2).map(|block| {
        let (kind, text) = block.split_once('\n').unwrap_or((block, ""));
        Block { kind, text }
    })
}

/// The text below a heading of the second level; empty without it.
#[must_use]
pub fn section<'a>(text: &'a str, heading: &str) -> &'a str {
    let sections = text.split("\n## ").skip(1);
    let mut found =
        sections.filter_map(|section| section.strip_prefix(heading)?.strip_prefix('\n'));
    found.next().unwrap_or_default()
}

/// The content of the file that a block of the text is.
#[must_use]
pub fn file(text: &str, name: &str) -> Option<String> {
    blocks(text).find(|block| block.file() == Some(name)).map(|block| format!("{}\n", block.text))
}
