//! Whose the durable state is, by its record; what is another machine's or another installation's is set aside.

use std::path::PathBuf;

use super::{
    file::{self, Result},
    machine::{Machine, Owner},
    record::Record,
};
use crate::{
    document::digest::Digest,
    paths::{Paths, cannot},
};

impl Machine {
    /// Records this machine as that of the state, durably. Mainboard and cards that are not known at the moment stay; another
    /// installation's machine-id does not.
    pub(crate) fn record(self, paths: &Paths) -> Result {
        let mut here = self;
        Record::update(paths, |record| {
            if let Some(recorded) = record.machine.take() {
                if here.system_uuid.is_empty() {
                    here.system_uuid = recorded.system_uuid;
                }
                if here.cards.is_empty() {
                    here.cards = recorded.cards;
                }
            }
            record.machine = Some(here);
        })
    }
}

/// The owner of the state, before the cards are known.
pub(crate) fn of_state(paths: &Paths) -> Owner {
    let recorded = Record::load(paths).machine;
    recorded
        .map_or(Owner::ThisInstallation, |machine| machine.on(&Machine::here(paths, Vec::new())))
}

/// Moves the state of another machine or installation to a directory of its own, and with it `applied`, if that is its document.
/// The file that names the machine goes last: until then the next start moves the rest.
pub(crate) fn set_aside(paths: &Paths) -> Result<PathBuf> {
    let aside = paths.other_machine();
    // Version 0.2 has a file for it.
    let named = if paths.machine().exists() { paths.machine() } else { paths.record() };
    let name = |path: &std::path::Path| path.file_name().unwrap_or_default().to_owned();
    if aside.join(name(&named)).exists() {
        // Left by an earlier machine.
        file::remove(&aside)?;
    }
    file::create_dir(&aside)?;
    let record = Record::load(paths);
    if let Some(committed) = &record.committed
        && let Some(applied) = file::read(&paths.applied())?
        && Digest::of(&applied) == committed.digest
    {
        file::write(&aside.join("applied"), &applied, file::mode(&paths.applied())?)?;
        file::remove_durably(&paths.applied())?;
    }
    let directory = paths.state_dir();
    let read = cannot("read", &directory);
    for entry in std::fs::read_dir(&directory).map_err(read)? {
        let path = entry.map_err(read)?.path();
        if path != aside && path != named {
            let to = aside.join(name(&path));
            file::remove(&to)?;
            file::rename(&path, &to)?;
        }
    }
    file::rename(&named, &aside.join(name(&named)))?;
    file::sync_dir(&directory)?;
    Ok(aside)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{document::Document, durable::machine::tests::machine};

    type Tested = Result<(), Box<dyn std::error::Error>>;

    /// The state of a node with a document in force and an open transaction.
    fn state_of_another(paths: &Paths) -> Tested {
        let document = Document {
            path: "/etc/nmstate/openshift/worker-0.yml".into(),
            text: "x".to_owned(),
            digest: Digest::of(b"x"),
            mode: 0o644,
        };
        std::fs::create_dir_all(paths.transaction())?;
        std::fs::create_dir_all(paths.documents())?;
        std::fs::write(paths.transaction().join("journal.json"), "{}")?;
        std::fs::write(paths.history(), "")?;
        std::fs::write(paths.applied(), "x")?;
        Record::of(&document, Record::default()).write(paths)?;
        Ok(machine("a1", "uuid-a", &[]).record(paths)?)
    }

    #[test]
    fn another_machines_state_is_set_aside_with_its_copy_of_the_document() -> Tested {
        // The second time, over the first one's remains.
        let root = tempfile::tempdir()?;
        let paths = Paths::new(root.path());
        for _ in 0..2 {
            state_of_another(&paths)?;
            assert_eq!(
                of_state(&paths),
                Owner::ThisInstallation,
                "a machine without a machine-id tells nothing"
            );
            std::fs::create_dir_all(paths.dmi(""))?;
            std::fs::write(paths.dmi("product_uuid"), "uuid-b\n")?;
            std::fs::write(paths.machine_id(), "b2\n")?;
            assert_eq!(of_state(&paths), Owner::Another);
            let aside = set_aside(&paths)?;
            assert_eq!(Record::load(&paths), Record::default());
            assert!(!paths.applied().exists() && !paths.transaction().exists());
            assert_eq!(std::fs::read_dir(paths.state_dir())?.count(), 1);
            for file in ["applied", "record.json", "history.jsonl", "transaction"] {
                assert!(aside.join(file).exists(), "{file}");
            }
            assert_eq!(of_state(&paths), Owner::ThisInstallation);
            std::fs::remove_file(paths.machine_id())?;
        }
        Ok(())
    }

    #[test]
    fn a_document_of_this_machine_stays_applied_beside_anothers_state() -> Tested {
        let root = tempfile::tempdir()?;
        let paths = Paths::new(root.path());
        state_of_another(&paths)?;
        std::fs::write(paths.applied(), "y")?;
        // A set aside that was cut off goes on.
        std::fs::create_dir_all(paths.other_machine())?;
        std::fs::write(paths.other_machine().join("history.jsonl"), "")?;
        let aside = set_aside(&paths)?;
        assert_eq!(std::fs::read_to_string(paths.applied())?, "y");
        assert!(aside.join("history.jsonl").exists() && aside.join("record.json").exists());
        Ok(())
    }

    #[test]
    fn cards_that_are_not_known_stay() -> Tested {
        let root = tempfile::tempdir()?;
        let paths = Paths::new(root.path());
        assert_eq!(Record::load(&paths).machine, None);
        for (here, expected) in [
            (machine("a1", "u", &["52:54:00:00:00:01"]), "52:54:00:00:00:01"),
            (machine("a1", "v", &[]), "52:54:00:00:00:01"),
            (machine("a1", "v", &["52:54:00:00:00:02"]), "52:54:00:00:00:02"),
        ] {
            here.clone().record(&paths)?;
            let recorded = Record::load(&paths).machine.ok_or("no machine")?;
            assert_eq!(
                (recorded.cards.join(" "), recorded.system_uuid),
                (expected.to_owned(), here.system_uuid)
            );
        }
        Ok(())
    }
}
