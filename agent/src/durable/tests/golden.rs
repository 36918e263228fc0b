//! The agent's files as this version and version 0.2 write them. Each is read and written again byte for byte, so
//! that an update, and the way back to the version before it, find a transaction and a record that they can
//! use.

use std::path::PathBuf;

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::durable::{
    automatic::Automatic, file, journal::Journal, machine::Machine, record::Record,
};

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
fn the_record_stays() -> Tested {
    is_written_as_it_was_read::<Record>(&[
        "record",
        "record-committed",
        "record-empty",
        "record-given-up",
        "record-whole",
    ])
}

/// A commit that is staged has no network until it is proved.
#[test]
fn a_record_without_a_network_is_read() -> Tested {
    let record: Record = file::read_json(&golden("record-staged"))?.ok_or("no golden file")?;
    assert!(record.committed.is_some() && record.uplinks().is_none());
    Ok(())
}

/// The way back: version 0.2 leaves out the fields that it does not know, and finds its own as it wrote them.
#[test]
fn version_0_2_reads_the_record_of_this_one() -> Tested {
    #[derive(Deserialize)]
    struct Uplinks {
        families: Vec<String>,
        links: Vec<Value>,
        cards: Vec<Value>,
        profiles: Vec<Value>,
    }
    #[derive(Deserialize)]
    struct Committed {
        digest: String,
        source: PathBuf,
        at: u64,
        uplinks: Option<Uplinks>,
        service_files: Option<Vec<String>>,
        adopted: bool,
    }
    #[derive(Deserialize)]
    struct Failures {
        digest: String,
        count: u32,
        last_error: String,
        boot_id: Option<String>,
        cut_off: u32,
    }
    #[derive(Deserialize)]
    struct Record {
        committed: Option<Committed>,
        failures: Option<Failures>,
    }
    let record: Record = file::read_json(&golden("record-whole"))?.ok_or("no golden file")?;
    let (committed, failures) = (record.committed, record.failures);
    let (commit, failures) = (committed.ok_or("no commit")?, failures.ok_or("no failures")?);
    assert!(commit.digest.len() == 64 && commit.source.is_absolute() && commit.at == 1_790_000_000);
    let uplinks = commit.uplinks.ok_or("no uplinks")?;
    let numbers = [uplinks.links.len(), uplinks.cards.len(), uplinks.profiles.len()];
    assert_eq!((uplinks.families.len(), numbers), (1, [2, 1, 1]));
    assert!(commit.service_files.is_some_and(|files| files.len() == 1) && commit.adopted);
    assert!(failures.digest.len() == 64 && failures.count == 3 && failures.cut_off == 1);
    assert!(failures.boot_id.is_some() && !failures.last_error.is_empty());
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
