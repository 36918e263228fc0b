//! `survivors.toml`: the mutants that no case without a lab notices, each with the reason.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use crate::error::{Error, file};
use crate::list::Mutant;

/// A table for each file: the change, and the reason why no case notices it.
type Tables = BTreeMap<String, BTreeMap<String, String>>;

/// The entries of the list.
pub(crate) struct Survivors {
    entries: Vec<Entry>,
}

/// One line of the list, ``"CHANGE at `TEXT`" = "REASON"``.
struct Entry {
    file: String,
    change: String,
    /// A part of the source's line, around the change; without it, each such change in the function.
    text: Option<String>,
    mutants: Vec<usize>,
}

impl Survivors {
    pub(crate) fn read(root: &Path, mutants: &[Mutant]) -> Result<Survivors, Error> {
        let path = root.join("tests/mutants/survivors.toml");
        let text = fs::read_to_string(&path).map_err(file("read", &path))?;
        let tables: Tables = toml::from_str(&text)
            .map_err(|source| Error::Toml { path: path.clone(), source: Box::new(source) })?;
        let mut entries = Vec::new();
        for (name, table) in tables {
            let source: PathBuf = root.join(&name);
            // An entry for a file that is gone matches no mutant.
            let source = fs::read_to_string(source).unwrap_or_default();
            let lines: Vec<&str> = source.lines().collect();
            for change in table.into_keys() {
                entries.push(Entry::new(&name, &change, mutants, &lines));
            }
        }
        Ok(Survivors { entries })
    }

    pub(crate) fn explain(&self, mutant: usize) -> bool {
        self.entries.iter().any(|entry| entry.mutants.contains(&mutant))
    }

    /// The entries of these files that match no mutant, or a mutant that a case notices.
    pub(crate) fn outdated(
        &self,
        of: impl Fn(&str) -> bool,
        is_noticed: impl Fn(usize) -> bool,
    ) -> Vec<String> {
        let mut outdated = Vec::new();
        for entry in self.entries.iter().filter(|entry| of(&entry.file)) {
            let noticed = entry.mutants.iter().any(|mutant| is_noticed(*mutant));
            let fault = match (entry.mutants.is_empty(), noticed) {
                (true, _) => "matches no mutant",
                (false, true) => "matches a mutant that a case notices",
                (false, false) => continue,
            };
            let text = entry.text.as_ref().map(|it| format!(" at `{it}`")).unwrap_or_default();
            outdated.push(format!("{}: {}{text}: {fault}", entry.file, entry.change));
        }
        outdated
    }
}

impl Entry {
    fn new(file: &str, key: &str, mutants: &[Mutant], lines: &[&str]) -> Entry {
        let (change, text) = match key.strip_suffix('`').and_then(|key| key.split_once(" at `")) {
            Some((change, text)) => (change, Some(text)),
            None => (key, None),
        };
        let matches = |mutant: &Mutant| {
            let place = mutant.span.start;
            let line = lines.get(place.line - 1).copied().unwrap_or_default();
            mutant.file == file
                && mutant.change() == change
                && text.is_none_or(|text| is_around(line, text, place.column - 1))
        };
        let numbers = mutants.iter().enumerate().filter(|(_, mutant)| matches(mutant));
        Entry {
            file: file.to_owned(),
            change: change.to_owned(),
            text: text.map(str::to_owned),
            mutants: numbers.map(|(number, _)| number).collect(),
        }
    }
}

/// True if the line has the text around this column.
fn is_around(line: &str, text: &str, column: usize) -> bool {
    let at = line.char_indices().nth(column).map_or(line.len(), |(at, _)| at);
    line.match_indices(text).any(|(start, _)| (start..start + text.len()).contains(&at))
}
