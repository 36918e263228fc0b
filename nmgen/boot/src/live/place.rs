//! Writes the profiles into the running system, in place of those that would take their interfaces.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use nmgen_core::write::{self, File};

use super::ready::Ready;
use crate::fault::Fault;
use crate::files;
use crate::kernel_log::{Level, Log};
use crate::root::{ETC_PROFILES, Paths};
use crate::write::others::{self, Other};

/// The file names of an earlier run: a changed configuration replaces them.
const RECORD: &str = "/run/nmgen-live/profiles";

/// Writes everything; others' profiles are removed last, since they are the network until then.
pub(super) fn write(paths: &Paths, ready: &Ready, log: &Log) -> Result<(), Fault> {
    let former = record(paths)?;
    let directory = paths.under(ETC_PROFILES);
    files::parents(&directory)?;
    let file = |name: &str, content: &str| File {
        directories: Vec::new(),
        name: name.to_owned(),
        content: content.as_bytes().to_vec(),
    };
    let files: Vec<File> =
        ready.profiles.iter().map(|profile| file(&profile.file_name, &profile.text)).collect();
    // Before the profiles: after a failure the next run knows what may be there.
    let ours: BTreeSet<&str> =
        ready.profiles.iter().map(|profile| profile.file_name.as_str()).collect();
    let all: BTreeSet<&str> = ours.iter().copied().chain(former.lines()).collect();
    keep_record(paths, &all)?;
    write::write(&directory, &files).map_err(Fault::Machine)?;
    for link in ready.files.iter().filter(|file| file.path.ends_with(".link")) {
        files::readable(&paths.under(&link.path), link.content.clone().into_bytes())?;
    }
    for path in displaced(&directory, ready, &ours, &former)? {
        fs::remove_file(&path).map_err(|source| Fault::Remove { path: path.clone(), source })?;
        let text = format!("{} gives way to this machine's configuration", path.display());
        log.say(Level::Info, &text);
    }
    keep_record(paths, &ours)
}

/// Others' profiles that would take an interface of these, the generator's, and those of an earlier
/// run.
fn displaced(
    directory: &Path,
    ready: &Ready,
    ours: &BTreeSet<&str>,
    former: &str,
) -> Result<Vec<PathBuf>, Fault> {
    let others = others::list(directory);
    let others =
        others.map_err(|source| Fault::ReadProfiles { path: directory.to_owned(), source })?;
    let is_displaced = |other: &Other| {
        let name = other.path.file_name().unwrap_or_default().to_string_lossy();
        let is_former = former.lines().any(|line| line == name);
        !ours.contains(&*name) && (other.is_generated() || is_former || conflicts(other, ready))
    };
    Ok(others.into_iter().filter(is_displaced).map(|other| other.path).collect())
}

/// True for a profile with a uuid, an interface or a card of these.
fn conflicts(other: &Other, ready: &Ready) -> bool {
    let is_ours = |key: &str, value: Option<&str>| {
        let mut profiles = ready.profiles.iter();
        value.is_some() && profiles.any(|profile| profile.keyfile.get("connection", key) == value)
    };
    is_ours("uuid", other.uuid())
        || is_ours("interface-name", other.interface())
        || other.mac().is_some_and(|mac| ready.cards.iter().any(|card| card.mac == mac))
}

fn record(paths: &Paths) -> Result<String, Fault> {
    Ok(files::text(&paths.under(RECORD))?.unwrap_or_default())
}

fn keep_record(paths: &Paths, names: &BTreeSet<&str>) -> Result<(), Fault> {
    let text: String = names.iter().map(|name| format!("{name}\n")).collect();
    files::private(&paths.under(RECORD), text.into_bytes())
}
