//! Carries fields that nmstate's offline conversion drops.

use nmgen_document::diagnostic::{Diagnostic, Diagnostics, rules};
use nmgen_document::{Document, Path};

use super::written::SystemFile;
use crate::interface;
use crate::state::{InterfaceSummary, State};

rules! {
    warning COPY_MAC_FROM = "copy-mac-from-unknown";
    warning ALT_NAMES = "alt-names-without-mac";
}

/// Replaces `copy-mac-from` with the MAC address itself, if the document has it.
///
/// nmstate does so for an ovs-interface, bond or linux-bridge if the other interface has a
/// `mac-address`, and refuses the document otherwise. Users write it on an ovs-bridge, where it is
/// meant for the ovs-interface of the same name.
pub(super) fn copy_mac_from(
    document: &Document<'_>,
    state: &mut State,
    interfaces: &[InterfaceSummary],
    diagnostics: &mut Diagnostics,
) {
    for interface in interfaces {
        let Some(from) = &interface.copy_mac_from else { continue };
        let mac = interfaces
            .iter()
            .find(|other| other.name == *from && other.kind != "ovs-bridge")
            .and_then(|other| other.mac_address.as_deref());
        let target = if interface.kind == "ovs-bridge" { "ovs-interface" } else { &interface.kind };
        let holder = interfaces.iter().find(|i| i.name == interface.name && i.kind == target);
        let can_copy = matches!(target, "ovs-interface" | "bond" | "linux-bridge");
        let given = holder.and_then(|holder| holder.mac_address.as_deref());
        state.resolve_copy_mac_from(&interface.name, &interface.kind, None);
        match (mac, holder, can_copy) {
            (Some(mac), Some(_), true) if given.is_none() => {
                state.resolve_copy_mac_from(&interface.name, target, Some(mac));
            }
            (Some(mac), Some(_), true) if given.is_some_and(|m| m.eq_ignore_ascii_case(mac)) => {}
            (_, holder, _) => {
                let place = document.place_at(&field(document, interface, "copy-mac-from"));
                diagnostics.push(refused(interface, from, mac, holder, can_copy, place));
            }
        }
    }
}

fn refused(
    interface: &InterfaceSummary,
    from: &str,
    mac: Option<&str>,
    holder: Option<&InterfaceSummary>,
    can_copy: bool,
    place: nmgen_document::diagnostic::Place,
) -> Diagnostic {
    let name = &interface.name;
    let (message, help) = if !can_copy {
        (
            format!("copy-mac-from has no effect on {} {name}", interface.kind),
            "nmstate copies a MAC to a bond, a linux-bridge or an ovs-interface".to_owned(),
        )
    } else if holder.is_none() {
        (
            format!("copy-mac-from of ovs-bridge {name} needs an ovs-interface {name}"),
            format!("declare an ovs-interface {name} and list it among the bridge's ports"),
        )
    } else if mac.is_none() {
        (
            format!("the MAC address of {from} is not known offline, so {name} keeps its own"),
            format!("give {from} its mac-address here, or apply this document on the node"),
        )
    } else {
        (
            format!("{name} has a mac-address of its own, so copy-mac-from has no effect"),
            "remove one of the two".to_owned(),
        )
    };
    Diagnostic::new(COPY_MAC_FROM, message, place).help(help)
}

/// The files for the host name and the alternative names.
pub(super) fn files(
    document: &Document<'_>,
    state: &State,
    interfaces: &[InterfaceSummary],
    diagnostics: &mut Diagnostics,
) -> Vec<SystemFile> {
    let mut files = Vec::new();
    if let Some(name) = state.hostname() {
        let field = Path::default().key("hostname").key("config");
        files.push(SystemFile {
            path: "etc/hostname".to_owned(),
            content: format!("{name}\n"),
            field: field.to_string(),
            place: document.place_at(&field),
        });
    }
    for interface in interfaces.iter().filter(|interface| !interface.alt_names.is_empty()) {
        let field = field(document, interface, "alt-names");
        match link_match(interface) {
            Some(link_match) => files.push(SystemFile {
                path: format!("etc/systemd/network/70-{}.link", interface.name),
                content: link_file(&link_match, &interface.alt_names),
                field: field.to_string(),
                place: document.place_at(&field),
            }),
            None => diagnostics.add(
                ALT_NAMES,
                document.place_at(&field),
                format!(
                    "alt-names of {} are lost: without a mac-address udev cannot identify the NIC",
                    interface.name
                ),
                "give the interface its mac-address",
            ),
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

/// The [Match] section by which udev finds the device (systemd.link(5)). A physical NIC has no final
/// name when the file is matched; a virtual interface is created with it.
fn link_match(interface: &InterfaceSummary) -> Option<String> {
    match (interface.kind.as_str(), &interface.mac_address) {
        ("ethernet" | "unknown" | "infiniband", Some(mac)) => Some(format!("MACAddress={mac}")),
        ("ethernet" | "unknown" | "infiniband", None) | ("ovs-bridge" | "ipsec", _) => None,
        _ => Some(format!("OriginalName={}", interface.name)),
    }
}

/// The first matching .link file replaces systemd's 99-default.link, so its policies are repeated. That of addresses is for cards
/// alone: it would change the address of a bond or bridge, which RHEL and Fedora leave to the kernel and NetworkManager.
fn link_file(link_match: &str, alt_names: &[String]) -> String {
    let is_card = link_match.starts_with("MACAddress=");
    let mac_policy = if is_card { "MACAddressPolicy=persistent\n" } else { "" };
    let mut text = format!(
        "[Match]\n{link_match}\n\n[Link]\nNamePolicy=keep kernel database onboard slot path\n\
         AlternativeNamesPolicy=database onboard slot path mac\n{mac_policy}"
    );
    for name in alt_names {
        text.push_str(&format!("AlternativeName={name}\n"));
    }
    text
}

fn field(document: &Document<'_>, interface: &InterfaceSummary, key: &str) -> Path {
    let interfaces = interface::all(&document.root);
    let index = interfaces.iter().position(|node| {
        node.text_at("name") == Some(&interface.name)
            && node.text_at("type").unwrap_or("unknown") == interface.kind
    });
    let list = Path::default().key("interfaces");
    index.map_or(list.clone(), |index| list.index(index).key(key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use nmgen_document::text::Source;

    /// The MAC address of br-ex, and the number of findings, for this ovs-interface beside the bridge that copies.
    fn copied(interface: &str) -> (Option<String>, usize) {
        let text = format!(
            "interfaces:\n\
             - {{name: eno1, type: ethernet, state: up, mac-address: '52:54:00:00:00:0A'}}\n\
             - {{name: br-ex, type: ovs-bridge, state: up, copy-mac-from: eno1, bridge: {{port: [{{name: eno1}}]}}}}\n\
             {interface}"
        );
        let source = Source { name: "".into(), text: text.as_str().into() };
        let document = nmgen_document::parse(&source).unwrap_or_else(|it| unreachable!("{it:?}"));
        let mut state =
            State::parse(&document.root).unwrap_or_else(|refusal| unreachable!("{refusal:?}"));
        let (interfaces, mut found) = (state.interfaces(), Diagnostics::default());
        copy_mac_from(&document, &mut state, &interfaces, &mut found);
        let mut after = state.interfaces().into_iter();
        let local =
            after.find(|interface| interface.name == "br-ex" && interface.kind == "ovs-interface");
        (local.and_then(|interface| interface.mac_address), found.len())
    }

    #[test]
    fn the_bridges_interface_gets_the_address_unless_it_has_another_one() {
        let with = |mac: &str| {
            copied(&format!("- {{name: br-ex, type: ovs-interface, state: up{mac}}}\n"))
        };
        let mac = |mac: &str| Some(mac.to_owned());
        assert_eq!(with(""), (mac("52:54:00:00:00:0A"), 0));
        assert_eq!(with(", mac-address: '52:54:00:00:00:0a'"), (mac("52:54:00:00:00:0a"), 0));
        assert_eq!(with(", mac-address: '52:54:00:00:00:09'"), (mac("52:54:00:00:00:09"), 1));
        assert_eq!(copied(""), (None, 1));
        assert_eq!(copied("- {name: other, type: ovs-interface, state: up}\n"), (None, 1));
    }

    #[test]
    fn udev_finds_a_card_by_its_address_and_a_virtual_interface_by_its_name() {
        let found = |kind: &str, mac: Option<&str>| {
            link_match(&InterfaceSummary {
                name: "a".to_owned(),
                kind: kind.to_owned(),
                profile_name: None,
                mac_address: mac.map(str::to_owned),
                identified_by_mac: false,
                copy_mac_from: None,
                has_profile: true,
                alt_names: Vec::new(),
            })
        };
        let mac = Some("52:54:00:00:00:01");
        for kind in ["ethernet", "infiniband", "unknown"] {
            assert_eq!(found(kind, mac), Some("MACAddress=52:54:00:00:00:01".to_owned()));
            assert_eq!(found(kind, None), None);
        }
        assert_eq!(found("bond", mac), Some("OriginalName=a".to_owned()));
        assert_eq!(found("ovs-bridge", mac), None);
    }

    #[test]
    fn no_policy_changes_the_address_of_a_virtual_interface() {
        let text = |link_match: &str| link_file(link_match, &["uplink".to_owned()]);
        let policy = "\nMACAddressPolicy=persistent\nAlternativeName=uplink\n";
        assert!(text("MACAddress=52:54:00:00:00:01").ends_with(policy));
        let without =
            "\nAlternativeNamesPolicy=database onboard slot path mac\nAlternativeName=uplink\n";
        assert!(text("OriginalName=bond0").ends_with(without));
    }
}
