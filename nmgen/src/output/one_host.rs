//! Forms and options for a single host.

use crate::convert::{Converted, Outcome};
use crate::diagnostic::{Diagnostic, Diagnostics, Place, rules};

rules! {
    error NO_SUCH_HOST = "no-such-host";
    error ONE_HOST_ONLY = "one-host-only";
}

/// Reports an error if there are several hosts.
pub(super) fn verify(form: &str, hosts: &[Converted], diagnostics: &mut Diagnostics) {
    if let [_, second, ..] = hosts {
        let message = format!("{form} describes one host; the sources have {}", hosts.len());
        let place = Place::file(second.host.place.file.clone());
        let diagnostic = Diagnostic::new(ONE_HOST_ONLY, message, place);
        diagnostics.push(diagnostic.help("choose one with --host NAME"));
    }
}

/// Keeps only this host; an error if it is missing. `sources` names the sources in the message.
pub(crate) fn keep(outcome: &mut Outcome, host: &str, sources: &str) {
    let is_it = |converted: &Converted| converted.host.name.as_deref() == Some(host);
    if !outcome.hosts.iter().any(is_it) {
        let message = format!("there is no host {host}");
        let diagnostic = Diagnostic::new(NO_SUCH_HOST, message, Place::file(sources));
        outcome.diagnostics.push(diagnostic.help(those_there(&outcome.hosts)));
    }
    outcome.hosts.retain(is_it);
}

/// The names of the first hosts.
fn those_there(hosts: &[Converted]) -> String {
    const FEW: usize = 5;
    let names: Vec<&str> = hosts.iter().filter_map(|host| host.host.name.as_deref()).collect();
    match names.get(FEW..) {
        _ if names.is_empty() => "no host here has a name; leave --host out".to_owned(),
        Some([_, ..]) => format!("the sources have {} and others", names[..FEW].join(", ")),
        _ => format!("the sources have {}", names.join(", ")),
    }
}
