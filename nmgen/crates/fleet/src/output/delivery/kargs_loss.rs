//! Values that kernel arguments cannot express.

use nmgen_core::interface;
use nmgen_core::output::NOT_IN_TARGET;
use nmgen_document::diagnostic::{Diagnostic, Diagnostics, rules};
use nmgen_document::{Document, Node, Path, Step, Value};

use super::cards;
use crate::convert::Converted;

rules! {
    error NO_KERNEL_ARGUMENT = "no-kernel-argument";
    error KERNEL_ARGUMENTS_TOO_LONG = "kernel-arguments-too-long";
    warning KERNEL_ARGUMENTS_LONG = "kernel-arguments-long";
}

/// `COMMAND_LINE_SIZE` of x86_64, aarch64 and ppc64le, and coreos-installer's area in an ISO; the kernel cuts
/// the rest off silently.
const MAX_BYTES: usize = 2048;
/// Longest command line of s390x before Linux 5.16.
const MAX_BYTES_S390X: usize = 896;
/// Left for a system's other arguments: on s390x the distribution's are few.
const OTHERS: usize = 300;
const OTHERS_S390X: usize = 96;

/// Reports a command line that is cut off on some architecture.
pub(super) fn length(converted: &Converted, bytes: usize) -> Option<Diagnostic> {
    let name = converted.host.name.as_deref().unwrap_or("this document");
    let place = || converted.host.place.clone();
    if bytes > MAX_BYTES - OTHERS {
        let message = format!(
            "the kernel arguments of {name} have {bytes} bytes; with {OTHERS} of others the kernel cuts them off \
             at {MAX_BYTES}"
        );
        let diagnostic = Diagnostic::new(KERNEL_ARGUMENTS_TOO_LONG, message, place());
        return Some(diagnostic.help("generate --to initrd or --to ignition has no such limit"));
    }
    (bytes > MAX_BYTES_S390X - OTHERS_S390X).then(|| {
        let message = format!(
            "the kernel arguments of {name} have {bytes} bytes; on s390x older kernels cut them off at \
             {MAX_BYTES_S390X}"
        );
        Diagnostic::new(KERNEL_ARGUMENTS_LONG, message, place())
            .help("on other architectures the limit is 2048")
    })
}

/// Whether an argument expresses a value.
enum Said {
    Yes,
    /// The value is the default.
    Harmless,
    /// A first boot works without it.
    Minor,
    No,
}

/// Reports each value of the document that no argument expresses; with `allowed`, one that a first boot can do without is a
/// warning.
pub(super) fn losses(converted: &Converted, allowed: bool) -> Diagnostics {
    let Some(document) = converted.host.document() else { return Diagnostics::default() };
    let mut found = Diagnostics::default();
    for entry in document.root.entries() {
        let path = Path::default().key(&entry.key);
        if entry.key == "interfaces" {
            for (index, node) in entry.node.items().iter().enumerate() {
                interface(document, node, &path.index(index), allowed, &mut found);
            }
        } else {
            walk(document, &entry.node, &path, allowed, &mut found);
        }
    }
    found.extend(dynamic_only(converted, document));
    found.extend(bonds_without_ports(converted, document));
    found.extend(cards::cards(converted).into_iter().filter_map(kernel_name));
    found
}

/// nm-initrd-generator makes eth0 a port of a bond without ports.
fn bonds_without_ports(converted: &Converted, document: &Document<'_>) -> Diagnostics {
    let profiles = &converted.configuration.profiles;
    let get = |index: usize, key| profiles[index].keyfile.get("connection", key);
    let nodes = interface::all(&document.root);
    let mut found = Diagnostics::default();
    for bond in (0..profiles.len()).filter(|index| get(*index, "type") == Some("bond")) {
        let names = [get(bond, "interface-name"), get(bond, "uuid")];
        if (0..profiles.len()).any(|port| {
            let controller = get(port, "controller").or_else(|| get(port, "master"));
            controller.is_some() && names.contains(&controller)
        }) {
            continue;
        }
        let name = names[0].unwrap_or_default();
        let index = nodes.iter().position(|node| node.text_at("name") == Some(name));
        let path = Path::default().key("interfaces").index(index.unwrap_or_default()).key("name");
        let message = format!("bond={name} without ports takes eth0");
        let help = "give the bond a port, or leave it out";
        found.add(NO_KERNEL_ARGUMENT, document.place_at(&path), message, help);
    }
    found
}

fn interface(
    document: &Document<'_>,
    node: &Node<'_>,
    path: &Path,
    allowed: bool,
    found: &mut Diagnostics,
) {
    // Other fields of an unsupported interface are not reported.
    for key in ["type", "state"] {
        let path = path.key(key);
        let value = node.text_at(key);
        if value.is_some_and(|value| matches!(said(&pattern(&path), value), Said::No)) {
            return walk(document, node.get(key).unwrap_or(node), &path, allowed, found);
        }
    }
    walk(document, node, path, allowed, found);
    if let Some(id) = node.number_at(&["vlan", "id"]) {
        let name = node.text_at("name").unwrap_or_default();
        let digits = name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        if name[digits..].parse() != Ok(id) {
            let message = format!(
                "kernel arguments take a VLAN's id from its name, and {name} does not end in {id}"
            );
            let place = document.place_at(&path.key("vlan").key("id"));
            found.add(NO_KERNEL_ARGUMENT, place, message, format!("name it <base interface>.{id}"));
        }
    }
    if let (Some(mtu), Some(bond)) = (node.text_at("mtu"), bond_of(document, node))
        && bond.text_at("mtu") != Some(mtu)
    {
        let message = "no kernel argument sets the MTU of a bond's port".to_owned();
        let place = document.place_at(&path.key("mtu"));
        found.add(NO_KERNEL_ARGUMENT, place, message, "the bond's mtu applies to its ports");
    }
}

fn bond_of<'d, 't>(document: &'d Document<'t>, port: &Node<'_>) -> Option<&'d Node<'t>> {
    let name = port.text_at("name")?;
    let has_port = |bond: &Node<'_>, key| {
        let ports = bond.items_at(&["link-aggregation", key]);
        ports.iter().any(|port| port.text() == Some(name))
    };
    let interfaces = document.root.get("interfaces")?.items().iter();
    interfaces.into_iter().find(|bond| has_port(bond, "port") || has_port(bond, "ports"))
}

fn walk(
    document: &Document<'_>,
    node: &Node<'_>,
    path: &Path,
    allowed: bool,
    found: &mut Diagnostics,
) {
    match &node.value {
        Value::Mapping(entries) => {
            for entry in entries {
                walk(document, &entry.node, &path.key(&entry.key), allowed, found);
            }
        }
        Value::Sequence(items) => {
            for (index, item) in items.iter().enumerate() {
                walk(document, item, &path.index(index), allowed, found);
            }
        }
        Value::Scalar { text, .. } if !node.is_null() => {
            let place = || document.place_at(path);
            let unset = || format!("no kernel argument sets {path}: {}", path.shown(text));
            let help = match said(&pattern(path), text) {
                Said::Yes => return,
                Said::Harmless => {
                    let message = format!("{path} is not in kernel arguments");
                    return found.push(Diagnostic::new(NOT_IN_TARGET, message, place()));
                }
                Said::Minor if allowed => {
                    return found.push(Diagnostic::new(NOT_IN_TARGET, unset(), place()));
                }
                Said::Minor => {
                    "--allow-loss leaves it out; --to initrd or --to ignition carries the whole document"
                }
                Said::No => "generate --to initrd or --to ignition carries the whole document",
            };
            found.add(NO_KERNEL_ARGUMENT, place(), unset(), help);
        }
        Value::Scalar { .. } => {}
    }
}

/// The path without indices: `interfaces[].ipv4.address[].ip`.
fn pattern(path: &Path) -> String {
    let mut pattern = String::new();
    for step in path.steps() {
        match step {
            Step::Index(_) => pattern.push_str("[]"),
            Step::Key(key) if pattern.is_empty() => pattern.push_str(key),
            Step::Key(key) => pattern.extend([".", key]),
        }
    }
    pattern
}

fn said(field: &str, value: &str) -> Said {
    // White space and quotes would end the argument.
    let ends = value.contains(|c: char| c.is_whitespace() || c == '"');
    match said_as_it_is(field, value) {
        Said::Yes if ends => Said::No,
        said @ (Said::Yes | Said::Harmless | Said::Minor | Said::No) => said,
    }
}

fn said_as_it_is(field: &str, value: &str) -> Said {
    let is = |condition: bool| if condition { Said::Yes } else { Said::No };
    let Some(field) = field.strip_prefix("interfaces[].") else {
        return match field {
            "hostname.config"
            | "routes.config[].destination"
            | "routes.config[].next-hop-address"
            | "routes.config[].next-hop-interface" => Said::Yes,
            "dns-resolver.config.server[]" => is(!value.contains('%')),
            "routes.config[].metric" if value == "-1" => Said::Yes,
            "routes.config[].metric"
            | "dns-resolver.config.search[]"
            | "dns-resolver.config.options[]" => Said::Minor,
            "routes.config[].table-id" => is(matches!(value, "0" | "254")),
            _ => Said::No,
        };
    };
    match field {
        "name" | "mac-address" | "mtu" | "identifier" | "controller" => Said::Yes,
        "description" | "profile-name" => Said::Harmless,
        "type" => is(matches!(value, "ethernet" | "bond" | "vlan" | "unknown")),
        "state" => is(value == "up"),
        "vlan.base-iface" | "vlan.id" => Said::Yes,
        "vlan.protocol" => is(value.eq_ignore_ascii_case("802.1q")),
        "link-aggregation.mode" | "link-aggregation.port[]" | "link-aggregation.ports[]" => {
            Said::Yes
        }
        _ => match field.strip_prefix("link-aggregation.options.") {
            // A colon ends the options, a comma ends one option, and some releases of NetworkManager
            // have no other separator within a value.
            Some(_) => is(!value.contains([':', ','])),
            None => said_of_ip(field, value),
        },
    }
}

fn said_of_ip(field: &str, value: &str) -> Said {
    let field = field.strip_prefix("ipv4.").or_else(|| field.strip_prefix("ipv6."));
    match field {
        Some("enabled" | "dhcp" | "autoconf" | "address[].ip" | "address[].prefix-length") => {
            Said::Yes
        }
        Some("auto-dns" | "auto-gateway" | "auto-routes") if is_true(value) => Said::Yes,
        Some(_) | None => Said::No,
    }
}

fn is_true(value: &str) -> bool {
    matches!(value.to_ascii_lowercase().as_str(), "true" | "yes" | "on" | "y" | "1")
}

/// For `dhcp`, NetworkManager's generator configures DHCPv4 and accepts IPv6 from routers.
fn dynamic_only(converted: &Converted, document: &Document<'_>) -> Diagnostics {
    let nodes = interface::all(&document.root);
    let mut found = Diagnostics::default();
    for profile in &converted.configuration.profiles {
        let method = |family| profile.keyfile.get(family, "method");
        if method("ipv4") != Some("auto") || matches!(method("ipv6"), Some("auto" | "manual")) {
            continue;
        }
        let name = profile.keyfile.get("connection", "interface-name").unwrap_or(&profile.id);
        let index = nodes.iter().position(|node| node.text_at("name") == Some(name));
        let Some(index) = index.filter(|index| nodes[*index].get("ipv6").is_some()) else {
            continue;
        };
        let path = Path::default().key("interfaces").index(index).key("ipv6").key("enabled");
        let message = format!("ip={name}:dhcp lets NetworkManager take IPv6 from a router too");
        found.push(Diagnostic::new(NOT_IN_TARGET, message, document.place_at(&path)));
    }
    found
}

/// InfiniBand has no `ifname=`. `ifname=eth0:...` fails if the kernel gives the name to another card (dracut.cmdline(7)).
fn kernel_name(card: cards::ConfiguredCard) -> Option<Diagnostic> {
    if card.mac().is_some_and(|mac| mac.is_infiniband()) {
        let message = format!("{}: ifname= is for Ethernet; the kernel names this card", card.name);
        let diagnostic = Diagnostic::new(NOT_IN_TARGET, message, card.place);
        return Some(diagnostic.help("use the name that the kernel gives to the InfiniBand card"));
    }
    let is_renamed = card.mac().is_some();
    let digits = card.name.strip_prefix("eth")?;
    let is_kernel_name = !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit());
    (is_renamed && is_kernel_name).then(|| {
        let message =
            format!("ifname={}: the kernel may give this name to another card", card.name);
        Diagnostic::new(NOT_IN_TARGET, message, card.place)
            .help("use a name that the kernel never gives, unlike eth0, eth1, ...")
    })
}
