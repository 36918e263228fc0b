//! `nmstatectl service` for nodes of the lab: applies the files of `/etc/nmstate` with the nmstate
//! crate's own `apply()`, checkpoint and verification. A failing file is logged; the program still
//! succeeds.

#![allow(clippy::print_stderr, reason = "the log of a service")]

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::ExitCode,
    thread,
    time::Duration,
};

use nmstate::{NetworkPolicy, NetworkState, NmstateError};
use serde::Deserialize;
use thiserror::Error;

const FOLDER: &str = "/etc/nmstate";
/// NetworkManager may need this long to export its objects on the bus.
const PAUSE: Duration = Duration::from_secs(2);
/// Seconds until a checkpoint rolls back by itself.
const CHECKPOINT: u32 = 60;

#[derive(Debug, Error)]
enum Failure {
    #[error("read {}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("write {}", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("{} is not a configuration", path.display())]
    Configuration { path: PathBuf, source: toml::de::Error },
    #[error("neither NetworkState nor NetworkPolicy")]
    Parse { source: serde_yaml::Error },
    #[error("resolve the policy")]
    Resolve { source: NmstateError },
    #[error("apply")]
    Apply { source: NmstateError },
}

#[derive(Debug, Default, Deserialize)]
struct Configuration {
    #[serde(default)]
    service: Service,
}

#[derive(Debug, Default, Deserialize)]
struct Service {
    /// Keep each file, and its content in `.applied` beside it; otherwise rename the file to
    /// `.applied`.
    #[serde(default)]
    keep_state_file_after_apply: bool,
}

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() != Some("service") {
        eprintln!("usage: nmstatectl service");
        return ExitCode::from(2);
    }
    match service(Path::new(FOLDER)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("{}", chain(&e));
            ExitCode::FAILURE
        }
    }
}

fn service(folder: &Path) -> Result<(), Failure> {
    let keep = configuration(&folder.join("nmstate.conf"))?.service.keep_state_file_after_apply;
    let files = match pending(folder, keep) {
        Ok(files) => files,
        Err(e) => {
            eprintln!("ignored: {}", chain(&e));
            return Ok(());
        }
    };
    if files.is_empty() {
        eprintln!("nothing new in {}", folder.display());
        return Ok(());
    }
    thread::sleep(PAUSE);
    for (path, text) in files {
        match apply(&text).and_then(|()| mark(&path, &text, keep)) {
            Ok(()) => eprintln!("applied {}", path.display()),
            Err(e) => eprintln!("{} failed: {}", path.display(), chain(&e)),
        }
    }
    Ok(())
}

fn configuration(path: &Path) -> Result<Configuration, Failure> {
    if !path.exists() {
        return Ok(Configuration::default());
    }
    toml::from_str(&read(path)?)
        .map_err(|source| Failure::Configuration { path: path.to_owned(), source })
}

/// Files in name order, without those already applied with the same content.
fn pending(folder: &Path, keep: bool) -> Result<Vec<(PathBuf, String)>, Failure> {
    let failed = |source| Failure::Read { path: folder.to_owned(), source };
    let mut files = Vec::new();
    for entry in folder.read_dir().map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_none_or(|extension| extension != "yml") {
            continue;
        }
        let text = read(&path)?;
        let applied = path.with_extension("applied");
        if !(keep && applied.exists() && read(&applied)? == text) {
            files.push((path, text));
        }
    }
    files.sort();
    Ok(files)
}

fn apply(text: &str) -> Result<(), Failure> {
    // Documents pasted from a web page contain non-breaking spaces.
    let text = text.replace('\u{a0}', " ");
    let mut state = match serde_yaml::from_str::<NetworkState>(&text) {
        Ok(state) => state,
        Err(source) => {
            let policy = serde_yaml::from_str::<NetworkPolicy>(&text)
                .map_err(|_| Failure::Parse { source })?;
            NetworkState::try_from(policy).map_err(|source| Failure::Resolve { source })?
        }
    };
    state.set_verify_change(true).set_commit(true).set_timeout(CHECKPOINT);
    state.apply().map_err(|source| Failure::Apply { source })
}

fn mark(path: &Path, text: &str, keep: bool) -> Result<(), Failure> {
    let applied = path.with_extension("applied");
    let marked = if keep { fs::write(&applied, text) } else { fs::rename(path, &applied) };
    marked.map_err(|source| Failure::Write { path: applied, source })
}

fn read(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(|source| Failure::Read { path: path.to_owned(), source })
}

/// An error with its causes.
fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}
