//! Name servers and routes of the kernel command line: nm-initrd-generator puts `nameserver=` into each of its profiles, and
//! `rd.route=` without an interface into the default one. They must not go unnoticed with the profile that they are in.

use std::collections::BTreeSet;

use nmgen_core::profile::Profile;

use crate::kernel_log::{Level, Log};
use crate::write::others::Other;

const FAMILIES: [&str; 2] = ["ipv4", "ipv6"];

/// Gives the initramfs's profiles the name servers of the displaced ones if the document has none; says what is not carried over.
pub(crate) fn carry_over(early: &mut [Profile], displaced: &[&Other], log: &Log) {
    let has_own = early.iter().any(|profile| {
        FAMILIES.iter().any(|family| {
            profile.keyfile.get(family, "dns").is_some_and(|servers| !servers.is_empty())
        })
    });
    let mut carried = BTreeSet::new();
    for family in FAMILIES {
        let servers: BTreeSet<&str> = displaced
            .iter()
            .filter(|other| other.is_generated())
            .filter_map(|other| other.keyfile.get(family, "dns"))
            .flat_map(|servers| servers.split([';', ',']))
            .map(str::trim)
            .filter(|server| !server.is_empty())
            .collect();
        if has_own || servers.is_empty() {
            continue;
        }
        let list: String = servers.iter().map(|server| format!("{server};")).collect();
        for profile in early.iter_mut() {
            if matches!(profile.keyfile.get(family, "method"), Some("auto" | "manual" | "dhcp")) {
                profile.keyfile.set(family, "dns", &list);
                carried.extend(servers.iter().copied());
            }
        }
    }
    if !carried.is_empty() {
        let text = format!(
            "the document has no name server: the initramfs has {} of nameserver=",
            carried.into_iter().collect::<Vec<_>>().join(", ")
        );
        log.say(Level::Warning, &text);
    }
    let mut routes = BTreeSet::new();
    for other in displaced.iter().filter(|other| other.is_generated()) {
        let sections = FAMILIES.iter().filter_map(|family| other.keyfile.section(family));
        let is_route = |key: &str| {
            key.strip_prefix("route").is_some_and(|number| number.parse::<u32>().is_ok())
        };
        let entries = sections.flat_map(|section| &section.entries);
        routes.extend(entries.filter(|(key, _)| is_route(key)).map(|(_, value)| value.as_str()));
    }
    if !routes.is_empty() {
        let text = format!(
            "rd.route= goes with the profiles that give way: {}",
            routes.into_iter().collect::<Vec<_>>().join("; ")
        );
        log.say(Level::Warning, &text);
    }
}
