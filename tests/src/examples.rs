//! The examples in the documentation of the checks.

use std::path::Path;

/// A rule's section.
#[derive(Debug)]
pub struct Section {
    /// The heading.
    pub rule: String,
    /// The first word below the heading: `Error` or `Warning`.
    pub severity: String,
    /// The fenced blocks.
    pub examples: Vec<Example>,
}

/// A fenced block.
#[derive(Debug)]
pub struct Example {
    /// The words after the fence, e.g. `yaml bad directory`.
    pub info: Vec<String>,
    /// The content.
    pub text: String,
}

impl Example {
    /// True when the words after the fence include this one.
    pub fn is(&self, word: &str) -> bool {
        self.info.iter().any(|info| info == word)
    }

    /// The files of a block marked `directory`, with their names.
    pub fn files(&self) -> Vec<(&str, &str)> {
        let mut files = Vec::new();
        for part in self.text.split("# file: ").skip(1) {
            let (name, text) = part.split_once('\n').unwrap_or((part, ""));
            files.push((name, text));
        }
        files
    }
}

/// The sections `### rule-name` of the documentation.
///
/// # Panics
/// When it cannot be read.
pub fn sections(path: &Path) -> Vec<Section> {
    let text = std::fs::read_to_string(path);
    assert!(text.is_ok(), "{} cannot be read", path.display());
    let mut sections: Vec<Section> = Vec::new();
    let mut fence: Option<Example> = None;
    for line in text.unwrap_or_default().lines() {
        match (&mut fence, line.strip_prefix("```"), sections.last_mut()) {
            (Some(_), Some(_), Some(section)) => section.examples.extend(fence.take()),
            (Some(example), None, _) => example.text += &format!("{line}\n"),
            (None, Some(info), Some(_)) => {
                let info = info.split_whitespace().map(str::to_owned).collect();
                fence = Some(Example { info, text: String::new() });
            }
            (_, _, section) => {
                if let Some(rule) = line.strip_prefix("### ") {
                    let rule = rule.to_owned();
                    sections.push(Section { rule, severity: String::new(), examples: Vec::new() });
                } else if let Some(section) = section.filter(|section| section.severity.is_empty())
                {
                    let word = line.split('.').next().unwrap_or_default();
                    word.clone_into(&mut section.severity);
                }
            }
        }
    }
    sections
}
