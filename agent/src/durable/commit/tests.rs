//! A power cut at every point between NetworkManager's commit and the last rename.

use std::{fs, os::unix::fs::PermissionsExt as _};

use super::{Commit, adopt, finish};
use crate::{
    document::Document,
    document::digest::Digest,
    durable::journal::{self, Journal, Kind},
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
    let journal =
        Journal::new(paths, Kind::Document, document, Vec::new(), Before::default(), Vec::new());
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
    let record = Record::load(paths).in_force(paths, &Digest::of(text.as_bytes()))?;
    Ok(record && fs::read_to_string(paths.last_good())? == text)
}

#[test]
fn a_commit_leaves_only_what_it_wrote() -> Tested {
    let (_root, paths) = node()?;
    assert!(in_force(&paths, "old")?);
    assert_eq!(fs::read_to_string(paths.last_good_state())?, "resolved");
    for copy in [paths.applied(), paths.last_good(), paths.last_good_state()] {
        let mode = fs::metadata(&copy)?.permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{} is as readable as the document", copy.display());
    }
    assert_eq!(fs::read_dir(paths.state_dir())?.count(), 4);
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
    for moved in 0..=5 {
        let (_root, paths) = node()?;
        let commit = open(&paths, &document("new"))?;
        commit.decide(&paths)?;
        let dir = paths.committed();
        let steps: [&dyn Fn() -> std::io::Result<()>; 5] = [
            &|| fs::rename(paths.documents().join(".applied.dayone"), paths.applied()),
            &|| fs::rename(dir.join("last-good.resolved.yml"), paths.last_good_state()),
            &|| fs::rename(dir.join("last-good.yml"), paths.last_good()),
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
    assert_eq!(fs::read_dir(paths.state_dir())?.count(), 4);
    Ok(())
}

#[test]
fn a_record_of_an_older_version_is_read_and_completed() -> Tested {
    let (_root, paths) = node()?;
    let old = format!(
        "{{\"committed\":{{\"digest\":\"{}\",\"source\":\"/a.yml\",\"at\":1}},\"failures\":null}}",
        Digest::of(b"old")
    );
    fs::write(paths.record(), old)?;
    let mut record = Record::load(&paths);
    assert!(record.in_force(&paths, &Digest::of(b"old"))?);
    assert!(record.has_service_files(&[Digest::of(b"any")]), "nmstate.service has applied them");
    record.complete(&paths, Uplinks::default(), &[Digest::of(b"these")])?;
    let record = Record::load(&paths);
    assert!(record.has_service_files(&[Digest::of(b"these")]));
    assert!(!record.has_service_files(&[Digest::of(b"any")]));
    assert!(record.committed.is_some_and(|committed| committed.uplinks.is_some()));
    Ok(())
}
