//! A hosts directory: `<hostname>.yml` for each node, `cluster.yml` for all others.

use nmgen_core::node::short_host_name;
use nmgen_core::source::Host;
use nmgen_document::diagnostic::{Diagnostic, Diagnostics, Place, rules};

rules! {
    warning HOST_FILE_FQDN = "host-file-fqdn";
    warning HOST_FILE_EXTENSION = "host-file-extension";
    pub(super) warning HOST_FILE_EMPTY = "host-file-empty";
    pub(crate) error HOST_FILE_NAME = "host-file-name";
    pub(super) error NO_HOSTS = "no-hosts";
}

/// The form of a host's name.
pub(crate) const NAME_HELP: &str = "letters, digits and hyphens (RFC 1123), at most 200 bytes";
/// `NAME_MAX` without the suffixes of files and objects named after a host.
const MAX_NAME_LENGTH: usize = 200;

/// Message and help for a file without a document.
pub(super) const EMPTY: (&str, &str) =
    ("the file is empty", "a node skips an empty host file and takes cluster.yml");

/// The host's name from the file's name. Faults are reported.
pub(super) fn accepted_name<'n>(
    file: &str,
    file_name: &'n str,
    diagnostics: &mut Diagnostics,
) -> Option<&'n str> {
    let (name, faults) = host_name(file_name, &Place::file(file));
    diagnostics.extend(faults);
    name
}

/// Reports a directory without hosts, unless an error does so; `before` is the number of diagnostics of other sources.
pub(super) fn without_hosts(path: &str, before: usize, diagnostics: &mut Diagnostics) {
    if !diagnostics[before..].iter().any(Diagnostic::is_error) {
        let help = "name a node's document <hostname>.yml, or cluster.yml for all nodes";
        diagnostics.add(NO_HOSTS, Place::file(path), "no host in this directory", help);
    }
}

/// Reports a host's document that nodes do not look for.
pub(super) fn ignored(file_name: &str, host: &str, place: Place) -> Diagnostic {
    let message = format!("{file_name} is ignored: nodes look for {host}.yml");
    Diagnostic::new(HOST_FILE_EXTENSION, message, place).help("rename it to end in .yml")
}

/// The host's name from the file's name, and faults of the file's name.
pub(super) fn host_name<'n>(file_name: &'n str, place: &Place) -> (Option<&'n str>, Diagnostics) {
    if file_name.starts_with('.') {
        return (None, Diagnostics::default());
    }
    let fault = |rule, message: String, help| {
        Diagnostics::from(Diagnostic::new(rule, message, place.clone()).help(help))
    };
    if let Some(stem) = file_name.strip_suffix(".yaml") {
        return (None, Diagnostics::from(ignored(file_name, stem, place.clone())));
    }
    let Some(name) = file_name.strip_suffix(".yml") else { return (None, Diagnostics::default()) };
    if !is_usable_name(name) {
        let message = format!("\"{}\" is not a host name", name.escape_debug());
        return (None, fault(HOST_FILE_NAME, message, NAME_HELP));
    }
    let Some((short, _)) = name.split_once('.') else {
        return (Some(name), Diagnostics::default());
    };
    let message = format!("{name}.yml names a host by its FQDN; nodes look for {short}.yml only");
    (Some(name), fault(HOST_FILE_FQDN, message, "name the file by the short host name"))
}

/// True for a safe, visible file name, in sources and in output. Some host names in use satisfy no stricter rule.
pub(crate) fn is_usable_name(name: &str) -> bool {
    (1..=MAX_NAME_LENGTH).contains(&name.len())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_'))
        && !name.starts_with('.')
}

/// The source's name of the host, else the short form of the document's host name.
pub(crate) fn own_name(host: &Host) -> Option<&str> {
    let hostname = || host.document()?.root.at(&["hostname", "config"])?.text();
    let short = || hostname().map(short_host_name).filter(|name| is_usable_name(name));
    host.name.as_deref().or_else(short)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longest_name_has_200_bytes() {
        let place = Place::file("hosts");
        let longest = "a".repeat(200);
        let (name, faults) = (format!("{longest}.yml"), format!("{longest}a.yml"));
        assert_eq!(host_name(&name, &place).0, Some(&*longest));
        let (name, faults) = host_name(&faults, &place);
        assert_eq!((name, faults.iter().filter(|fault| fault.is_error()).count()), (None, 1));
    }
}
