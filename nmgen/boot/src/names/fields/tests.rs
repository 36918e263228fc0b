//! Compares the tables with the nmstate crate: with its source, where every text field is either in a
//! table or in the list of others, and with documents.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use nmgen_core::interface;
use nmgen_document::text::Source;
use nmgen_document::{Node, Value};

use super::{OF_AN_INTERFACE, OF_THE_DOCUMENT, rename};

/// The crate's fields that hold interface names, and the ends of their entries in the tables. An
/// interface's own name has no entry.
const NAMES: &[(&str, &[&str])] = &[
    ("BaseInterface.controller", &["controller"]),
    ("BaseInterface.copy_mac_from", &["copy-mac-from"]),
    ("BaseInterface.name", &[]),
    ("BondConfig.port", &["link-aggregation.port[]", "link-aggregation.ports[]", "bond.port[]"]),
    ("BondConfig.port", &["bond.ports[]"]),
    ("BondOptions.primary", &["link-aggregation.options.primary", "bond.options.primary"]),
    ("BondPortConfig.name", &["link-aggregation.ports-config[].name", "bond.ports-config[].name"]),
    ("DnsClientState.server", &["dns-resolver.config.server[]"]),
    ("HsrConfig.interlink", &["hsr.interlink"]),
    ("HsrConfig.port1", &["hsr.port1"]),
    ("HsrConfig.port2", &["hsr.port2"]),
    ("InfiniBandConfig.base_iface", &["infiniband.base-iface"]),
    ("IpTunnelConfig.base_iface", &["ip-tunnel.base-iface"]),
    ("IpVlanConfig.base_iface", &["ipvlan.base-iface"]),
    ("LinuxBridgePortConfig.name", &["bridge.port[].name", "bridge.ports[].name"]),
    ("MacSecConfig.base_iface", &["macsec.base-iface"]),
    ("MacVlanConfig.base_iface", &["mac-vlan.base-iface"]),
    ("MacVtapConfig.base_iface", &["mac-vtap.base-iface"]),
    ("OvsBridgePortConfig.name", &["bridge.port[].name", "bridge.ports[].name"]),
    (
        "OvsBridgeBondPortConfig.name",
        &[
            "bridge.port[].link-aggregation.port[].name",
            "bridge.port[].link-aggregation.ports[].name",
            "bridge.port[].bond.port[].name",
            "bridge.port[].bond.ports[].name",
            "bridge.ports[].link-aggregation.port[].name",
            "bridge.ports[].link-aggregation.ports[].name",
            "bridge.ports[].bond.port[].name",
            "bridge.ports[].bond.ports[].name",
        ],
    ),
    ("OvsPatchConfig.peer", &["patch.peer"]),
    ("RouteEntry.next_hop_iface", &["routes.config[].next-hop-interface"]),
    ("RouteEntry.vrf_name", &["routes.config[].vrf-name"]),
    ("RouteRuleEntry.iif", &["route-rules.config[].iif"]),
    ("SrIovVfConfig.iface_name", &["ethernet.sr-iov.vfs[].iface-name"]),
    ("VethConfig.peer", &["veth.peer"]),
    ("VlanConfig.base_iface", &["vlan.base-iface"]),
    ("VrfConfig.port", &["vrf.port[]", "vrf.ports[]"]),
    ("VxlanConfig.base_iface", &["vxlan.base-iface"]),
];

/// The other text fields. An entry without a field stands for a whole structure.
const OTHERS: &[&str] = &[
    "AltNameEntry.name",
    "BaseInterface._other",
    "BaseInterface.description",
    "BaseInterface.driver",
    "BaseInterface.mac_address",
    "BaseInterface.permanent_mac_address",
    "BaseInterface.profile_name",
    "BondOptions.ad_actor_system",
    "BondOptions.arp_ip_target",
    "DispatchConfig.post_activation",
    "DispatchConfig.post_deactivation",
    "DnsClientState.options",
    "DnsClientState.search",
    "EthtoolFeatureConfig.data",
    "HostNameState.config",
    "HostNameState.running",
    "HsrConfig.supervision_address",
    "Ieee8021XConfig",
    "InterfaceIpAddr.preferred_life_time",
    "InterfaceIpAddr.valid_life_time",
    "InterfaceIp.dhcp_custom_hostname",
    "InterfaceIp.token",
    "InterfaceIpv4.dhcp_custom_hostname",
    "InterfaceIpv6.dhcp_custom_hostname",
    "InterfaceIpv6.token",
    "LibreswanConfig",
    "LinuxBridgeOptions.group_addr",
    "LldpChassisId.chassis_id",
    "LldpChassisId.description",
    "LldpMgmtAddr.address",
    "LldpPortId.description",
    "LldpPortId.port_id",
    "LldpSystemDescription.system_description",
    "LldpSystemName.system_name",
    "LldpVlan.name",
    "MacSecConfig.mka_cak",
    "MacSecConfig.mka_ckn",
    "NetworkState.description",
    // Names of an Open vSwitch bridge and of a network.
    "OvnBridgeMapping",
    "OvsBridgeOptions.datapath",
    "OvsBridgeOptions.fail_mode",
    "OvsDbGlobalConfig",
    "OvsDbIfaceConfig",
    "OvsDpdkConfig.devargs",
    "RouteEntry.destination",
    "RouteEntry.next_hop_addr",
    "RouteEntry.source",
    "RouteRuleEntry.ip_from",
    "RouteRuleEntry.ip_to",
    "SrIovVfConfig.mac_address",
];

#[test]
fn every_field_of_nmstate_is_accounted_for() {
    let found = fields_of_text(&crate_directory());
    assert!(found.len() > 90, "{} fields are too few: {found:?}", found.len());
    let is_other = |field: &str| {
        let (structure, _) = field.split_once('.').unwrap();
        OTHERS.contains(&field) || OTHERS.contains(&structure)
    };
    let is_name = |field: &str| NAMES.iter().any(|(name, _)| *name == field);
    let unknown: Vec<&String> =
        found.iter().filter(|field| is_other(field) == is_name(field)).collect();
    assert!(unknown.is_empty(), "to put into NAMES or OTHERS, one of both: {unknown:#?}");

    let known = NAMES.iter().map(|(name, _)| *name).chain(OTHERS.iter().copied());
    let is_gone = |known: &&str| {
        !found.iter().any(|field| field == known || field.starts_with(&format!("{known}.")))
    };
    let stale: Vec<&str> = known.filter(is_gone).collect();
    assert!(stale.is_empty(), "not in nmstate: {stale:#?}");

    let tables: BTreeSet<String> =
        OF_THE_DOCUMENT.iter().chain(OF_AN_INTERFACE).map(|keys| shape(keys)).collect();
    let named: BTreeSet<String> =
        NAMES.iter().flat_map(|(_, shapes)| *shapes).map(ToString::to_string).collect();
    assert_eq!(tables, named);
}

fn shape(keys: &[&str]) -> String {
    keys.join(".").replace(".[]", "[]")
}

fn crate_directory() -> PathBuf {
    // The caller's: tests of another architecture are built by a cargo of another root file system.
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| env!("CARGO").into());
    let output = std::process::Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--locked"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let nmstate = packages.iter().find(|package| package["name"] == "nmstate").unwrap();
    Path::new(nmstate["manifest_path"].as_str().unwrap()).parent().unwrap().to_owned()
}

/// `Structure.field` for every field with a string in its type, in each structure with serde support.
fn fields_of_text(directory: &Path) -> BTreeSet<String> {
    const ELSEWHERE: &[&str] =
        &["nispor", "nm", "ovsdb", "policy", "query_apply", "revert", "statistic", "unit_tests"];
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() && !ELSEWHERE.contains(&name.as_str()) {
            found.extend(fields_of_text(&path));
        } else if name.ends_with(".rs") {
            fields_of_file(&fs::read_to_string(&path).unwrap(), &mut found);
        }
    }
    found
}

fn fields_of_file(text: &str, found: &mut BTreeSet<String>) {
    let mut attributes = String::new();
    let mut structure = None;
    let mut field: Option<String> = None;
    for line in text.lines() {
        let declaration = line.trim_start_matches("pub ");
        if let Some(rest) = declaration.strip_prefix("struct ") {
            let name: String = rest.chars().take_while(|c| c.is_alphanumeric()).collect();
            structure = attributes.contains("erialize").then_some(name);
            attributes.clear();
            continue;
        }
        if structure.is_none() {
            match line.chars().next() {
                Some('#' | ' ' | ')') => attributes.push_str(line),
                Some('/') => {}
                Some(_) | None => attributes.clear(),
            }
        }
        if line.starts_with('}') {
            structure = None;
        }
        let Some(structure) = &structure else { continue };
        let line = line.trim().trim_start_matches("pub ").trim_start_matches("r#");
        let is_name = |name: &str| name.chars().all(|c| c.is_alphanumeric() || c == '_');
        if line.split_once(':').is_some_and(|(name, _)| is_name(name)) {
            field = Some(line.to_owned());
        } else if let Some(field) = &mut field {
            field.push_str(line);
        }
        if let Some(declared) = field.take_if(|declared| declared.ends_with(',')) {
            let (name, kind) = declared.split_once(':').unwrap_or((&declared, ""));
            if kind.contains("String") {
                found.insert(format!("{structure}.{name}"));
            }
        }
    }
}

/// After renaming, the old name of an interface is left only in fields that name no interface.
#[test]
fn no_name_stays_behind() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/states");
    let mut shapes = BTreeSet::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let source = Source { name: path.display().to_string().into(), text: text.into() };
        let document = nmgen_document::parse(&source).unwrap();
        let interfaces = interface::all(&document.root);
        for interface in interfaces {
            if matches!(interface.text_at("type"), Some("ovs-bridge" | "ipsec")) {
                continue;
            }
            let name = interface.text_at("name").unwrap();
            let mut root = document.root.clone();
            rename(&mut root, &|known| (known == name).then_some("renamed"));
            left(&root, name, String::new(), &mut shapes);
        }
    }
    // Free text, Open vSwitch's bridges, and fields that only a node reports.
    let expected = [
        "interfaces[].description",
        "interfaces[].name",
        "interfaces[].ovs-db.external_ids.bridge-uplink",
        "ovn.bridge-mappings[].bridge",
        "routes.running[].next-hop-interface",
    ];
    assert_eq!(shapes.iter().map(String::as_str).collect::<Vec<_>>(), expected);
}

/// Collects the fields that still contain the name.
fn left(node: &Node<'_>, name: &str, shape: String, shapes: &mut BTreeSet<String>) {
    match &node.value {
        Value::Scalar { text, .. } => {
            if text == name {
                shapes.insert(shape);
            }
        }
        Value::Sequence(items) => {
            items.iter().for_each(|item| left(item, name, format!("{shape}[]"), shapes));
        }
        Value::Mapping(entries) => entries.iter().for_each(|entry| {
            let separator = if shape.is_empty() { "" } else { "." };
            left(&entry.node, name, format!("{shape}{separator}{}", entry.key), shapes);
        }),
    }
}

#[test]
fn zones_and_virtual_functions_are_names_too() {
    let text = "\
dns-resolver: {config: {server: ['fe80::1%eth1', 'fe80::1%eth10', 192.0.2.1]}}
interfaces:
- {name: bond0, type: bond, link-aggregation: {port: ['sriov:eth1:0', eth10, eth1]}}
- {name: eth1, type: ovs-bridge}
";
    let source = Source { name: "test".into(), text: text.into() };
    let mut document = nmgen_document::parse(&source).unwrap();
    rename(&mut document.root, &|known| (known == "eth1").then_some("100"));
    let texts = |node: Option<&Node<'_>>| -> Vec<String> {
        node.unwrap().items().iter().map(|item| item.text().unwrap().to_owned()).collect()
    };
    let root = &document.root;
    let servers = root.at(&["dns-resolver", "config", "server"]);
    assert_eq!(texts(servers), ["fe80::1%100", "fe80::1%eth10", "192.0.2.1"]);
    let interfaces = root.get("interfaces").unwrap().items();
    let ports = interfaces[0].at(&["link-aggregation", "port"]);
    assert_eq!(texts(ports), ["sriov:100:0", "eth10", "100"]);
    assert_eq!(interfaces[1].text_at("name"), Some("eth1"));
}
