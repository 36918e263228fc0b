//! The choice of hosts; forms for a single host.

use std::collections::HashMap;
use std::collections::HashSet;

use nmgen_core::source::Host;
use nmgen_document::diagnostic::{Diagnostic, Diagnostics, Place, rules};
use nmgen_document::pattern;

use crate::convert::{Converted, Outcome};
use crate::source::Hosts;

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
        diagnostics.push(diagnostic.help("choose one with `nmgen generate --to gc --host NAME`"));
    }
}

/// The hosts to keep: all that one of the names and one of the roles fit; an empty list fits all.
#[derive(Debug, Clone, Copy)]
pub struct Selection<'a> {
    /// Names, with or without the domain; patterns of the shell.
    pub hosts: &'a [String],
    /// Roles.
    pub roles: &'a [String],
    /// The sources, for messages.
    pub sources: &'a [String],
}

impl Selection<'_> {
    /// Every host.
    pub const ALL: Self = Self { hosts: &[], roles: &[], sources: &[] };

    fn is_all(&self) -> bool {
        self.hosts.is_empty() && self.roles.is_empty()
    }

    /// Keeps the selected hosts before they are checked. The numbers of machines are for all of them.
    pub fn keep(&self, loaded: &mut Hosts) {
        if self.is_all() {
            return;
        }
        let hosts: Vec<&Host> = loaded.hosts.iter().collect();
        let is_kept = self.kept(&hosts);
        self.verify(&hosts, &mut loaded.diagnostics);
        retain(&mut loaded.hosts, is_kept);
        loaded.replicas.clear();
        // With a rendezvous host there is no bootstrap machine.
        if loaded.cluster.rendezvous.take().is_some() {
            loaded.cluster.bootstrap = None;
        }
    }

    /// Keeps the selected hosts of two sets of sources. A name or a role has to fit a host of one of them; a host that changes its
    /// role is kept with both.
    pub fn keep_of_both(&self, old: &mut Hosts, new: &mut Hosts) {
        if self.is_all() {
            return;
        }
        let before: Vec<&Host> = old.hosts.iter().collect();
        let after: Vec<&Host> = new.hosts.iter().collect();
        let (mut of_old, mut of_new) = (self.kept(&before), self.kept(&after));
        self.verify(&[before.as_slice(), &after].concat(), &mut new.diagnostics);
        let (old_names, new_names) = (names(&before, &of_old), names(&after, &of_new));
        also(&before, &mut of_old, |it| new_names.contains(it) && !old_names.contains(it));
        also(&after, &mut of_new, |it| old_names.contains(it) && !new_names.contains(it));
        retain(&mut old.hosts, of_old);
        retain(&mut new.hosts, of_new);
    }

    /// Keeps the selected hosts after all were checked.
    pub(super) fn keep_converted(&self, outcome: &mut Outcome) {
        if self.is_all() {
            return;
        }
        let hosts: Vec<&Host> = outcome.hosts.iter().map(|converted| &converted.host).collect();
        let is_kept = self.kept(&hosts);
        self.verify(&hosts, &mut outcome.diagnostics);
        retain(&mut outcome.hosts, is_kept);
    }

    /// Which hosts are kept.
    fn kept(&self, hosts: &[&Host]) -> Vec<bool> {
        // One source may give the role and another the document.
        let mut roles: HashMap<Option<&str>, &str> = HashMap::new();
        for host in hosts {
            if let Some(role) = &host.role {
                roles.insert(host.short_name(), role);
            }
        }
        let is_kept = |host: &&Host| {
            let has_name = self.hosts.is_empty() || self.hosts.iter().any(|name| fits(host, name));
            let role = host.role.as_deref().or_else(|| roles.get(&host.short_name()).copied());
            let is_role = |wanted: &String| role == Some(wanted.as_str());
            has_name && (self.roles.is_empty() || self.roles.iter().any(is_role))
        };
        hosts.iter().map(is_kept).collect()
    }

    /// An error for each name and role that fits no host.
    fn verify(&self, hosts: &[&Host], diagnostics: &mut Diagnostics) {
        for name in self.hosts.iter().filter(|name| !hosts.iter().any(|host| fits(host, name))) {
            self.report(format!("there is no host {name}"), hosts, diagnostics);
        }
        let is_used = |role: &String| hosts.iter().any(|host| host.role.as_ref() == Some(role));
        for name in self.roles.iter().filter(|name| !is_used(name)) {
            self.report(format!("there is no host of role {name}"), hosts, diagnostics);
        }
    }

    fn report(&self, message: String, hosts: &[&Host], diagnostics: &mut Diagnostics) {
        let diagnostic =
            Diagnostic::new(NO_SUCH_HOST, message, Place::file(self.sources.join(" ")));
        diagnostics.push(diagnostic.help(those_there(hosts)));
    }
}

fn retain<T>(list: &mut Vec<T>, is_kept: Vec<bool>) {
    let mut is_kept = is_kept.into_iter();
    list.retain(|_| is_kept.next().unwrap_or_default());
}

/// The names of the kept hosts.
fn names<'h>(hosts: &[&'h Host], is_kept: &[bool]) -> HashSet<&'h str> {
    let kept = hosts.iter().zip(is_kept).filter(|(_, is_kept)| **is_kept);
    kept.filter_map(|(host, _)| host.short_name()).collect()
}

/// Keeps the hosts of these names too.
fn also(hosts: &[&Host], is_kept: &mut [bool], wanted: impl Fn(&str) -> bool) {
    for (host, is_kept) in hosts.iter().zip(is_kept) {
        *is_kept |= host.short_name().is_some_and(&wanted);
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
    let is_it = |name: Option<&str>| name.is_some_and(|name| pattern::fits(pattern, name));
    is_it(host.name.as_deref()) || is_it(host.short_name())
}
