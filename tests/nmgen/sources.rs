//! Every kind of source: the same hosts from each, alone, together and from standard input, and diagnostics at the place in the
//! user's file.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use nmgen::diagnostic::Diagnostic;
use nmgen::source::{Host, Hosts, Stage};
use tests::program::{self, Exits as _};

const HOSTS: [&str; 2] = ["master-0", "worker-0"];
const ROLES: [&str; 2] = ["master", "worker"];
const MACS: [[&str; 2]; 2] =
    [["52:54:00:00:00:01", "52:54:00:00:00:02"], ["52:54:00:00:01:01", "52:54:00:00:01:02"]];

fn fixtures() -> PathBuf {
    program::root().join("tests/fixtures/sources")
}

/// A host's document, and the document of all nodes.
fn document(name: &str) -> String {
    fs::read_to_string(fixtures().join("hosts").join(format!("{name}.yml"))).unwrap()
}

fn load(paths: &[&Path]) -> Hosts {
    let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    nmgen::source::load(&paths).unwrap()
}

/// The hosts of a fixture without diagnostics.
fn hosts(name: &str) -> Vec<Host> {
    let loaded = load(&[&fixtures().join(name)]);
    let found = nmgen::diagnose(&loaded);
    // Every source has the same documents, which are early ones: as the running node's they lack br-ex.
    let found: Vec<_> = found.iter().filter(|found| found.rule.name != "bridge-missing").collect();
    assert!(found.is_empty(), "{name}: {found:?}");
    loaded.hosts
}

/// The text with normalised line breaks.
fn text(host: &Host) -> String {
    host.document_text().unwrap().replace("\r\n", "\n")
}

fn nics(host: &Host) -> Vec<(Option<&str>, String)> {
    host.nics.iter().map(|nic| (nic.name.as_deref(), nic.mac_address.to_string())).collect()
}

fn owned(nics: Nics) -> Vec<(Option<&'static str>, String)> {
    nics.into_iter().map(|(name, mac)| (name, mac.to_owned())).collect()
}

/// Names, if the source has them, and MAC addresses.
type Nics = Vec<(Option<&'static str>, &'static str)>;

/// A source's facts about the two hosts beside their documents.
pub(crate) struct Told {
    pub(crate) source: &'static str,
    pub(crate) stage: Stage,
    has_roles: bool,
    nics: fn(usize) -> Nics,
}

fn boot_nic(host: usize) -> Nics {
    vec![(None, MACS[host][0])]
}

fn both_nics(host: usize) -> Nics {
    vec![(Some("eno1"), MACS[host][0]), (Some("eno2"), MACS[host][1])]
}

fn boot_and_both_nics(host: usize) -> Nics {
    [boot_nic(host), both_nics(host)].concat()
}

fn no_nic(_: usize) -> Nics {
    Vec::new()
}

pub(crate) const SOURCES: &[Told] = &[
    Told { source: "hosts", stage: Stage::Any, has_roles: false, nics: no_nic },
    Told { source: "install-config.yaml", stage: Stage::Early, has_roles: true, nics: boot_nic },
    Told { source: "agent-config.yaml", stage: Stage::Early, has_roles: true, nics: both_nics },
    Told { source: "bare-metal-hosts.yaml", stage: Stage::Early, has_roles: false, nics: boot_nic },
    Told { source: "nmstate-configs.yaml", stage: Stage::Early, has_roles: false, nics: both_nics },
    Told { source: "policies.yaml", stage: Stage::Node, has_roles: true, nics: no_nic },
    Told {
        source: "cluster-instance.yaml",
        stage: Stage::Early,
        has_roles: true,
        nics: boot_and_both_nics,
    },
    Told {
        source: "site-config.yaml",
        stage: Stage::Early,
        has_roles: true,
        nics: boot_and_both_nics,
    },
    Told { source: "network-configs", stage: Stage::Early, has_roles: false, nics: no_nic },
    Told { source: "node-network-states.yaml", stage: Stage::Any, has_roles: false, nics: no_nic },
    Told { source: "acm-policies.yaml", stage: Stage::Node, has_roles: true, nics: no_nic },
    Told { source: "machine-configs.yaml", stage: Stage::Node, has_roles: true, nics: no_nic },
];

#[tests::case]
fn every_source_gives_the_same_hosts() {
    for Told { source, stage, has_roles, nics: expected } in SOURCES {
        let mut found = hosts(source);
        found.retain(|host| !host.is_cluster());
        let names: Vec<&str> = found.iter().filter_map(|host| host.name.as_deref()).collect();
        assert_eq!(names, HOSTS, "{source}");
        for (index, host) in found.iter().enumerate() {
            assert_eq!(text(host), document(HOSTS[index]), "{source}");
            assert_eq!(host.role.as_deref(), has_roles.then_some(ROLES[index]), "{source}");
            assert_eq!(host.stage, *stage, "{source}");
            assert_eq!(nics(host), owned(expected(index)), "{source}");
        }
    }
}

#[tests::case]
fn the_document_for_all_nodes_is_there_where_a_source_can_have_one() {
    for source in ["hosts", "machine-configs.yaml"] {
        let found = hosts(source);
        let cluster: Vec<&Host> = found.iter().filter(|host| host.is_cluster()).collect();
        assert_eq!(cluster.len(), 1, "{source}");
        assert_eq!(text(cluster[0]), document("cluster"), "{source}");
    }
}

/// assisted-service numbers hosts; host1 has its captures in place of names.
#[tests::case]
fn a_tree_of_assisted_service_gives_the_documents_that_it_was_made_of() {
    let found = hosts("assisted");
    for (index, host) in found.iter().enumerate() {
        assert_eq!(host.name, Some(format!("host{index}")));
        assert_eq!(nics(host), owned(both_nics(index)));
        assert_eq!((host.role.as_deref(), host.stage), (None, Stage::Early));
        let value = |text: &str| serde_yaml::from_str::<serde_yaml::Value>(text).unwrap();
        assert_eq!(value(&text(host)), value(&document(HOSTS[index])));
    }
    assert_eq!(found.len(), 2);
}

#[tests::case]
fn line_breaks_of_windows_and_a_byte_order_mark_change_nothing() {
    let place = tempfile::tempdir().unwrap();
    for Told { source, .. } in SOURCES.iter().filter(|told| told.source.ends_with(".yaml")) {
        let original = fs::read_to_string(fixtures().join(source)).unwrap();
        let path = place.path().join(source);
        fs::write(&path, format!("\u{feff}{}", original.replace('\n', "\r\n"))).unwrap();
        let loaded = load(&[&path]);
        let rules: Vec<&str> = loaded.diagnostics.iter().map(|found| found.rule.name).collect();
        assert_eq!(rules, ["byte-order-mark"], "{source}");
        let texts: Vec<String> = loaded.hosts.iter().map(text).collect();
        assert_eq!(texts, hosts(source).iter().map(text).collect::<Vec<_>>(), "{source}");
    }
}

const ANCHORS: &str = "\
apiVersion: v1
platform:
  baremetal:
    hosts:
    - name: worker-0
      networkConfig: &bond
        interfaces:
        - &eno1
          name: eno1
          type: ethernet
          state: up
          ipv4: {enabled: true, dhcp: true}
        dns-resolver:
          config:
            server: [192.0.2.53]
    - name: worker-1
      networkConfig: *bond
    - name: worker-2
      networkConfig:
        <<: *bond
        interfaces:
        - <<: *eno1
          mtu: 9000
";

#[tests::case]
fn an_anchor_in_one_host_is_good_in_another() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("install-config.yaml");
    fs::write(&path, ANCHORS).unwrap();
    let found = load(&[&path]);
    assert_eq!(*nmgen::diagnose(&found), []);
    let dns = "dns-resolver:\n  config:\n    server:\n    - 192.0.2.53\n";
    let interfaces = "interfaces:\n- name: eno1\n  type: ethernet\n  state: up\n  ipv4:\n    \
        enabled: true\n    dhcp: true\n";
    let expected = [
        format!("{interfaces}{dns}"),
        format!("{interfaces}{dns}"),
        format!("{dns}{interfaces}  mtu: 9000\n"),
    ];
    assert_eq!(found.hosts.iter().map(text).collect::<Vec<_>>(), expected);
}

#[tests::case]
fn a_secret_is_found_in_another_file_whatever_the_order() {
    let place = tempfile::tempdir().unwrap();
    let secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: net}\n\
        stringData: {nmstate: \"interfaces: [{name: eno1, type: ethernet}]\"}\n";
    let host = "apiVersion: metal3.io/v1alpha1\nkind: BareMetalHost\n\
        metadata: {name: worker-0, namespace: metal}\n\
        spec: {preprovisioningNetworkDataName: net, bootMACAddress: 52:54:00:00:00:0A}\n";
    let (one, other) = (place.path().join("secret.yaml"), place.path().join("host.json"));
    fs::write(&one, secret).unwrap();
    let value: serde_yaml::Value = serde_yaml::from_str(host).unwrap();
    fs::write(&other, serde_json::to_string(&value).unwrap()).unwrap();
    for paths in [[&one, &other], [&other, &one]] {
        let loaded = load(&paths.map(PathBuf::as_path));
        assert_eq!(*loaded.diagnostics, []);
        let [host] = loaded.hosts.as_slice() else { unreachable!("{:?}", loaded.hosts) };
        assert_eq!(host.name.as_deref(), Some("worker-0"));
        assert_eq!(nics(host), [(None, "52:54:00:00:00:0a".to_owned())]);
        assert_eq!(text(host), "interfaces: [{name: eno1, type: ethernet}]");
    }
    let alone = load(&[&one]).hosts;
    assert_eq!(alone[0].name.as_deref(), Some("net"));
    fs::write(&one, secret.replace("nmstate:", "other:")).unwrap();
    let told: Vec<String> = load(&[&one, &other])
        .diagnostics
        .into_iter()
        .map(|diagnostic| diagnostic.message)
        .collect();
    assert!(told.iter().any(|message| message == "the Secret net has no key nmstate"), "{told:?}");
    // The fault of a document is told, and not a second time at the host.
    for key in ["stringData", "data"] {
        fs::write(&one, secret.replace("stringData", key).replace("interfaces: [", "[[")).unwrap();
        let told = load(&[&one, &other]).diagnostics;
        assert!(told.len() == 1 && told[0].rule.name != "secret-reference", "{told:?}");
    }
}

/// The installer wants addresses of all cards, and names of those that a document is about.
#[tests::case]
fn a_card_of_an_agent_config_needs_a_name_where_the_host_has_a_document() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("agent-config.yaml");
    let read = |cards: &str, network: &str| {
        let text = format!(
            "apiVersion: v1beta1\nkind: AgentConfig\nhosts:\n- hostname: worker-0\n  interfaces: [{cards}]\n{network}"
        );
        fs::write(&path, text).unwrap();
        let loaded = load(&[&path]);
        let told: Vec<String> =
            loaded.diagnostics.iter().map(|diagnostic| diagnostic.message.clone()).collect();
        (told, loaded.hosts[0].nics.len())
    };
    let nameless = "{macAddress: 52:54:00:00:00:01}";
    let both = "{macAddress: 52:54:00:00:00:01}, {name: eno2, macAddress: 52:54:00:00:00:02}";
    let network = "  networkConfig: {interfaces: [{name: eno1, type: ethernet, state: up}]}\n";
    assert_eq!(read(nameless, ""), (Vec::new(), 0));
    assert_eq!(
        read(both, "  networkConfig:\n"),
        (vec!["networkConfig has no value".to_owned()], 1)
    );
    assert_eq!(read(both, network).0, ["this NIC has no name"]);
    assert_eq!(read("{name: eno1}", "").0, ["this NIC has no macAddress"]);
    let (told, _) = read("{macAddress: 52-54}", "");
    assert_eq!(told, ["\"52-54\" is not a MAC address"]);
}

#[tests::case]
fn sources_are_read_together_and_from_standard_input() {
    let directory = fixtures();
    let paths = ["install-config.yaml", "hosts", "assisted", "policies.yaml"];
    let paths = paths.map(|name| directory.join(name));
    // The cluster's name is the install-config's.
    let nameless = |host: Host| Host { cluster: None, ..host };
    let together = load(&paths.each_ref().map(PathBuf::as_path)).hosts;
    assert!(together.iter().all(|host| host.cluster.as_deref() == Some("ostest")));
    let together: Vec<Host> = together.into_iter().map(nameless).collect();
    let one_by_one: Vec<Host> =
        paths.iter().flat_map(|path| load(&[path]).hosts).map(nameless).collect();
    assert_eq!(together, one_by_one);

    let place = tempfile::tempdir().unwrap();
    let mut generate = Command::new(program::nmgen());
    generate.args(["generate", "--to", "hosts", "-o", "out"]).current_dir(place.path());
    generate.args([&directory.join("agent-config.yaml"), Path::new("-")]);
    let policies = fs::read(directory.join("bare-metal-hosts.yaml")).unwrap();
    program::with_input(&mut generate, policies).unwrap().exits(0);
    for name in HOSTS {
        let written = fs::read_to_string(place.path().join(format!("out/{name}.yml"))).unwrap();
        assert_eq!(written, document(name));
    }
}

#[tests::case]
fn a_directory_of_manifests_is_read_by_its_content() {
    let place = tempfile::tempdir().unwrap();
    fs::copy(fixtures().join("nmstate-configs.yaml"), place.path().join("99-a.yaml")).unwrap();
    let notes = "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n";
    fs::write(place.path().join("namespace.yaml"), notes).unwrap();
    let loaded = load(&[place.path()]);
    let names: Vec<&str> = loaded.hosts.iter().filter_map(|host| host.name.as_deref()).collect();
    assert_eq!(names, HOSTS);
    let rules: Vec<&str> = loaded.diagnostics.iter().map(|found| found.rule.name).collect();
    assert_eq!(rules, ["unused-file"]);
}

/// A GitOps repository's directory: manifests under either extension, documents beside them, more in a subdirectory.
#[tests::case]
fn a_directory_is_read_by_content_and_tells_what_it_skips() {
    let place = tempfile::tempdir().unwrap();
    let copy = |from: &str, to: &str| {
        fs::create_dir_all(place.path().join(to).parent().unwrap()).unwrap();
        fs::copy(fixtures().join(from), place.path().join(to)).unwrap();
    };
    copy("machine-configs.yaml", "00-br-ex.yml");
    copy("hosts/worker-0.yml", "worker-9.yml");
    copy("hosts/worker-0.yml", "site-b/worker-0.yml");
    fs::create_dir(place.path().join("notes")).unwrap();
    // A document with a manifest's word, and another program's manifest, whose faults are told there.
    let write = |name: &str, text: &str| fs::write(place.path().join(name), text).unwrap();
    write("worker-8.yml", "interfaces: [{name: eno1, description: 'apiVersion: v1'}]\n");
    write("map.yml", "apiversion: v1\nkind: ConfigMap\n");
    let loaded = load(&[place.path()]);
    let names: Vec<&str> = loaded.hosts.iter().filter_map(|host| host.name.as_deref()).collect();
    assert_eq!(names, ["master-0", "worker-0", "cluster", "worker-8", "worker-9"]);
    let told: Vec<String> = loaded.diagnostics.iter().map(Diagnostic::one_line).collect();
    let at = |name: &str| place.path().join(name).display().to_string();
    let expected = [
        format!("{}: this subdirectory is not read [directory-skipped]", at("site-b")),
        format!(
            "{}: nothing here describes a host's network: ConfigMap only [unused-file]",
            at("map.yml")
        ),
    ];
    assert_eq!(told, expected);
}

#[tests::case]
fn a_node_has_several_policies_and_is_shown_with_their_names() {
    let place = tempfile::tempdir().unwrap();
    let policy = |name: &str, vlan: u32| {
        format!(
            "---\napiVersion: nmstate.io/v1\nkind: NodeNetworkConfigurationPolicy\n\
             metadata: {{name: {name}}}\nspec:\n  nodeSelector: {{kubernetes.io/hostname: worker-0}}\n  \
             desiredState:\n    interfaces:\n    - name: eth1.{vlan}\n      type: vlan\n      state: up\n      \
             vlan: {{base-iface: eth1, id: {vlan}}}\n"
        )
    };
    let path = place.path().join("policies.yaml");
    fs::write(&path, policy("storage", 10) + &policy("tenants", 20)).unwrap();
    let found = nmgen::diagnose(&load(&[&path]));
    assert!(!found.has_errors(), "{found:?}");
    let shown = Command::new(program::nmgen()).arg("show").arg(&path).output().unwrap();
    let shown = shown.out();
    for name in ["storage", "tenants"] {
        assert!(shown.contains(&format!("worker-0, policy {name}\n")), "{shown}");
    }
    fs::write(&path, policy("storage", 10) + &policy("storage", 20)).unwrap();
    let found = nmgen::diagnose(&load(&[&path]));
    assert!(found.iter().any(|found| found.rule.name == "host-twice"), "{found:?}");
}

const GOOD: &str = "192.0.2.20\n";
const BAD: &str = "192.0.2.200.1\n";

/// The only diagnostic: the bad address.
fn fault(path: &Path) -> Diagnostic {
    let found = nmgen::diagnose(&load(&[path]));
    let mut found = found.into_iter().filter(|found| found.rule.name != "bridge-missing");
    let fault = found.next().unwrap();
    assert_eq!(found.next(), None, "{}", path.display());
    assert_eq!(fault.rule.name, "address-syntax");
    fault
}

#[tests::case]
fn a_fault_is_shown_where_it_was_written() {
    let place = tempfile::tempdir().unwrap();
    let files = [
        "hosts/worker-0.yml",
        "install-config.yaml",
        "agent-config.yaml",
        "bare-metal-hosts.yaml",
        "nmstate-configs.yaml",
        "policies.yaml",
        "cluster-instance.yaml",
        "site-config.yaml",
        "network-configs/worker-0.yaml",
        "node-network-states.yaml",
        "acm-policies.yaml",
    ];
    for file in files {
        let text = fs::read_to_string(fixtures().join(file)).unwrap();
        assert_eq!(text.matches(GOOD).count(), 1, "{file}");
        for breaks in ["\n", "\r\n"] {
            let text = text.replace(GOOD, BAD).replace('\n', breaks);
            let path = place.path().join("a.yaml");
            fs::write(&path, &text).unwrap();
            let at = fault(&path).place;
            assert_eq!(at.decoded, None, "{file}");
            let start = at.position.unwrap().start;
            let line = text.lines().nth(start.line as usize - 1).unwrap();
            assert_eq!(&line[start.column as usize - 1..], BAD.trim(), "{file}");
        }
    }
    let tree = place.path().join("tree/host1");
    fs::create_dir_all(&tree).unwrap();
    for file in ["mac_interface.ini", "ymlFile1.yml"] {
        let text = fs::read_to_string(fixtures().join("assisted/host1").join(file)).unwrap();
        fs::write(tree.join(file), text.replace(GOOD, BAD)).unwrap();
    }
    let at = fault(&place.path().join("tree")).place;
    assert_eq!(&*at.file, tree.join("ymlFile1.yml").display().to_string());
    assert!(at.position.unwrap().line.ends_with(&format!("ip: {}", BAD.trim())));
}

#[tests::case]
fn a_fault_in_an_encoded_document_is_shown_in_both() {
    let place = tempfile::tempdir().unwrap();
    let document = document("worker-0").replace(GOOD, BAD);
    let line = document.lines().position(|line| line.contains(BAD.trim())).unwrap() + 1;
    let encoded = |bytes: &[u8]| {
        let output = program::with_input(Command::new("base64").arg("-w0"), bytes);
        output.unwrap().out().to_owned()
    };
    let escaped: String = document.bytes().map(|byte| format!("%{byte:02x}")).collect();
    let secret = format!(
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: worker-0\ndata:\n  nmstate: {}\n",
        encoded(document.as_bytes())
    );
    let machine_config = |source: &str| {
        let files = "- path: /etc/nmstate/openshift/worker-0.yml\n  contents:";
        let files = format!("{files}\n    source: '{source}'\n").replace('\n', "\n      ");
        format!(
            "kind: MachineConfig\napiVersion: machineconfiguration.openshift.io/v1\n\
             spec:\n  config:\n    storage:\n      files:\n      {files}"
        )
    };
    let cases = [
        (secret, (6, 12)),
        (machine_config(&format!("data:,{escaped}")), (9, 19)),
        (machine_config(&format!("data:;base64,{}", encoded(document.as_bytes()))), (9, 19)),
    ];
    for (text, outer) in cases {
        let path = place.path().join("a.yaml");
        fs::write(&path, &text).unwrap();
        let at = fault(&path).place;
        let position = at.position.unwrap().start;
        assert_eq!((position.line, position.column), outer, "{text}");
        let decoded = at.decoded.unwrap();
        assert_eq!(decoded.start.line as usize, line);
        assert!(decoded.line[decoded.start.column as usize - 1..].starts_with(BAD.trim()));
    }
}

/// Values that are wrong almost everywhere.
const ODD: &[&str] = &[
    "[]",
    "{}",
    "~",
    "-1",
    "'%'",
    "[[x]]",
    "{a: {b: c}}",
    "|",
    "\u{a0}",
    "*a",
    "data:;base64,=",
    "\"é",
];

#[tests::case]
fn no_damage_to_a_source_makes_it_panic() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("a.yaml");
    let mut odd = ODD.iter().cycle();
    let mut damaged = 0;
    for Told { source, .. } in SOURCES.iter().filter(|told| told.source.ends_with(".yaml")) {
        let text = fs::read_to_string(fixtures().join(source)).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        for (index, line) in lines.iter().enumerate() {
            let Some((key, _)) = line.split_once(':') else { continue };
            let mut changed = lines.clone();
            let value = format!("{key}: {}", odd.next().unwrap());
            changed[index] = &value;
            let whole = changed.join("\n");
            // The file truncated after the change, and the whole file.
            for text in [&whole[..whole.len() - lines[index + 1..].join("\n").len()], &whole] {
                fs::write(&path, text).unwrap();
                drop(nmgen::diagnose(&load(&[&path])));
                damaged += 1;
            }
        }
    }
    assert!(damaged > 500, "{damaged}");
}
