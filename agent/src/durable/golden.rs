//! The agent's files as earlier versions wrote them. Each is read and written again byte for byte, so
//! that an update, and the way back to the version before it, find a transaction and a record that they can
//! use.

use std::path::PathBuf;

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{automatic::Automatic, file, journal::Journal, machine::Machine, record::Record};

type Tested = Result<(), Box<dyn std::error::Error>>;

fn golden(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("src/durable/golden/{name}.json"))
}

fn is_written_as_it_was_read<T: Serialize + DeserializeOwned>(names: &[&str]) -> Tested {
    let directory = tempfile::tempdir()?;
    for name in names {
        let value: T = file::read_json(&golden(name))?.ok_or("no golden file")?;
        let again = directory.path().join(name);
        file::write_new_json(&again, &value)?;
        assert_eq!(std::fs::read_to_string(&again)?, std::fs::read_to_string(golden(name))?);
    }
    Ok(())
}

#[test]
fn the_journal_of_each_kind_stays() -> Tested {
    is_written_as_it_was_read::<Journal>(&["journal-document", "journal-trial", "journal-bridge"])
}

#[test]
fn a_journal_without_later_fields_is_that_of_a_document() -> Tested {
    let journal: Journal =
        file::read_json(&golden("journal-of-an-older-version"))?.ok_or("no golden file")?;
    let written = serde_json::to_value(&journal)?;
    assert_eq!((&written["kind"], &written["failures"]), (&"document".into(), &().into()));
    assert_eq!(written["before"]["checkpoint_seconds"], 0);
    Ok(())
}

#[test]
fn the_record_stays() -> Tested {
    is_written_as_it_was_read::<Record>(&[
        "record",
        "record-committed",
        "record-empty",
        "record-given-up",
        "record-of-an-older-version",
    ])
}

/// The way back: a version that knows fewer fields leaves the others out, and finds its own as it wrote them. Files that it does
/// not know it leaves alone.
#[test]
fn a_version_before_reads_the_record_of_this_one() -> Tested {
    #[derive(Deserialize)]
    struct Failures {
        digest: String,
        count: u32,
        last_error: String,
    }
    #[derive(Deserialize)]
    struct Record {
        committed: Option<serde_json::Value>,
        failures: Option<Failures>,
    }
    let record: Record = file::read_json(&golden("record-given-up"))?.ok_or("no golden file")?;
    let failures = record.failures.ok_or("no failures")?;
    assert!(record.committed.is_none() && failures.digest.len() == 64 && failures.count == 4);
    assert!(failures.last_error.ends_with("stopped during the transaction"));
    Ok(())
}

#[test]
fn the_machine_of_the_state_stays() -> Tested {
    is_written_as_it_was_read::<Machine>(&["machine"])
}

#[test]
fn the_commit_of_an_automatic_bridge_stays() -> Tested {
    is_written_as_it_was_read::<Automatic>(&[
        "automatic",
        "automatic-below-the-hint",
        "automatic-of-a-file",
        "automatic-of-the-hint",
        "automatic-of-the-node-ip",
    ])
}
