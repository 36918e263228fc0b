//! The choice of hosts; forms for a single host.

use std::collections::HashMap;

use crate::convert::{Converted, Outcome};
use crate::diagnostic::{Diagnostic, Diagnostics, Place, rules};
use crate::source::{Host, Hosts};

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

/// The hosts to keep: all that one of the names and one of the roles fit; an empty list fits all.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Selection<'a> {
    /// Names, with or without the domain; `*` and `?` as in a shell.
    pub(crate) hosts: &'a [String],
    /// Roles.
    pub(crate) roles: &'a [String],
    /// The sources, for messages.
    pub(crate) sources: &'a [String],
}

impl Selection<'_> {
    fn is_all(&self) -> bool {
        self.hosts.is_empty() && self.roles.is_empty()
    }

    /// Keeps the selected hosts before they are checked. The numbers of machines are for all of them.
    pub(crate) fn keep(&self, loaded: &mut Hosts) {
        if self.is_all() {
            return;
        }
        let is_kept = self.kept(loaded.hosts.iter(), &mut loaded.diagnostics);
        let mut is_kept = is_kept.into_iter();
        loaded.hosts.retain(|_| is_kept.next().unwrap_or_default());
        loaded.replicas.clear();
        // With a rendezvous host there is no bootstrap machine.
        if loaded.cluster.rendezvous.take().is_some() {
            loaded.cluster.bootstrap = None;
        }
    }

    /// Keeps the selected hosts after all were checked.
    pub(crate) fn keep_converted(&self, outcome: &mut Outcome) {
        if self.is_all() {
            return;
        }
        let hosts = outcome.hosts.iter().map(|converted| &converted.host);
        let is_kept = self.kept(hosts, &mut outcome.diagnostics);
        let mut is_kept = is_kept.into_iter();
        outcome.hosts.retain(|_| is_kept.next().unwrap_or_default());
    }

    /// Which hosts are kept; an error for each name and role that fits none.
    fn kept<'h>(
        &self,
        hosts: impl Iterator<Item = &'h Host>,
        diagnostics: &mut Diagnostics,
    ) -> Vec<bool> {
        let hosts: Vec<&'h Host> = hosts.collect();
        // One source may give the role and another the document.
        let mut roles: HashMap<Option<&str>, &str> = HashMap::new();
        for host in &hosts {
            if let Some(role) = &host.role {
                roles.insert(host.short_name(), role);
            }
        }
        let role = |host: &'h Host| {
            host.role.as_deref().or_else(|| roles.get(&host.short_name()).copied())
        };
        for name in self.hosts.iter().filter(|name| !hosts.iter().any(|host| fits(host, name))) {
            let message = format!("there is no host {name}");
            self.report(message, &hosts, diagnostics);
        }
        let is_used =
            |wanted: &String| hosts.iter().any(|host| role(host) == Some(wanted.as_str()));
        for name in self.roles.iter().filter(|name| !is_used(name)) {
            let message = format!("there is no host of role {name}");
            self.report(message, &hosts, diagnostics);
        }
        let is_kept = |host: &&'h Host| {
            let has_name = self.hosts.is_empty() || self.hosts.iter().any(|name| fits(host, name));
            let is_role = |wanted: &String| role(host) == Some(wanted.as_str());
            has_name && (self.roles.is_empty() || self.roles.iter().any(is_role))
        };
        hosts.iter().map(is_kept).collect()
    }

    fn report(&self, message: String, hosts: &[&Host], diagnostics: &mut Diagnostics) {
        let diagnostic =
            Diagnostic::new(NO_SUCH_HOST, message, Place::file(self.sources.join(" ")));
        diagnostics.push(diagnostic.help(those_there(hosts)));
    }
}

/// The names of the first hosts.
fn those_there(hosts: &[&Host]) -> String {
    const FEW: usize = 5;
    let names: Vec<&str> = hosts.iter().filter_map(|host| host.name.as_deref()).collect();
    match names.get(FEW..) {
        _ if names.is_empty() => "no host here has a name; leave --host out".to_owned(),
        Some([_, ..]) => format!("the sources have {} and others", names[..FEW].join(", ")),
        _ => format!("the sources have {}", names.join(", ")),
    }
}

fn fits(host: &Host, pattern: &str) -> bool {
    let is_it = |name: Option<&str>| name.is_some_and(|name| matches(pattern, name));
    is_it(host.name.as_deref()) || is_it(host.short_name())
}

/// `*` is any text, `?` any character.
fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), name.chars().collect());
    // The characters of the name that the pattern so far can end before.
    let mut ends = vec![false; name.len() + 1];
    ends[0] = true;
    for wanted in pattern {
        let mut next = vec![false; name.len() + 1];
        for at in 0..=name.len() {
            next[at] = match wanted {
                '*' => ends[at] || (at > 0 && next[at - 1]),
                '?' => at > 0 && ends[at - 1],
                wanted => at > 0 && ends[at - 1] && name[at - 1] == wanted,
            };
        }
        ends = next;
    }
    ends[name.len()]
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_pattern_fits_as_in_a_shell() {
        for (pattern, name, expected) in [
            ("worker-*", "worker-0", true),
            ("worker-*", "worker-", true),
            ("worker-?", "worker-10", false),
            ("*-0", "master-0", true),
            ("*", "", true),
            ("w*r-*0", "worker-10", true),
            ("worker-0", "worker-01", false),
            ("", "worker-0", false),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }
}
