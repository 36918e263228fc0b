//! NICs beside the document: where the two differ, and the targets' output; and documents of one stage only.

use nmgen::diagnostic::{Diagnostic, Place};
use nmgen::output::{File, Form, Options, Output};
use nmgen::source::{Host, Hosts, Nic, Source, Stage};
use nmgen::{Mac, Outcome};

const DOCUMENT: &str = "\
interfaces:
- name: eno1 # the first
  type: ethernet
  mac-address: 52-54-00-00-00-0A
- name: eno2
  type: ethernet
  ipv4:
    enabled: true
    dhcp: true
";

const WITH_MAC: &str = "\
interfaces:
- name: eno1
  type: ethernet
  mac-address: 52-54-00-00-00-0A
- name: eno2
  type: ethernet
  ipv4:
    enabled: true
    dhcp: true
  mac-address: \"52:54:00:00:00:0b\"
";

fn host(nics: &[(Option<&str>, &str)]) -> Host {
    host_with(DOCUMENT, nics)
}

fn host_with(document: &str, nics: &[(Option<&str>, &str)]) -> Host {
    let source = Source { name: "worker-0.yml".into(), text: document.into() };
    let mut host = Hosts::document(&source).hosts.remove(0);
    host.name = Some("worker-0".to_owned());
    let place = |file: &str| Place::file(file);
    host.nics = nics
        .iter()
        .map(|(name, mac)| Nic {
            name: name.map(str::to_owned),
            mac_address: Mac::parse(mac).unwrap(),
            place: place("agent-config.yaml"),
        })
        .collect();
    host
}

fn convert(host: Host, form: Form) -> (String, Outcome) {
    let hosts = Hosts { hosts: vec![host], ..Hosts::default() };
    let mut outcome = form.convert(hosts);
    let options = Options { role: Some("worker".to_owned()), ..Options::default() };
    let (output, losses) = form.render(&outcome.hosts, &options).unwrap();
    outcome.diagnostics.merge(losses);
    let text = match output {
        Output::Named(File { content, .. }) | Output::File(content) => {
            String::from_utf8(content).unwrap()
        }
        Output::Directory(files) => files.iter().map(|file| file.path() + "\n").collect(),
    };
    (text, outcome)
}

fn found(outcome: &Outcome) -> Vec<(&str, &str)> {
    let found = outcome.diagnostics.iter();
    found.map(|found| (found.rule.name, &*found.place.file)).collect()
}

const MAP: &[(Option<&str>, &str)] =
    &[(Some("eno1"), "52:54:00:00:00:0a"), (Some("eno2"), "52:54:00:00:00:0b")];

#[tests::case]
fn the_archive_has_their_mac_addresses_in_the_document() {
    let (archive, outcome) = convert(host(MAP), Form::Initrd);
    assert!(archive.contains(WITH_MAC), "{archive}");
    assert!(!archive.contains("52-54-00-00-00-0b.yml"));
    assert_eq!(found(&outcome), []);
}

#[tests::case]
fn the_archive_has_a_host_under_its_boot_mac_address_where_no_other_is_known() {
    let pipeline = Form::Initrd;
    let (archive, _) = convert(host(&[(None, "52:54:00:00:00:0c")]), pipeline);
    assert_eq!(archive.matches(DOCUMENT).count(), 1);
    // A link to the host's only document.
    assert!(archive.contains("etc/nmgen/52-54-00-00-00-0c.yml\0\0\0worker-0.yml"), "{archive:?}");
    assert!(archive.contains("etc/nmgen/worker-0.yml\0"));
    let (archive, _) = convert(host(&[(None, "52:54:00:00:00:0a")]), pipeline);
    assert_eq!(archive.matches(DOCUMENT).count(), 1);
}

#[tests::case]
fn an_nmstateconfig_has_the_map_and_what_only_the_document_tells() {
    let pipeline = Form::NmStateConfig;
    let (text, outcome) = convert(host(&MAP[1..]), pipeline);
    let expected = "\
spec:
  interfaces:
  - name: eno2
    macAddress: 52:54:00:00:00:0b
  - name: eno1
    macAddress: 52:54:00:00:00:0a
  config:
    interfaces:
    - name: eno1
";
    assert!(text.contains(expected), "{text}");
    assert_eq!(found(&outcome), []);
    let (_, outcome) = convert(host(&[]), pipeline);
    assert_eq!(found(&outcome), [("nic-without-mac", "worker-0.yml")]);
    let place = outcome.diagnostics[0].place.position.as_ref().unwrap();
    assert_eq!((place.start.line, place.start.column), (5, 9));
}

#[tests::case]
fn kernel_arguments_name_the_nics_by_them() {
    let (line, _) = convert(host(MAP), Form::Kargs);
    let expected = "rd.neednet=1 ifname=eno1:52:54:00:00:00:0a ifname=eno2:52:54:00:00:00:0b ip=";
    assert!(line.starts_with(expected), "{line}");
}

#[tests::case]
fn a_target_without_a_place_for_them_says_so_once() {
    let without = [Form::Ignition, Form::MachineConfig, Form::BmhSecret];
    for target in without.into_iter().chain([Form::Keyfiles, Form::Gc, Form::Hosts]) {
        let (_, outcome) = convert(host(MAP), target);
        let mut expected = vec![("not-in-target", "agent-config.yaml")];
        if target == Form::MachineConfig {
            expected.push(("bridge-missing", "worker-0.yml"));
        }
        assert_eq!(found(&outcome), expected, "{target:?}");
        // The MAC address of eno1 is in the document.
        assert!(outcome.diagnostics[0].message.contains("hold 1 of the source's MAC addresses"));
    }
}

#[tests::case]
fn a_document_for_the_node_becomes_profiles_where_the_host_has_no_other() {
    let mut host = host(&[]);
    host.stage = Stage::Node;
    let (files, outcome) = convert(host, Form::Keyfiles);
    assert_eq!(files, "worker-0/eno1.nmconnection\nworker-0/eno2.nmconnection\n");
    assert_eq!(found(&outcome), [("bridge-missing", "worker-0.yml")]);
}

#[tests::case]
fn no_name_of_a_host_leads_out_of_a_target() {
    for name in ["../worker-0", "a/b", "", ".hidden", "a\nb"] {
        let mut host = host(&[]);
        host.name = Some(name.to_owned());
        let (files, outcome) = convert(host, Form::Ignition);
        assert_eq!(found(&outcome), [("host-file-name", "worker-0.yml")], "{name}");
        assert_eq!(files, "", "{name}");
    }
}

/// The differences of a document from a map of cards, each with the place in the document.
fn differences(document: &str, map: &[(Option<&str>, &str)]) -> Vec<String> {
    let hosts = Hosts { hosts: vec![host_with(document, map)], ..Hosts::default() };
    let found = nmgen::diagnose(&hosts)
        .into_iter()
        .filter(|diagnostic| diagnostic.rule.name == "nic-map-differs");
    let line =
        |diagnostic: &Diagnostic| diagnostic.place.position.as_ref().map_or(0, |at| at.start.line);
    found.map(|diagnostic| format!("{}: {}", line(&diagnostic), diagnostic.message)).collect()
}

#[tests::case]
fn a_map_of_cards_that_differs_from_the_document_is_told() {
    const OTHER: &str = "52:54:00:00:00:0c";
    let told = |map: &[(Option<&str>, &str)]| differences(DOCUMENT, map);
    assert_eq!(told(MAP), [""; 0]);
    // A boot card has no name.
    assert_eq!(told(&[(None, OTHER)]), [""; 0]);
    let expected = "4: eno1 has 52:54:00:00:00:0a here and 52:54:00:00:00:0c in the map of cards (agent-config.yaml)";
    assert_eq!(told(&[(Some("eno1"), OTHER)]), [expected]);
    let expected =
        "2: 52:54:00:00:00:0a is eno1 here and lan in the map of cards (agent-config.yaml)";
    assert_eq!(told(&[(Some("lan"), "52:54:00:00:00:0a")]), [expected]);
    let expected = "5: the map of cards has lan, which this document does not; it has eno2 (agent-config.yaml)";
    assert_eq!(told(&[(Some("lan"), OTHER)]), [expected]);
    // Nothing says which card the document's others are, but each is known.
    assert_eq!(told(&[(Some("eno2"), "52:54:00:00:00:0b"), (Some("lan"), OTHER)]), [""; 0]);
    // The document has the name, for something else or below it.
    for more in [
        "- {name: lan, type: dummy}\n",
        "- {name: lan.5, type: vlan, vlan: {base-iface: lan, id: 5}}\n",
        "- {name: bond0, type: bond, link-aggregation: {mode: active-backup, port: [lan]}}\n",
    ] {
        for mac in [OTHER, "52:54:00:00:00:0a"] {
            let document = format!("{DOCUMENT}{more}");
            assert_eq!(differences(&document, &[(Some("lan"), mac)]), [""; 0], "{more}");
        }
    }
}
