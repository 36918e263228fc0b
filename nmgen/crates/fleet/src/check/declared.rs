//! Whether each host has exactly one document.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::path::Path;

use nmgen_core::node::short_host_name;
use nmgen_core::source::{HostNetwork, Stage};
use nmgen_document::diagnostic::{Diagnostic, Diagnostics, Place, rules};
use nmgen_document::spelling;

use super::member::Member;

rules! {
    pub(super) error HOST_TWICE = "host-twice";
    warning HOST_WITHOUT_DOCUMENT = "host-without-document";
    warning DOCUMENT_WITHOUT_HOST = "document-without-host";
}

/// Bounds the search for a misspelt name: a fleet may have many.
const MAX_GUESSES: usize = 100;

pub(super) fn check(members: &[Member<'_>], diagnostics: &mut Diagnostics) {
    twice(members, diagnostics);
    declared_twice(members, diagnostics);
    let with_document: HashSet<&str> = members
        .iter()
        .filter(|member| member.host.document().is_some())
        .filter_map(Member::name)
        .collect();
    let machines: HashSet<&str> =
        members.iter().filter(|member| is_machine(member)).filter_map(Member::name).collect();
    let mut without: Vec<&str> = machines.difference(&with_document).copied().collect();
    without.sort_unstable();
    without.truncate(MAX_GUESSES);
    for member in members {
        let Some(name) = member.name() else { continue };
        let is_without = member.host.network == HostNetwork::Missing;
        // Hosts of which none has a document have DHCP, and need none.
        if is_without && !with_document.is_empty() && !with_document.contains(name) {
            let message = format!("{name} has no network configuration in these sources");
            let help = "without one it uses DHCP on every NIC";
            diagnostics.add(HOST_WITHOUT_DOCUMENT, member.host.place.clone(), message, help);
        }
        if member.host.document().is_some() && !machines.is_empty() && !machines.contains(name) {
            let help = match without.iter().find(|other| spelling::is_alike(name, other)) {
                Some(meant) => format!("did you mean {meant}, which has no document?"),
                // A policy may be for a node that the cluster has already.
                None if member.host.policy.is_some() => continue,
                None => "is the name misspelt?".to_owned(),
            };
            let message = format!("this document is for host {name}, which no source declares");
            diagnostics.add(DOCUMENT_WITHOUT_HOST, member.host.place.clone(), message, help);
        }
    }
}

/// True for a host declared as a machine or with NICs, not by a document alone.
fn is_machine(member: &Member<'_>) -> bool {
    let host = member.host;
    host.is_machine || host.stage == Stage::Early && !host.nics.is_empty()
}

/// A host may have one document per stage, early and running node, and policies of different names. The same document in
/// another file is accepted.
fn twice(members: &[Member<'_>], diagnostics: &mut Diagnostics) {
    let mut first = HashMap::new();
    for member in members.iter().filter(|member| member.host.document().is_some()) {
        if let Some(name) = member.name() {
            let key = (name, member.host.stage, member.host.policy.as_deref());
            compare(key, member, &mut first, name, diagnostics);
        }
    }
}

/// A file declares a machine once. Hosts with documents are compared above.
fn declared_twice(members: &[Member<'_>], diagnostics: &mut Diagnostics) {
    let mut first: HashMap<(&str, &str), &Member<'_>> = HashMap::new();
    for member in members.iter().filter(|member| member.host.is_machine) {
        let Some(name) = member.name() else { continue };
        let other = *first.entry((name, &member.host.place.file)).or_insert(member);
        let has_documents = member.host.document().is_some() && other.host.document().is_some();
        if !std::ptr::eq(other, member) && !has_documents {
            let message = format!("{name} is repeated; first at {}", other.host.place.shown());
            diagnostics.push(Diagnostic::new(HOST_TWICE, message, member.host.place.clone()));
        }
    }
}

struct HostName<'h> {
    text: &'h str,
    place: Place,
    /// The host's name by its source, or that of its file.
    of: &'h str,
    member: Member<'h>,
}

/// Two nodes with one host name are one Node to Kubernetes. The name is in the document, which may be a copy of another host's.
pub(super) fn named_twice(members: &[Member<'_>], diagnostics: &mut Diagnostics) {
    let mut first: HashMap<&str, HostName<'_>> = HashMap::new();
    for name in members.iter().filter_map(host_name) {
        let Some(other) = first.get(name.text) else {
            first.insert(name.text, name);
            continue;
        };
        if !are_two(&name, other) {
            continue;
        }
        // The copy's file has another name.
        let short = short_host_name(name.text);
        let (copy, original) =
            if name.of == short && other.of != short { (other, &name) } else { (&name, other) };
        let message = format!(
            "{} is also the host name of {} ({})",
            copy.text.escape_debug(),
            original.of.escape_debug(),
            original.place.shown()
        );
        diagnostics.push(Diagnostic::new(HOST_TWICE, message, copy.place.clone()));
    }
}

fn host_name<'h>(member: &Member<'h>) -> Option<HostName<'h>> {
    let HostNetwork::Written(document) = &member.host.network else { return None };
    let node = document.root.at(&["hostname", "config"])?;
    let of = member.name().or_else(|| Path::new(&*member.host.place.file).file_stem()?.to_str())?;
    Some(HostName { text: node.text()?, place: document.place(node.span), of, member: *member })
}

/// True for documents of two hosts. A file that is given by itself may be another version of a host's document, unless its name has
/// another number.
fn are_two(one: &HostName<'_>, other: &HostName<'_>) -> bool {
    let plain = |name: &str| name.replace(|character: char| character.is_ascii_digit(), "");
    match (one.member.name(), other.member.name()) {
        // An installer's host may have another name than the node.
        _ if one.member.host.stage != other.member.host.stage => false,
        (Some(one), Some(other)) => one != other,
        _ => one.of != other.of && plain(one.of) == plain(other.of),
    }
}

/// Each role has one document for all its nodes. Two sources without a role may serve different ones.
pub(super) fn cluster_twice(members: &[Member<'_>], diagnostics: &mut Diagnostics) {
    let mut first = HashMap::new();
    for member in members {
        if let Some(role) = member.host.role.as_deref() {
            let what = format!("cluster.yml of role {role}");
            compare(role, member, &mut first, &what, diagnostics);
        }
    }
}

fn compare<'m, K: Eq + Hash>(
    key: K,
    member: &'m Member<'m>,
    first: &mut HashMap<K, &'m Member<'m>>,
    what: &str,
    diagnostics: &mut Diagnostics,
) {
    let other = *first.entry(key).or_insert(member);
    if std::ptr::eq(other, member) {
        return;
    }
    let is_same_file = other.host.place.file == member.host.place.file;
    if is_same_file || !has_same_document(member, other) {
        let again = if is_same_file { "" } else { " with another document" };
        let message = format!("{what} is repeated{again}; first at {}", other.host.place.shown());
        diagnostics.push(Diagnostic::new(HOST_TWICE, message, member.host.place.clone()));
    }
}

fn has_same_document(one: &Member<'_>, other: &Member<'_>) -> bool {
    match (one.host.document(), other.host.document()) {
        (Some(one), Some(other)) => one.root.means_the_same(&other.root),
        (None, _) | (_, None) => true,
    }
}
