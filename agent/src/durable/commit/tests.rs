//! A power cut at every point between NetworkManager's commit and the last rename.

use std::{fs, os::unix::fs::PermissionsExt as _};

use super::{Commit, adopt, finish};
use crate::{
    document::Document,
    document::digest::Digest,
    durable::adopted::AdoptedChange,
    durable::journal::{self, ChangeKind, Journal},
    durable::machine::Machine,
    durable::record::Record,
    model::{Before, Uplinks},
    paths::Paths,
};

type Tested = Result<(), Box<dyn std::error::Error>>;

fn document(text: &str) -> Document {
    Document {
        path: "/etc/nmstate/openshift/cluster.yml".into(),
        text: text.to_owned(),
        digest: Digest::of(text.as_bytes()),
        mode: 0o600,
    }
}

fn open(paths: &Paths, document: &Document) -> Result<Commit, Box<dyn std::error::Error>> {
    let journal = Journal::new(
        paths,
        ChangeKind::Document,
        (document.digest.clone(), document.path.clone()),
        Vec::new(),
        Before::default(),
        Vec::new(),
    );
    Ok(journal::open(paths, &journal, &[], |new| super::stage(paths, new, document, "resolved"))?)
}

/// A node with the document \"old\" in force.
fn node() -> Result<(tempfile::TempDir, Paths), Box<dyn std::error::Error>> {
    let root = tempfile::tempdir()?;
    let paths = Paths::new(root.path());
    fs::create_dir_all(paths.documents())?;
    let commit = open(&paths, &document("old"))?;
    commit.decide(&paths)?;
    commit.finish(&paths)?;
    Ok((root, paths))
}

fn in_force(paths: &Paths, text: &str) -> Result<bool, Box<dyn std::error::Error>> {
    let record = Record::load(paths);
    let is_last_good = record.document().is_some_and(|document| document.text == text);
    Ok(record.in_force(paths, &Digest::of(text.as_bytes()))? && is_last_good)
}

#[test]
fn a_commit_leaves_only_what_it_wrote() -> Tested {
    let (_root, paths) = node()?;
    assert!(in_force(&paths, "old")?);
    let committed = Record::load(&paths).committed.ok_or("no commit")?;
    assert_eq!(committed.resolved.as_deref(), Some("resolved"));
    for copy in [paths.applied(), paths.record()] {
        let mode = fs::metadata(&copy)?.permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{} is as readable as the document", copy.display());
    }
    assert_eq!(fs::read_dir(paths.state_dir())?.count(), 2);
    assert_eq!(fs::read_dir(paths.documents())?.count(), 1);
    assert_eq!(fs::read_to_string(paths.history())?.lines().count(), 1);
    fs::write(paths.applied(), "other")?;
    assert!(!in_force(&paths, "old")?);
    Ok(())
}

#[test]
fn cut_before_the_decision_the_old_document_stays_in_force() -> Tested {
    let (_root, paths) = node()?;
    // A power cut: nothing is dropped.
    std::mem::forget(open(&paths, &document("new"))?);
    finish(&paths)?;
    assert!(journal::read(&paths)?.is_some(), "the next start rolls back");
    assert!(in_force(&paths, "old")? && !in_force(&paths, "new")?);
    journal::close(&paths)?;
    assert!(in_force(&paths, "old")?);
    Ok(())
}

#[test]
fn cut_after_the_decision_the_new_document_comes_in_force() -> Tested {
    for moved in 0..=3 {
        let (_root, paths) = node()?;
        let commit = open(&paths, &document("new"))?;
        commit.decide(&paths)?;
        let dir = paths.committed();
        let steps: [&dyn Fn() -> std::io::Result<()>; 3] = [
            &|| fs::rename(paths.documents().join(".applied.dayone"), paths.applied()),
            &|| fs::rename(dir.join("record.json"), paths.record()),
            &|| fs::remove_file(dir.join("journal.json")),
        ];
        for step in &steps[..moved] {
            step()?;
        }
        std::mem::forget(commit);
        assert!(journal::read(&paths)?.is_none(), "nothing is rolled back any more");
        finish(&paths)?;
        assert!(in_force(&paths, "new")?, "cut after {moved}");
        let mode = fs::metadata(paths.applied())?.permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "cut after {moved}");
        assert!(!dir.exists());
        finish(&paths)?;
    }
    Ok(())
}

#[test]
fn an_adopted_document_is_in_force_and_told_apart() -> Tested {
    let root = tempfile::tempdir()?;
    let paths = Paths::new(root.path());
    fs::create_dir_all(paths.documents())?;
    fs::create_dir_all(paths.state_dir())?;
    // The mark of nmstate-configuration up to 4.19.
    fs::write(paths.applied(), "")?;
    adopt(&paths, &document("theirs"), "resolved", Uplinks::default(), &[])?;
    assert!(in_force(&paths, "theirs")?);
    assert_eq!(fs::read_to_string(paths.applied())?, "theirs");
    assert!(fs::read_to_string(paths.history())?.contains("\"adopted\""));
    assert!(Record::load(&paths).committed.is_some_and(|committed| committed.adopted));
    assert_eq!(fs::read_dir(paths.state_dir())?.count(), 2);
    Ok(())
}

#[test]
fn an_adopted_change_lasts_until_the_next_commit_and_the_machine_stays() -> Tested {
    let (_root, paths) = node()?;
    let change = AdoptedChange::new(&["~ a: 1 -> 2".to_owned()], None);
    let machine = Machine::here(&paths, vec!["52:54:00:00:00:01".to_owned()]);
    Record::update(&paths, |record| {
        if let Some(committed) = &mut record.committed {
            committed.adopted_change = Some(change.clone());
        }
        record.machine = Some(machine.clone());
    })?;
    assert_eq!(Record::load(&paths).adopted_change(), Some(&change));
    let commit = open(&paths, &document("old"))?;
    commit.decide(&paths)?;
    commit.finish(&paths)?;
    let record = Record::load(&paths);
    assert_eq!(record.adopted_change(), None, "the document was applied anew");
    assert_eq!(record.machine, Some(machine));
    Ok(())
}

/// Nothing holds a boot: the network is made again where it is not there.
#[test]
fn a_damaged_record_of_a_decided_commit_is_set_aside() -> Tested {
    let (_root, paths) = node()?;
    let commit = open(&paths, &document("new"))?;
    commit.decide(&paths)?;
    std::mem::forget(commit);
    fs::write(paths.committed().join("record.json"), "{\"half")?;
    finish(&paths)?;
    assert!(in_force(&paths, "old")? && !paths.committed().exists());
    Ok(())
}
