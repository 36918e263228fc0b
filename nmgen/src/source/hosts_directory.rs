//! A hosts directory: `<hostname>.yml` for each node, `cluster.yml` for those without.

use std::path::Path;

use super::{
    HOST_FILE_EMPTY, HOST_FILE_EXTENSION, HOST_FILE_FQDN, HOST_FILE_NAME, Host, Hosts, NO_HOSTS,
    read,
};
use crate::diagnostic::{Diagnostic, Place, Rule};
use crate::error::Error;

pub(super) fn load(directory: &str) -> Result<Hosts, Error> {
    let mut loaded = Hosts::default();
    for file_name in file_names(directory)? {
        let path = Path::new(directory).join(&file_name);
        let shown = path.display().to_string();
        if let Some((rule, message, help)) = refusal(&file_name) {
            loaded
                .diagnostics
                .push(Diagnostic::new(rule, message, Place::file(&*shown)).help(help));
            continue;
        }
        let Some(name) = file_name.strip_suffix(".yml") else { continue };
        if name.contains('.') {
            loaded.diagnostics.push(fqdn(name, &shown));
        }
        let Some(source) = read::file(&shown, &mut loaded.diagnostics)? else { continue };
        if source.text.trim().is_empty() {
            loaded.diagnostics.push(
                Diagnostic::new(HOST_FILE_EMPTY, "the file is empty", Place::file(&*shown))
                    .help("a node skips an empty host file and takes cluster.yml"),
            );
            continue;
        }
        loaded.add(Host::new(Some(name.to_owned()), &source));
    }
    let refused = loaded.diagnostics.iter().any(Diagnostic::is_error);
    if loaded.hosts.is_empty() && !refused {
        loaded.diagnostics.push(
            Diagnostic::new(NO_HOSTS, "no host in this directory", Place::file(directory))
                .help("name a node's document <hostname>.yml, or cluster.yml for all nodes"),
        );
    }
    Ok(loaded)
}

/// Sorted, so that the result doesn't depend on the order in which the file system keeps entries.
fn file_names(directory: &str) -> Result<Vec<String>, Error> {
    let failed = |source| Error::ReadDirectory { path: directory.to_owned(), source };
    let mut names = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if entry.path().is_file() {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort_unstable();
    Ok(names)
}

/// Why a file isn't a host's document although it looks like one.
fn refusal(file_name: &str) -> Option<(Rule, String, &'static str)> {
    if file_name.starts_with('.') {
        return None;
    }
    if let Some(stem) = file_name.strip_suffix(".yaml") {
        return Some((
            HOST_FILE_EXTENSION,
            format!("{file_name} is ignored: nodes look for {stem}.yml"),
            "rename it to end in .yml",
        ));
    }
    let stem = file_name.strip_suffix(".yml")?;
    let usable = stem.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_'))
        && !stem.is_empty();
    (!usable).then(|| {
        (
            HOST_FILE_NAME,
            format!("\"{}\" is not a host name", stem.escape_debug()),
            "letters, digits and hyphens (RFC 1123)",
        )
    })
}

fn fqdn(name: &str, shown: &str) -> Diagnostic {
    let short = name.split('.').next().unwrap_or(name);
    Diagnostic::new(
        HOST_FILE_FQDN,
        format!("{name}.yml names a host by its FQDN; today's tools look for {short}.yml only"),
        Place::file(shown),
    )
    .help("name the file by the short host name")
}
