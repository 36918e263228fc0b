//! NetworkManager's own parser reads every keyfile without losing or changing a value.

use std::collections::BTreeSet;
use std::process::{Command, Output};

use nmgen::profile::Profile;
use tests::keyfile::{self, Sections};
use tests::{
    documents,
    program::{self, Exits as _},
    skip,
};

/// Keys that NetworkManager omits when it writes a profile, because the value is the default.
const DEFAULTS: &[(&str, &str, &str)] = &[
    ("bond-port", "queue-id", "0"),
    ("bridge", "ageing-time", "300"),
    ("bridge", "forward-delay", "15"),
    ("bridge", "group-forward-mask", "0"),
    ("bridge", "hello-time", "2"),
    ("bridge", "max-age", "20"),
    ("bridge", "multicast-snooping", "true"),
    ("bridge", "priority", "32768"),
    ("bridge", "stp", "true"),
    ("bridge", "vlan-filtering", "false"),
    ("bridge-port", "hairpin-mode", "false"),
    ("bridge-port", "path-cost", "100"),
    ("bridge-port", "priority", "32"),
    ("connection", "autoconnect", "true"),
    ("connection", "autoconnect-slaves", "-1"),
    ("ethernet", "auto-negotiate", "false"),
    ("ipv4", "dhcp-send-hostname", "true"),
    ("ipv4", "ignore-auto-dns", "false"),
    ("ipv4", "ignore-auto-routes", "false"),
    ("ipv4", "may-fail", "true"),
    ("ipv4", "never-default", "false"),
    ("ipv6", "dhcp-send-hostname", "true"),
    ("ipv6", "ignore-auto-dns", "false"),
    ("ipv6", "ignore-auto-routes", "false"),
    ("ipv6", "may-fail", "true"),
    ("ipv6", "never-default", "false"),
    ("macsec", "encrypt", "true"),
    ("macsec", "port", "1"),
    ("macsec", "send-sci", "true"),
    ("macsec", "validation", "2"),
    ("macvlan", "promiscuous", "true"),
    ("macvlan", "tap", "false"),
    ("ovs-bridge", "mcast-snooping-enable", "false"),
    ("ovs-bridge", "rstp-enable", "false"),
    ("ovs-bridge", "stp-enable", "false"),
];

/// Keys of later versions of NetworkManager, with the version (its NEWS file and libnm.ver); earlier ones drop them.
const SINCE: &[(&str, &str, Version)] = &[
    ("bond", "arp_missed_max", (1, 44)),
    ("bond", "lacp_active", (1, 44)),
    ("bond", "ns_ip6_target", (1, 44)),
    ("bond-port", "prio", (1, 44)),
    ("ethtool", "fec-mode", (1, 52)),
    ("ipv4", "forwarding", (1, 54)),
    ("macsec", "offload", (1, 46)),
    ("ovs-dpdk", "lsc-interrupt", (1, 54)),
];

/// Types of later versions.
const TYPES_SINCE: &[(&str, Version)] = &[("hsr", (1, 46)), ("ipvlan", (1, 52))];

/// Types whose profiles NetworkManager refuses because nmstate omits a mandatory section: nmgen reports an error and writes
/// nothing.
const REFUSED: &[&str] = &["hsr", "ip-tunnel", "ipvlan"];

type Version = (u32, u32);

#[tests::case]
fn nothing_is_lost_or_changed() {
    skip::unless_installed("nmcli", "network-manager");
    let version = version().unwrap();
    let mut faults = Vec::new();
    let mut used = BTreeSet::new();
    for document in documents::all() {
        let outcome = document.convert();
        for profile in &outcome.hosts[0].configuration.profiles {
            let at = format!("{}: {}", document.name, profile.file_name());
            let kind = profile.keyfile.get("connection", "type").unwrap();
            let known = TYPES_SINCE.iter().all(|(name, since)| *name != kind || version >= *since);
            let output = read_back(profile);
            if output.status.success() && output.stderr.is_empty() {
                compare(profile, &output, version, &at, &mut faults, &mut used);
            } else if REFUSED.contains(&kind) || !known {
                let is_error = outcome.diagnostics.iter().any(|found| found.is_error());
                assert!(is_error, "{at}: NetworkManager refuses it and nmgen does not say so");
            } else {
                faults.push(format!("{at}: {}", output.err()));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    let tables = DEFAULTS.iter().map(|(section, key, _)| (*section, *key));
    let unused: Vec<_> = tables.filter(|entry| !used.contains(entry)).collect();
    assert!(unused.is_empty(), "no fixture needs {unused:?}");
}

fn version() -> Option<Version> {
    let output = Command::new("nmcli").arg("--version").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let mut numbers = text.rsplit(' ').next()?.trim().split('.').map(str::parse::<u32>);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

/// Has NetworkManager read the profile and print it, by a change that sets the id to itself.
fn read_back(profile: &Profile) -> Output {
    let mut nmcli = Command::new("nmcli");
    nmcli.args(["--offline", "connection", "modify", "connection.id", &profile.id]);
    program::with_input(nmcli.env("LC_ALL", "C.UTF-8"), profile.keyfile.render()).unwrap()
}

fn compare(
    profile: &Profile,
    output: &Output,
    version: Version,
    at: &str,
    faults: &mut Vec<String>,
    used: &mut BTreeSet<(&'static str, &'static str)>,
) {
    let printed = keyfile::parse(std::str::from_utf8(&output.stdout).unwrap());
    for (section, entries) in keyfile::parse(&profile.keyfile.render()) {
        for (key, value) in entries {
            let (their_key, ours) = renamed(&section, &key, &value);
            let theirs = value_of(&printed, &section, &their_key);
            let theirs = theirs.map(|theirs| renamed(&section, &their_key, theirs).1);
            if theirs.as_ref() == Some(&ours) {
                continue;
            }
            let is = |entry: (&str, &str)| entry == (section.as_str(), key.as_str());
            let default = DEFAULTS.iter().find(|(s, k, v)| is((s, k)) && *v == value);
            let later = SINCE.iter().any(|(s, k, since)| is((s, k)) && version < *since);
            if let (Some((section, key, _)), None) = (default, &theirs) {
                used.insert((section, key));
            } else if !later {
                faults.push(format!("{at}: [{section}] {key}: {ours:?} became {theirs:?}"));
            }
        }
    }
}

fn value_of<'s>(sections: &'s Sections, section: &str, key: &str) -> Option<&'s str> {
    let (_, entries) = sections.iter().find(|(name, _)| name == section)?;
    entries.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
}

/// NetworkManager's key for a value, and the value in normal form. One arm for each difference in spelling.
fn renamed(section: &str, key: &str, value: &str) -> (String, String) {
    let same = key.to_owned();
    match (section, key) {
        // A shorter name for the same type.
        ("connection", "type") if value == "802-3-ethernet" => (same, "ethernet".to_owned()),
        // The names of the enumeration's values.
        ("ipv6", "addr-gen-mode") if value == "0" => (same, "eui64".to_owned()),
        ("ipv6", "addr-gen-mode") if value == "1" => (same, "stable-privacy".to_owned()),
        // The separator at the end of a list is optional.
        ("ipv4" | "ipv6", "dns" | "dns-search" | "dns-options")
        | ("match", "path")
        | ("vlan", "egress-priority-map" | "ingress-priority-map") => {
            (same, value.trim_end_matches(';').to_owned())
        }
        // Numbered from 1 instead of 0; the parser takes both.
        ("ipv4" | "ipv6", _) if key.starts_with("address") => (one_more(key), value.to_owned()),
        ("ipv4" | "ipv6", _) if key.starts_with("routing-rule") => (one_more(key), rule(value)),
        ("ipv4" | "ipv6", _) if key.starts_with("route") && key.ends_with("_options") => {
            (one_more(key), sorted(value, ','))
        }
        ("ipv4" | "ipv6", _) if is_numbered(key, "route") => (one_more(key), next_hop(value)),
        // Attributes in another order; 802.1q is the default of a VLAN's protocol.
        ("sriov", _) if key.starts_with("vf.") => {
            (same, sorted(value.strip_suffix(".q").unwrap_or(value), ' '))
        }
        _ => (same, value.to_owned()),
    }
}

fn is_numbered(key: &str, name: &str) -> bool {
    key.strip_prefix(name).is_some_and(|number| number.parse::<u32>().is_ok())
}

/// `address0` to `address1`. NetworkManager's own output is renamed too; only its value is used.
fn one_more(key: &str) -> String {
    let start = key.find(|c: char| c.is_ascii_digit()).unwrap_or(key.len());
    let end = key[start..].find('_').map_or(key.len(), |at| start + at);
    match key[start..end].parse::<u32>() {
        Ok(number) => format!("{}{}{}", &key[..start], number + 1, &key[end..]),
        Err(_) => key.to_owned(),
    }
}

/// A missing next hop is empty or the unspecified address.
fn next_hop(value: &str) -> String {
    value.replace(",0.0.0.0,", ",,").replace(",::,", ",,")
}

fn sorted(value: &str, separator: char) -> String {
    let mut parts: Vec<&str> = value.split(separator).collect();
    parts.sort_unstable();
    parts.join(" ")
}

/// A rule's words in pairs, sorted; NetworkManager prints marks in hexadecimal.
fn rule(value: &str) -> String {
    let words: Vec<String> = value.split(' ').map(number).collect();
    let mut pairs: Vec<String> = words.chunks(2).map(|pair| pair.join(" ")).collect();
    pairs.sort_unstable();
    pairs.join(", ")
}

fn number(word: &str) -> String {
    let decimal = |part: &str| {
        let digits = part.strip_prefix("0x");
        digits
            .and_then(|digits| u32::from_str_radix(digits, 16).ok())
            .map_or(part.to_owned(), |n| n.to_string())
    };
    word.split('/').map(decimal).collect::<Vec<_>>().join("/")
}
