//! The hosts of several clusters, each cluster in a directory of its own: they may have hosts of one name.

use std::collections::HashSet;

use nmgen_core::write::File;
use nmgen_document::diagnostic::{Diagnostic, Diagnostics, Place, rules};
use nmgen_document::error::Error;

use super::rendered::Output;
use crate::convert::Converted;
use crate::source::is_usable_name;

rules! {
    error ONE_CLUSTER_ONLY = "one-cluster-only";
}

/// The clusters in the order of their first hosts.
pub(super) fn clusters(hosts: &[Converted]) -> Vec<Option<&str>> {
    let mut seen = HashSet::new();
    let all = hosts.iter().map(|converted| converted.host.cluster.as_deref());
    all.filter(|cluster| seen.insert(*cluster)).collect()
}

/// A form that has no place for two clusters.
pub(super) fn refuse(form: &str, clusters: &[Option<&str>], hosts: &[Converted]) -> Diagnostic {
    let of_second = hosts.iter().find(|host| host.host.cluster.as_deref() == clusters[1]);
    let place = of_second.map_or_else(|| Place::file(""), |converted| converted.host.place.clone());
    let names: Vec<&str> = clusters.iter().flatten().copied().collect();
    let message =
        format!("{form} holds one cluster; the sources have {}", names.join(", ").escape_debug());
    Diagnostic::new(ONE_CLUSTER_ONLY, message, Place::file(place.file))
        .help("choose one with --cluster NAME")
}

/// Renders each cluster; `name` is that of a form's only file.
pub(super) fn render(
    hosts: &[Converted],
    clusters: &[Option<&str>],
    mut one: impl FnMut(&[Converted], &mut Diagnostics) -> Result<Output, Error>,
    name: impl Fn(&[Converted]) -> String,
    diagnostics: &mut Diagnostics,
) -> Result<Output, Error> {
    let mut files = Vec::new();
    let mut taken = HashSet::new();
    for cluster in clusters {
        let of_cluster = |converted: &&Converted| converted.host.cluster.as_deref() == *cluster;
        let own: Vec<Converted> = hosts.iter().filter(of_cluster).cloned().collect();
        let rendered = match one(&own, diagnostics)? {
            Output::Directory(files) => files,
            Output::Named(file) => vec![file],
            Output::File(content) => {
                vec![File { directories: Vec::new(), name: name(&own), content }]
            }
        };
        let mut path = directories(cluster.unwrap_or_default());
        while !taken.insert(path.clone()) {
            path.push("other".to_owned());
        }
        files.extend(
            rendered.into_iter().map(|file| File {
                directories: [path.clone(), file.directories].concat(),
                ..file
            }),
        );
    }
    Ok(Output::Directory(files))
}

/// Directories of usable names, for a name that may be a path.
fn directories(name: &str) -> Vec<String> {
    let part = |part: &str| -> String {
        let usable = |c: char| if c.is_ascii_alphanumeric() || "-._".contains(c) { c } else { '-' };
        let part: String = part.chars().map(usable).take(200).collect();
        if is_usable_name(&part) { part } else { format!("cluster{}", part.replace('.', "-")) }
    };
    name.split('/').filter(|part| !part.is_empty() && *part != ".").map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::directories;

    #[test]
    fn a_directory_never_leads_elsewhere() {
        assert_eq!(directories("site-a"), ["site-a"]);
        assert_eq!(directories("./sites/a"), ["sites", "a"]);
        assert_eq!(directories("a of sites/b"), ["a-of-sites", "b"]);
        assert_eq!(directories("../b"), ["cluster--", "b"]);
        assert_eq!(directories("/etc"), ["etc"]);
    }
}
