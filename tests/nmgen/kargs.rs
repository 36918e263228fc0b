//! The real nm-initrd-generator turns the target `kargs` into the profiles of the target `keyfiles`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use tests::keyfile::{self, Sections};
use tests::program::{self, Exits as _};

/// Beside the fixtures: one document for each way to get addresses, and rare settings.
const DOCUMENTS: &[&str] = &[
    "interfaces: [{name: eno1, type: ethernet, ipv4: {enabled: true, dhcp: true}, \
     ipv6: {enabled: true, dhcp: true, autoconf: true}}]",
    "interfaces: [{name: eno1, type: ethernet, ipv6: {enabled: true, dhcp: true, autoconf: true}}]",
    "interfaces: [{name: eno1, type: ethernet, ipv6: {enabled: true}}]",
    "interfaces: [{name: eno1, type: ethernet, mtu: 9000, ipv4: {enabled: false}}]",
    "hostname: {config: worker-0}\n\
     interfaces: [{name: eno1, type: ethernet, ipv4: {enabled: true, dhcp: true}}]",
    "hostname: {config: worker-0}\n\
     interfaces: [{name: eno1, type: ethernet}, {name: eno2, type: ethernet, mtu: 1400, \
     ipv4: {enabled: true, address: [{ip: 192.0.2.1, prefix-length: 25}, \
     {ip: 198.51.100.1, prefix-length: 24}]}, ipv6: {enabled: true, autoconf: true, dhcp: true}}]\n\
     routes: {config: [{destination: 203.0.113.0/24, next-hop-interface: eno2}, \
     {destination: 203.0.113.0/25, next-hop-interface: eno2, next-hop-address: 192.0.2.2}, \
     {destination: '2001:db8:1::/48', next-hop-interface: eno2, next-hop-address: 'fe80::1'}, \
     {destination: '::/0', next-hop-interface: eno2, next-hop-address: 'fe80::2'}]}",
    "interfaces: [{name: bond1, type: bond, mac-address: 52:54:00:00:00:09, link-aggregation: \
     {mode: active-backup, port: [eno1, eno2], \
     options: {arp_interval: 100, arp_ip_target: 192.0.2.2, primary: eno2}}, \
     ipv4: {enabled: true, dhcp: true}}, \
     {name: bond1.7, type: vlan, mac-address: 52:54:00:00:00:0a, \
     vlan: {base-iface: bond1, id: 7, protocol: 802.1q}, \
     ipv6: {enabled: true, address: [{ip: '2001:db8::5', prefix-length: 64}]}}]\n\
     dns-resolver: {config: {server: ['2001:db8::53']}}\n\
     routes: {config: [{destination: '::/0', next-hop-address: '2001:db8::1', \
     next-hop-interface: bond1.7, table-id: 254}]}",
];

/// The fields that both must agree on, by interface; each with its sorted values.
type Network = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

#[tests::case]
fn the_generator_makes_of_them_what_the_keyfiles_say() {
    program::initrd_generator();
    let place = tempfile::tempdir().unwrap();
    let mut inputs = Vec::new();
    for (index, text) in DOCUMENTS.iter().enumerate() {
        let path = place.path().join(format!("{index}.yml"));
        fs::write(&path, text).unwrap();
        inputs.push((path, None));
    }
    let fixtures = program::root().join("tests/fixtures/targets/input");
    for host in ["worker-0", "worker-1", "worker-2"] {
        inputs.push((fixtures.join("hosts"), Some(host)));
    }
    for host in ["master-0", "worker-0"] {
        inputs.push((fixtures.join("install-config.yaml"), Some(host)));
    }
    let mut fields = 0;
    for (number, (input, host)) in inputs.iter().enumerate() {
        let keyfiles = place.path().join(format!("keyfiles-{number}"));
        generate("keyfiles", &keyfiles, input, *host);
        let kargs = place.path().join(format!("kargs-{number}"));
        generate("kargs", &kargs, input, *host);
        let line = fs::read_to_string(&kargs).unwrap();
        let generated = place.path().join(format!("generated-{number}"));
        let hostname = read_back(&line, &generated);
        let keyfiles = host.map_or(keyfiles.clone(), |host| keyfiles.join(host));
        let (ours, theirs) = (network(&keyfiles), network(&generated.join("connections")));
        assert_eq!(theirs, ours, "{line}");
        assert_eq!(servers(&generated.join("connections")), servers(&keyfiles), "{line}");
        let wanted = fs::read_to_string(keyfiles.join("etc/hostname")).unwrap_or_default();
        assert_eq!(hostname.trim(), wanted.trim(), "{line}");
        fields +=
            ours.values().flat_map(|fields| fields.values()).map(BTreeSet::len).sum::<usize>();
    }
    assert!(fields > 100, "only {fields} values were compared");
}

/// A document's arguments: exit code, standard output, standard error.
fn arguments(document: &str) -> (Option<i32>, String, String) {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("state.yml");
    fs::write(&path, document).unwrap();
    let output = Command::new(program::nmgen())
        .args(["generate", "--to", "kargs"])
        .arg(&path)
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// Kernels cut a longer command line off without a word.
#[tests::case]
fn a_line_that_some_kernel_cuts_off_is_said() {
    let document = |count: u32| {
        let card = |number: u32| {
            format!(
                "- {{name: eno{number}, type: ethernet, ipv4: {{enabled: true, address: [{{ip: 192.0.2.{number}, \
                 prefix-length: 24}}]}}, ipv6: {{enabled: true, address: [{{ip: '2001:db8::{number}', \
                 prefix-length: 64}}]}}}}\n"
            )
        };
        format!("interfaces:\n{}", (1..=count).map(card).collect::<String>())
    };
    let mut seen = BTreeSet::new();
    for count in 1..=40 {
        let (code, line, said) = arguments(&document(count));
        let found = (
            said.contains("[kernel-arguments-long]"),
            said.contains("[kernel-arguments-too-long]"),
        );
        match line.trim_end().len() {
            0 => assert_eq!((code, found), (Some(2), (false, true)), "{said}"),
            1..=800 => assert_eq!((code, found), (Some(0), (false, false)), "{said}"),
            801..=1748 => assert_eq!((code, found), (Some(0), (true, false)), "{said}"),
            length => unreachable!("{length} bytes"),
        }
        seen.insert(found);
    }
    assert_eq!(seen.len(), 3, "{seen:?}");
}

/// The generator takes eth0 for its port.
#[tests::case]
fn a_bond_without_ports_is_an_error() {
    let (code, line, said) = arguments(
        "interfaces: [{name: bond0, type: bond, link-aggregation: {mode: balance-rr, port: []}}]\n",
    );
    assert_eq!((code, line.as_str()), (Some(2), ""), "{said}");
    assert!(said.contains("bond=bond0 without ports takes eth0"), "{said}");
    let place = tempfile::tempdir().unwrap();
    read_back("bond=bond0::mode=balance-rr ip=bond0:none", place.path());
    let found = profiles(&place.path().join("connections"));
    let port =
        found.iter().find(|profile| get(profile, "connection", "interface-name") == Some("eth0"));
    assert!(port.is_some_and(|port| controller(port).is_some()), "{found:?}");
}

/// dracut's rule for `ifname=` never matches InfiniBand.
#[tests::case]
fn an_infiniband_card_gets_no_ifname() {
    let mac = "80:00:00:48:fe:80:00:00:00:00:00:00:00:02:c9:03:00:00:0a:6f";
    let (code, line, said) = arguments(&format!(
        "interfaces: [{{name: ib0, mac-address: '{mac}', ipv4: {{enabled: true, dhcp: true}}}}]\n"
    ));
    assert_eq!(code, Some(0), "{said}");
    assert!(
        !line.contains("ifname=") && said.contains("ib0: ifname= is for Ethernet"),
        "{line} {said}"
    );
}

fn generate(to: &str, output: &Path, input: &Path, host: Option<&str>) {
    let mut command = Command::new(program::nmgen());
    command.args(["generate", "--to", to, "-o"]).args([output, input]);
    command.args(host.map(|host| format!("--host={host}"))).output().unwrap().exits(0);
}

/// Returns the generator's host name; the profiles are in `connections`.
fn read_back(line: &str, directory: &Path) -> String {
    let option = |name: &str, path: &str| format!("--{name}={}", directory.join(path).display());
    let output = Command::new(program::initrd_generator())
        .args([
            option("connections-dir", "connections"),
            option("persistent-connections-dir", "none"),
            option("initrd-data-dir", "data"),
            option("run-config-dir", "conf.d"),
            option("sysfs-dir", "sys"),
        ])
        .arg("--")
        .args(line.split_whitespace())
        .output()
        .unwrap();
    let stderr = output.err();
    assert!(output.status.success() && stderr.is_empty(), "{line}: {stderr}");
    fs::read_to_string(directory.join("data/hostname")).unwrap_or_default()
}

fn profiles(directory: &Path) -> Vec<Sections> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let files = entries.filter(|path| path.extension().is_some_and(|e| e == "nmconnection"));
    files.map(|path| keyfile::parse(&fs::read_to_string(path).unwrap())).collect()
}

fn get<'s>(sections: &'s Sections, section: &str, key: &str) -> Option<&'s str> {
    entries(sections, section).iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
}

fn entries<'s>(sections: &'s Sections, section: &str) -> &'s [(String, String)] {
    sections.iter().find(|(name, _)| name == section).map(|(_, e)| e.as_slice()).unwrap_or_default()
}

fn network(directory: &Path) -> Network {
    let profiles = profiles(directory);
    let name = |profile| get(profile, "connection", "interface-name").unwrap().to_owned();
    let mut network = Network::new();
    for profile in &profiles {
        let mut fields: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let mut add = |field: &str, value: String| {
            fields.entry(field.to_owned()).or_default().insert(value);
        };
        let kind = get(profile, "connection", "type").unwrap();
        add("type", kind.replace("802-3-", ""));
        if let Some(controller) = controller(profile) {
            let is_controller = |other: &&Sections| {
                [get(other, "connection", "uuid"), get(other, "connection", "interface-name")]
                    .contains(&Some(controller))
            };
            add("controller", name(profiles.iter().find(is_controller).unwrap()));
        }
        for (key, value) in entries(profile, "bond") {
            add("bond", format!("{key}={value}"));
        }
        for key in ["id", "parent"] {
            get(profile, "vlan", key).into_iter().for_each(|v| add("vlan", format!("{key}={v}")));
        }
        get(profile, "ethernet", "mtu").into_iter().for_each(|mtu| add("mtu", mtu.to_owned()));
        // A card's MAC address is in ifname=, which udev reads and the generator does not.
        let mac =
            get(profile, "ethernet", "cloned-mac-address").filter(|_| kind != "802-3-ethernet");
        mac.into_iter().for_each(|mac| add("mac", mac.to_ascii_lowercase()));
        for family in ["ipv4", "ipv6"] {
            ip(profile, family, &mut add);
        }
        network.insert(name(profile), fields);
    }
    // A bond's ports have the bond's MTU.
    let bond_mtus: BTreeMap<String, BTreeSet<String>> = network
        .iter()
        .filter_map(|(name, fields)| Some((name.clone(), fields.get("mtu")?.clone())))
        .collect();
    for fields in network.values_mut() {
        let bond = fields.get("controller").and_then(|names| names.first());
        if let Some(mtu) = bond.and_then(|bond| bond_mtus.get(bond)) {
            fields.insert("mtu".to_owned(), mtu.clone());
        }
    }
    network
}

/// The key's name before NetworkManager 1.46 is the latter.
fn controller(port: &Sections) -> Option<&str> {
    get(port, "connection", "controller").or_else(|| get(port, "connection", "master"))
}

fn ip(profile: &Sections, family: &str, add: &mut impl FnMut(&str, String)) {
    // With DHCPv4 the generator also enables IPv6 (nmgen reports it), and a DHCPv6 client asks the router first.
    let dhcp = family == "ipv6" && get(profile, "ipv4", "method") == Some("auto");
    let method = get(profile, family, "method").filter(|_| !dhcp);
    method.into_iter().for_each(|method| add(&format!("{family} method"), method.to_owned()));
    let numbered = |key: &str, name: &str| {
        key.strip_prefix(name).is_some_and(|number| number.parse::<u32>().is_ok())
    };
    let none = if family == "ipv4" { "0.0.0.0" } else { "::" };
    for (key, value) in entries(profile, family) {
        let mut parts = value.split(',');
        if numbered(key, "address") {
            add("address", parts.next().unwrap().to_owned());
        } else if numbered(key, "route") {
            let destination = parts.next().unwrap();
            let gateway = parts.next().filter(|gateway| !gateway.is_empty()).unwrap_or(none);
            add("route", format!("{destination} via {gateway}"));
            continue;
        }
        let gateway = if key == "gateway" { Some(value.as_str()) } else { parts.next() };
        if let Some(gateway) = gateway.filter(|_| key == "gateway" || numbered(key, "address")) {
            add("route", format!("{none}/0 via {gateway}"));
        }
    }
}

fn servers(directory: &Path) -> BTreeSet<String> {
    let profiles = profiles(directory);
    let of = |profile: &Sections, family: &str| get(profile, family, "dns").map(str::to_owned);
    let values = profiles.iter().flat_map(|profile| [of(profile, "ipv4"), of(profile, "ipv6")]);
    let split = |value: String| value.split([';', ',']).map(str::to_owned).collect::<Vec<_>>();
    values.flatten().flat_map(split).filter(|server| !server.is_empty()).collect()
}
