//! A change of the network in force that somebody made on purpose: `dayone adopt` says so, and it is no drift any more.

use serde::{Deserialize, Serialize};

use super::{
    FileError,
    file::{self, create_dir},
    record::{Record, now},
};
use crate::{document::digest::Digest, paths::Paths};

/// The content of the file. Of another commit it says nothing: a document that is changed or applied anew has undone the change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Adopted {
    /// The document in force, and the time of its commit in seconds since 1970.
    digest: Digest,
    committed: u64,
    /// When the change was adopted.
    pub(crate) at: u64,
    pub(crate) reason: Option<String>,
    /// Digests of the differences: their values may be secrets.
    differences: Vec<Digest>,
}

impl Adopted {
    /// An adoption of these differences from the document in force, now; `None` without one.
    pub(crate) fn new(record: &Record, lines: &[String], reason: Option<String>) -> Option<Self> {
        let committed = record.committed.as_ref()?;
        Some(Self {
            digest: committed.digest.clone(),
            committed: committed.at,
            at: now(),
            reason,
            differences: lines.iter().map(|line| Digest::of(line.as_bytes())).collect(),
        })
    }

    /// The adoption beside the commit of this record. A damaged file is set aside: then the change is drift again.
    pub(crate) fn load(paths: &Paths, record: &Record) -> Result<Option<Self>, FileError> {
        let adopted: Option<Self> = file::read_json_or_set_aside(&paths.adopted())?;
        let committed = record.committed.as_ref();
        let is_of = |it: &Self| {
            committed
                .is_some_and(|record| (&record.digest, record.at) == (&it.digest, it.committed))
        };
        Ok(adopted.filter(is_of))
    }

    /// Whether each of these differences is adopted, with its values.
    pub(crate) fn has_all(&self, lines: &[String]) -> bool {
        lines.iter().all(|line| self.differences.contains(&Digest::of(line.as_bytes())))
    }

    pub(crate) fn write(&self, paths: &Paths) -> Result<(), FileError> {
        create_dir(&paths.state_dir())?;
        file::write_json(&paths.adopted(), self, 0o600)
    }

    /// Whether there was something to forget.
    pub(crate) fn forget(paths: &Paths) -> Result<bool, FileError> {
        let was_there = paths.adopted().exists();
        file::remove_durably(&paths.adopted())?;
        Ok(was_there)
    }

    /// The time since, in its largest unit.
    pub(crate) fn age(&self) -> String {
        let seconds = now().saturating_sub(self.at);
        let (number, unit) = match seconds {
            0..120 => return "just now".to_owned(),
            120..7200 => (seconds / 60, "minutes"),
            7200..172_800 => (seconds / 3600, "hours"),
            _ => (seconds / 86_400, "days"),
        };
        format!("{number} {unit} ago")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Document;

    fn record(text: &str) -> Record {
        let digest = Digest::of(text.as_bytes());
        let document = Document { path: "x".into(), text: text.to_owned(), digest, mode: 0o644 };
        Record::of(&document, Record::default())
    }

    #[test]
    fn a_change_is_adopted_with_its_values_until_the_next_commit()
    -> Result<(), Box<dyn std::error::Error>> {
        let root = tempfile::tempdir()?;
        let paths = Paths::new(root.path());
        let lines = ["~ a: 1 -> 2", "+ b: 1"].map(str::to_owned);
        let mut committed = record("a");
        let adopted = Adopted::new(&committed, &lines, None).ok_or("nothing is committed")?;
        adopted.write(&paths)?;
        let found = Adopted::load(&paths, &committed)?.ok_or("it is gone")?;
        assert_eq!(found, adopted);
        assert!(found.has_all(&lines) && found.has_all(&lines[1..]) && found.has_all(&[]));
        assert!(!found.has_all(&["~ a: 1 -> 3".to_owned()]));
        assert_eq!(Adopted::load(&paths, &record("b"))?, None);
        if let Some(it) = &mut committed.committed {
            it.at += 1;
        }
        assert_eq!(Adopted::load(&paths, &committed)?, None, "the document was applied anew");
        assert_eq!(Adopted::load(&paths, &Record::default())?, None);
        assert!(Adopted::forget(&paths)? && !Adopted::forget(&paths)?);
        Ok(())
    }

    #[test]
    fn the_age_is_told_in_its_largest_unit() -> Result<(), Box<dyn std::error::Error>> {
        let mut adopted = Adopted::new(&record("a"), &[], None).ok_or("nothing is committed")?;
        for (seconds, expected) in [
            (5, "just now"),
            (600, "10 minutes ago"),
            (7200, "2 hours ago"),
            (259_200, "3 days ago"),
        ] {
            adopted.at = now() - seconds;
            assert_eq!(adopted.age(), expected);
        }
        Ok(())
    }
}
