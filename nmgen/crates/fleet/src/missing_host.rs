//! A host that the caller names and no source has.

use nmgen_core::source::Host;
use nmgen_document::diagnostic::{Diagnostic, Place, rules};

rules! {
    error NO_SUCH_HOST = "no-such-host";
}

/// An error about a name that no host has; the remedy is for hosts without names.
pub(crate) fn no_such_host(
    message: String,
    hosts: &[&Host],
    sources: &[String],
    remedy: &str,
) -> Diagnostic {
    let place = Place::file(sources.join(" "));
    Diagnostic::new(NO_SUCH_HOST, message, place).help(names_of(hosts, remedy))
}

fn names_of(hosts: &[&Host], remedy: &str) -> String {
    let names: Vec<&str> = hosts.iter().filter_map(|host| host.name.as_deref()).collect();
    match names.is_empty() {
        true => format!("no host here has a name; {remedy}"),
        false => few(&names),
    }
}

pub(crate) fn few(names: &[&str]) -> String {
    const FEW: usize = 5;
    match names.get(FEW..) {
        Some([_, ..]) => format!("the sources have {} and others", names[..FEW].join(", ")),
        _ => format!("the sources have {}", names.join(", ")),
    }
}
