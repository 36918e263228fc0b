//! Mistakes written down one by one, each with the place where it has to be told, and the program's account of each.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::program;

/// Messages for one mistake: the cause, and at most one more.
pub const MOST_MESSAGES: usize = 2;
/// A message this many lines away is at the mistake: YAML's faults show on the next line.
const NEAR: usize = 1;

/// A change of a base: a document, a file of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The changed file, below the fixtures of mistakes.
    pub file: String,
    /// The kind of mistake.
    pub kind: String,
    /// The mistake.
    pub what: String,
    from: String,
    to: String,
    /// Parts of the lines at which it may be told; the first line that differs without any.
    at: Vec<String>,
    /// Words of the first message.
    says: Option<String>,
}

/// The program's messages for one mistake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// One a message, with its place.
    pub messages: Vec<String>,
    /// The first one is at the mistake, with the words if there are any.
    pub is_at_place: bool,
}

impl Account {
    /// True if one reads the cause first, and little else.
    pub fn is_good(&self) -> bool {
        self.is_at_place && self.messages.len() <= MOST_MESSAGES
    }
}

type Table = BTreeMap<String, BTreeMap<String, Vec<Vec<String>>>>;

/// The directory with the bases and the tables.
pub fn directory() -> PathBuf {
    program::root().join("tests/fixtures/mistakes")
}

/// The mistakes of a table: by file and kind, what it is, the text, the other text, and optionally places and words.
///
/// # Errors
/// If it cannot be read, or has another form.
pub fn table(name: &str) -> io::Result<Vec<Written>> {
    let text = fs::read_to_string(directory().join(name))?;
    let table: Table = serde_yaml::from_str(&text).map_err(io::Error::other)?;
    let mut all = Vec::new();
    for (file, kinds) in table {
        for (kind, entries) in kinds {
            for entry in entries {
                let [what, from, to, rest @ ..] = entry.as_slice() else {
                    return Err(io::Error::other(format!("{file}: {entry:?}")));
                };
                let at = rest.first().filter(|at| !at.is_empty());
                all.push(Written {
                    file: file.clone(),
                    kind: kind.clone(),
                    what: what.clone(),
                    from: from.clone(),
                    to: to.clone(),
                    at: at.iter().flat_map(|at| at.split(" | ")).map(str::to_owned).collect(),
                    says: rest.get(1).cloned(),
                });
            }
        }
    }
    Ok(all)
}

impl Written {
    /// Makes the mistake in a copy of its base, and has the program check it.
    ///
    /// # Errors
    /// If the base lacks the text, or the program does not run.
    pub fn account(&self) -> io::Result<Account> {
        let directory = tempfile::tempdir()?;
        let (base, source) = (self.base(), self::directory().join(self.base()));
        if source.is_dir() {
            fs::create_dir(directory.path().join(base))?;
            for entry in fs::read_dir(&source)? {
                let entry = entry?;
                fs::copy(entry.path(), directory.path().join(base).join(entry.file_name()))?;
            }
        }
        let before = fs::read_to_string(self::directory().join(&self.file))?;
        let missing = || io::Error::other(format!("{} has no {:?}", self.file, self.from));
        let start = before.find(&self.from).ok_or_else(missing)?;
        let after =
            format!("{}{}{}", &before[..start], self.to, &before[start + self.from.len()..]);
        fs::write(directory.path().join(&self.file), &after)?;
        let lines = self.lines(&before, &after)?;
        let told = program::checked(&directory.path().join(base))?;
        let here = format!("{}/", directory.path().display());
        Ok(self.judge(&told.replace(&here, ""), &lines))
    }

    fn base(&self) -> &str {
        let first = Path::new(&self.file).components().next();
        first.and_then(|base| base.as_os_str().to_str()).unwrap_or_default()
    }

    /// The lines at which the mistake may be told.
    fn lines(&self, before: &str, after: &str) -> io::Result<Vec<usize>> {
        let line = |at: usize| after[..at].matches('\n').count() + 1;
        let same = before.bytes().zip(after.bytes()).take_while(|(a, b)| a == b).count();
        let same = (0..=same).rev().find(|at| after.is_char_boundary(*at)).unwrap_or_default();
        if self.at.is_empty() {
            return Ok(vec![line(same)]);
        }
        let nearest = |part: &String| {
            let found = after.match_indices(part.as_str()).map(|(at, _)| at);
            let at = found.min_by_key(|at| at.abs_diff(same));
            at.map(line).ok_or_else(|| io::Error::other(format!("{}: no {part:?}", self.what)))
        };
        self.at.iter().map(nearest).collect()
    }

    fn judge(&self, text: &str, lines: &[usize]) -> Account {
        let mut messages = Vec::new();
        let mut is_at_place = false;
        let mut rest = text.lines().peekable();
        while let Some(line) = rest.next() {
            let is_message = line.starts_with("error[") || line.starts_with("warning[");
            let place = rest.peek().and_then(|next| next.trim_start().strip_prefix("--> "));
            let Some(place) = place.filter(|_| is_message) else { continue };
            if messages.is_empty() {
                let position = place.strip_prefix(&format!("{}:", self.file));
                let number =
                    position.and_then(|position| position.split(':').next()?.parse::<usize>().ok());
                let is_near =
                    |wanted: &usize| number.is_some_and(|number| number.abs_diff(*wanted) <= NEAR);
                let says =
                    self.says.as_ref().is_none_or(|words| text_of(line, text).contains(words));
                is_at_place = lines.iter().any(is_near) && says;
            }
            messages.push(format!("{place}: {line}"));
        }
        Account { messages, is_at_place }
    }
}

/// The message that begins with this line, with its place and its remedy.
fn text_of<'t>(line: &str, text: &'t str) -> &'t str {
    let from = text.find(line).unwrap_or_default();
    text[from..].split("\n\n").next().unwrap_or_default()
}
