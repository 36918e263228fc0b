//! Sets the journal of a failed roll back aside during the transaction that returns to the last
//! good document.

use super::file::{self, Result};
use crate::paths::Paths;

/// Sets an open journal aside; `false` if there is none.
pub(crate) fn set_aside(paths: &Paths) -> Result<bool> {
    let (open, aside) = (paths.transaction(), paths.set_aside());
    if !open.exists() {
        return Ok(false);
    }
    file::remove(&aside)?;
    file::rename(&open, &aside)?;
    Ok(true)
}

/// Opens the journal again for the next start to undo, unless a newer one is open.
pub(crate) fn open_again(paths: &Paths) -> Result {
    let (open, aside) = (paths.transaction(), paths.set_aside());
    if open.exists() || !aside.exists() {
        return Ok(());
    }
    file::rename(&aside, &open)
}

/// Deletes the journal: the last good document is in force, and nothing is left to undo.
pub(crate) fn forget(paths: &Paths) -> Result {
    file::remove(&paths.set_aside())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn makes_room_and_comes_back_unless_there_is_a_newer_one()
    -> Result<(), Box<dyn std::error::Error>> {
        let root = tempfile::tempdir()?;
        let paths = Paths::new(root.path());
        assert!(!set_aside(&paths)?);
        let journal = paths.transaction().join("journal.json");
        for newer in [false, true] {
            std::fs::create_dir_all(paths.transaction())?;
            std::fs::write(&journal, "old")?;
            assert!(set_aside(&paths)?);
            assert!(!paths.transaction().exists());
            if newer {
                std::fs::create_dir_all(paths.transaction())?;
                std::fs::write(&journal, "new")?;
            }
            open_again(&paths)?;
            assert_eq!(std::fs::read_to_string(&journal)?, if newer { "new" } else { "old" });
        }
        assert!(paths.set_aside().exists());
        forget(&paths)?;
        assert!(!paths.set_aside().exists() && paths.transaction().exists());
        Ok(())
    }
}
