//! Each host is written once: two hosts with the same destination and configuration are merged;
//! different configurations are an error before any file is written.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use nmgen_core::source::Host;
use nmgen_document::diagnostic::{Diagnostic, Diagnostics, rules};
use nmgen_document::mac::Mac;

use super::one_host::retain;
use crate::convert::Converted;

rules! {
    error OUTPUT_TWICE = "output-twice";
}

/// A host's destination: the role, in forms with one object per role, and the name of the file or
/// object.
pub(super) type Destination<'h> = (Option<&'h str>, Cow<'h, str>);

/// A destination, in the cluster's own output.
type InCluster<'h> = (Option<&'h str>, Destination<'h>);

/// For each host, whether it is not a repeated one. Hosts without a destination are all kept.
pub(super) fn is_kept<'h>(
    hosts: &'h [Converted],
    destination: impl Fn(&'h Converted) -> Option<Destination<'h>>,
    diagnostics: &mut Diagnostics,
) -> Vec<bool> {
    let mut first: HashMap<InCluster<'h>, &Converted> = HashMap::new();
    let mut is_kept = vec![true; hosts.len()];
    for (converted, is_kept) in hosts.iter().zip(&mut is_kept) {
        let Some(destination) = destination(converted) else { continue };
        match first.entry((converted.host.cluster.as_deref(), destination)) {
            Entry::Vacant(entry) => drop(entry.insert(converted)),
            Entry::Occupied(entry) => {
                *is_kept = false;
                if !is_same(converted, entry.get()) {
                    diagnostics.push(fault(&entry.key().1.1, &converted.host, &entry.get().host));
                }
            }
        }
    }
    is_kept
}

pub(super) fn keep(hosts: Cow<'_, [Converted]>, is_kept: Vec<bool>) -> Cow<'_, [Converted]> {
    if is_kept.iter().all(|is_kept| *is_kept) {
        return hosts;
    }
    let mut hosts = hosts.into_owned();
    retain(&mut hosts, is_kept);
    hosts.into()
}

fn is_same(one: &Converted, other: &Converted) -> bool {
    let documents = (one.host.document(), other.host.document());
    let nics = |converted: &Converted| -> Vec<(Option<String>, Mac)> {
        let nics = converted.host.nics.iter();
        nics.map(|nic| (nic.name.clone(), nic.mac_address)).collect()
    };
    matches!(documents, (Some(one), Some(other)) if one.root.means_the_same(&other.root))
        && nics(one) == nics(other)
}

fn fault(name: &str, host: &Host, first: &Host) -> Diagnostic {
    let at = first.place.shown();
    let message = match name {
        "" => format!("this document and that of {at} would be written to the same files"),
        name => format!("{name} is written from {at} already, with another document"),
    };
    Diagnostic::new(OUTPUT_TWICE, message, host.place.clone()).help(match &host.name {
        None => "name each host: put the documents into a directory, as <hostname>.yml",
        Some(_) if host.is_cluster() => "call nmgen once for each, with another -o",
        Some(_) => "leave one of the two sources out",
    })
}
