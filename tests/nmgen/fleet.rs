//! The checks across all sources: diagnostics by host and place, and cases without any.

use std::fmt::Write;
use std::fs;

use nmgen::diagnostic::{Diagnostic, Excerpt};
use tests::{
    fleet, measure,
    program::{self, Exits as _},
};

/// Files, and their diagnostics as `rule file:line`, or `rule file` without a line.
pub(crate) fn told(files: &[(&str, &str)]) -> Vec<String> {
    diagnose(files, |at| format!(":{}", at.start.line))
}

/// Files, and their diagnostics with the line's text from the place on.
pub(crate) fn told_of(files: &[(&str, &str)]) -> Vec<String> {
    diagnose(files, |at| {
        format!(": {}", at.line.chars().skip(at.start.column as usize - 1).collect::<String>())
    })
}

/// The messages alone, without the names of directories.
pub(crate) fn messages(files: &[(&str, &str)]) -> Vec<String> {
    with_findings(files, |found, root| found.message.replace(root, ""))
}

fn diagnose(files: &[(&str, &str)], shown: fn(&Excerpt) -> String) -> Vec<String> {
    with_findings(files, |found, root| {
        let at = found.place.position.as_ref().map(shown);
        let file = found.place.file.replace(root, "");
        format!("{} {file}{}", found.rule.name, at.unwrap_or_default())
    })
}

/// The findings of files below a root.
fn with_findings(
    files: &[(&str, &str)],
    shown: impl Fn(&Diagnostic, &str) -> String,
) -> Vec<String> {
    let place = tempfile::tempdir().unwrap();
    let mut paths: Vec<String> = Vec::new();
    for (name, text) in files {
        let path = place.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        let first = place.path().join(name.split('/').next().unwrap()).display().to_string();
        if !paths.contains(&first) {
            paths.push(first);
        }
    }
    let mut found = nmgen::diagnose(&nmgen::source::load(&paths).unwrap());
    // The documents of these cases are fragments.
    found.retain(|found| !["no-default-route", "no-name-server"].contains(&found.rule.name));
    let root = format!("{}/", place.path().display());
    found.iter().map(|found| shown(found, &root)).collect()
}

/// 10,000 hosts take 200 MiB, the program's own memory aside.
const MOST_MEMORY_OF_A_HOST: u64 = 20 << 10;

#[tests::case]
fn a_host_of_a_fleet_takes_little_memory() {
    let place = tempfile::tempdir().unwrap();
    let peak = |hosts: usize| {
        let path = place.path().join("agent-config.yaml");
        fs::write(&path, fleet::agent_config(hosts)).unwrap();
        let mut command = std::process::Command::new(program::nmgen());
        command.arg("check").arg(path);
        // The threads' turns add to a peak, and never take from it: the least of several is the cost.
        let peaks = (0..5).map(|_| {
            let cost = measure::run(&mut command).unwrap();
            assert_eq!(cost.exit_code, Some(0));
            cost.peak_memory
        });
        peaks.min().unwrap()
    };
    let (few, many) = (200, 1_000);
    let of_a_host = peak(many).saturating_sub(peak(few)) / (many - few) as u64;
    assert!(of_a_host <= MOST_MEMORY_OF_A_HOST, "{of_a_host} bytes a host");
}

/// An install-config with these numbers of replicas.
pub(crate) fn install_config(masters: &str, workers: &str, platform: &str) -> String {
    format!(
        "apiVersion: v1\nbaseDomain: example.com\ncontrolPlane:\n  name: master\n{masters}\
         compute:\n- name: worker\n{workers}platform:\n  {platform}\n"
    )
}

/// An agent-config with hosts, by name and role.
fn agent_config(hosts: &[(&str, &str)]) -> String {
    let mut text = "apiVersion: v1beta1\nkind: AgentConfig\nhosts:\n".to_owned();
    for (index, (name, role)) in hosts.iter().enumerate() {
        let role = if role.is_empty() { String::new() } else { format!("  role: {role}\n") };
        let map = format!("interfaces: [{{name: eno1, macAddress: 52:54:00:00:00:0{index}}}]");
        write!(text, "- hostname: {name}\n{role}  {map}\n  networkConfig: {ONE_NIC}\n").unwrap();
    }
    text
}

const ONE_NIC: &str =
    "{interfaces: [{name: eno1, type: ethernet, state: up, ipv4: {enabled: true, dhcp: true}}]}";
pub(crate) const ONE: &str = "  replicas: 1\n";
const TWO: &str = "  replicas: 2\n";
pub(crate) const NONE: &str = "  replicas: 0\n";
const UNSAID: &str = "";
const MASTER: (&str, &str) = ("master-0", "master");
const OTHER_MASTER: (&str, &str) = ("master-1", "master");
const WORKER: (&str, &str) = ("worker-0", "worker");

/// Replicas of the pools, hosts, and the expected diagnostics.
type Case = (
    &'static str,
    &'static str,
    &'static str,
    &'static [(&'static str, &'static str)],
    &'static [&'static str],
);

const REPLICAS: &[Case] = &[
    (ONE, NONE, "none: {}", &[MASTER], &[]),
    (ONE, ONE, "none: {}", &[MASTER, WORKER], &[]),
    (ONE, ONE, "none: {}", &[MASTER], &["role-without-hosts install.yaml:8"]),
    (ONE, ONE, "none: {}", &[MASTER, OTHER_MASTER], &["role-without-hosts install.yaml:8"]),
    (ONE, TWO, "none: {}", &[MASTER, WORKER], &["fewer-hosts-than-replicas install.yaml:8"]),
    (ONE, UNSAID, "none: {}", &[MASTER], &["role-without-hosts install.yaml:7"]),
    (UNSAID, NONE, "none: {}", &[MASTER], &["fewer-hosts-than-replicas install.yaml:4"]),
    // More hosts than replicas may be intended.
    (ONE, NONE, "none: {}", &[MASTER, WORKER], &[]),
    // A host without a role counts for any.
    (ONE, ONE, "none: {}", &[("a", ""), ("b", "")], &[]),
    (ONE, ONE, "none: {}", &[("a", "")], &["role-without-hosts install.yaml:8"]),
    (ONE, ONE, "none: {}", &[MASTER, ("a", "")], &[]),
    // The installer provisions these machines.
    (ONE, TWO, "aws: {region: us-east-1}", &[MASTER], &[]),
    (ONE, "  replicas: two\n", "none: {}", &[MASTER], &["source-shape install.yaml:8"]),
];

#[tests::case]
fn roles_without_hosts_are_told_where_their_replicas_stand() {
    for (masters, workers, platform, hosts, expected) in REPLICAS {
        let install = install_config(masters, workers, platform);
        let files = [("install.yaml", install.as_str()), ("agent.yaml", &agent_config(hosts))];
        assert_eq!(told(&files), *expected, "{install}\n{hosts:?}");
    }
}

/// The one with more replicas is meant, of equal ones the first.
#[tests::case]
fn of_two_install_configs_one_has_the_number_of_hosts() {
    let agent = agent_config(&[MASTER, WORKER]);
    let few = |first: &str, second: &str| {
        let of = |workers: &str| install_config(ONE, workers, "none: {}");
        told(&[("a.yaml", &of(first)), ("b.yaml", &of(second)), ("agent.yaml", &agent)])
    };
    assert_eq!(few(ONE, TWO), ["fewer-hosts-than-replicas b.yaml:8"]);
    assert_eq!(few(TWO, ONE), ["fewer-hosts-than-replicas a.yaml:8"]);
    assert_eq!(few(TWO, TWO), ["fewer-hosts-than-replicas a.yaml:8"]);
}

/// A single node, and a compact cluster of three: masters are workers too.
#[tests::case]
fn hosts_have_the_only_role_there_is() {
    let roles = |masters, workers| -> Vec<Option<String>> {
        let place = tempfile::tempdir().unwrap();
        let files = ["agent.yaml", "install.yaml"].map(|name| place.path().join(name));
        fs::write(&files[0], agent_config(&[("a", "")])).unwrap();
        fs::write(&files[1], install_config(masters, workers, "none: {}")).unwrap();
        let paths = files.each_ref().map(|path| path.display().to_string());
        let hosts = nmgen::source::load(&paths).unwrap().hosts;
        hosts.into_iter().map(|host| host.role).collect()
    };
    assert_eq!(roles(ONE, NONE), [Some("master".to_owned())]);
    assert_eq!(roles(ONE, ONE), [None]);
}

/// Kubernetes has two names for the control plane's role.
#[tests::case]
fn the_role_of_the_control_plane_has_two_names() {
    let install = install_config(ONE, NONE, "none: {}");
    let policy = format!(
        "apiVersion: nmstate.io/v1\nkind: NodeNetworkConfigurationPolicy\n\
         metadata: {{name: a}}\nspec:\n  nodeSelector:\n    kubernetes.io/hostname: a\n    \
         node-role.kubernetes.io/control-plane: ''\n  desiredState: {ONE_NIC}\n"
    );
    assert_eq!(told(&[("install.yaml", &install), ("policy.yaml", &policy)]), [""; 0]);
}

/// `cluster.yml` is for every node, of any role unless one is given.
#[tests::case]
fn a_document_for_all_nodes_serves_every_role() {
    let install = install_config(TWO, TWO, "none: {}");
    let files = [("install.yaml", install.as_str()), ("hosts/cluster.yml", ONE_NIC)];
    assert_eq!(told(&files), [""; 0]);
}

/// The unreadable file may contain the missing hosts.
#[tests::case]
fn nothing_is_missing_from_sources_that_could_not_be_read() {
    let install = install_config(ONE, ONE, "none: {}");
    let agent = agent_config(&[MASTER]) + "- hostname: [worker-0]\n  role: worker\n";
    let found = told(&[("install.yaml", &install), ("agent.yaml", &agent)]);
    assert!(found.contains(&"source-shape agent.yaml:8".to_owned()), "{found:?}");
    assert!(!found.iter().any(|found| found.starts_with("role-without-hosts")), "{found:?}");
}

/// A host with a VLAN, addresses and an optional MTU, each on its own line.
fn with_vlan(name: &str, mac: &str, ip: &str, vlan: u32, mtu: &str) -> String {
    format!(
        "- {name}\n  interfaces:\n  - name: eno1\n    macAddress: {mac}\n  networkConfig:\n    \
         interfaces:\n    - name: eno1\n      type: ethernet\n{mtu}    - name: vlan\n      \
         type: vlan\n      vlan:\n        base-iface: eno1\n        id: {vlan}\n      ipv4:\n        \
         enabled: true\n        address:\n        - ip: {ip}\n          prefix-length: 24\n"
    )
}

fn hosts_of(hosts: &[String]) -> String {
    format!("apiVersion: v1beta1\nkind: AgentConfig\nhosts:\n{}", hosts.concat())
}

const MTU: &str = "      mtu: 9000\n";

#[tests::case]
fn the_odd_one_of_a_role_is_shown_at_its_value() {
    let host = |number: u32, vlan, mtu| {
        let name = format!("hostname: w{number}\n  role: worker");
        with_vlan(
            &name,
            &format!("52:54:00:00:00:0{number}"),
            &format!("192.0.2.{number}"),
            vlan,
            mtu,
        )
    };
    let config = hosts_of(&[host(1, 5, MTU), host(2, 5, MTU), host(3, 6, MTU)]);
    assert_eq!(told_of(&[("a.yaml", &config)]), ["vlan-differs-in-role a.yaml: 6"]);
    let config = hosts_of(&[host(1, 5, MTU), host(2, 5, MTU), host(3, 5, "")]);
    assert_eq!(told_of(&[("a.yaml", &config)]), ["mtu-differs-in-role a.yaml: eno1"]);
    let config = hosts_of(&[host(1, 5, ""), host(2, 5, MTU), host(3, 5, "")]);
    assert_eq!(told_of(&[("a.yaml", &config)]), ["mtu-differs-in-role a.yaml: 9000"]);
    // Two against one is a majority; one against one is not.
    let config = hosts_of(&[host(1, 5, ""), host(2, 6, MTU)]);
    assert_eq!(told_of(&[("a.yaml", &config)]), [""; 0]);
}

/// The installer has the roles, files of the same names the documents.
#[tests::case]
fn a_role_may_be_told_by_another_source() {
    let names = ["w1", "w2", "w3"];
    let mut install = "apiVersion: v1\nplatform:\n  baremetal:\n    hosts:\n".to_owned();
    for name in names {
        writeln!(install, "    - {{name: {name}, role: worker}}").unwrap();
    }
    let document = |mtu: u32| format!("interfaces: [{{name: eno1, type: ethernet, mtu: {mtu}}}]\n");
    let (usual, odd) = (document(9000), document(1500));
    let files = [
        ("install.yaml", install.as_str()),
        ("hosts/w1.yml", &usual),
        ("hosts/w2.yml", &odd),
        ("hosts/w3.yml", &usual),
    ];
    assert_eq!(told(&files), ["mtu-differs-in-role hosts/w2.yml:1"]);
}

/// The host name of an agent-config is optional.
#[tests::case]
fn hosts_without_a_name_are_compared_too() {
    let host = |mac: &str, ip: &str| with_vlan("role: worker", mac, ip, 5, MTU);
    let config =
        hosts_of(&[host("52:54:00:00:00:01", "192.0.2.1"), host("52-54-00-00-00-01", "192.0.2.1")]);
    let expected = [
        "host-unnamed a.yaml: role: worker",
        "host-unnamed a.yaml: role: worker",
        "mac-form a.yaml: 52-54-00-00-00-01",
        "mac-on-two-hosts a.yaml: 52-54-00-00-00-01",
        "address-on-two-hosts a.yaml: 192.0.2.1",
    ];
    assert_eq!(told_of(&[("a.yaml", &config)]), expected);
}

#[tests::case]
fn files_of_which_none_is_of_use_are_an_error() {
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";
    assert_eq!(
        told(&[("a.yaml", map), ("b.yaml", map)]),
        ["no-hosts a.yaml", "unused-file a.yaml"]
    );
    assert_eq!(told(&[("a.yaml", map), ("hosts/a.yml", ONE_NIC)]), ["unused-file a.yaml"]);
}

fn machine_config(role: &str, document: &str) -> String {
    let source: String = document.bytes().map(|byte| format!("%{byte:02x}")).collect();
    format!(
        "kind: MachineConfig\napiVersion: machineconfiguration.openshift.io/v1\n\
         metadata:\n  labels: {{machineconfiguration.openshift.io/role: {role}}}\n\
         spec:\n  config:\n    storage:\n      files:\n      \
         - path: /etc/nmstate/openshift/cluster.yml\n        contents: {{source: 'data:,{source}'}}\n"
    )
}

#[tests::case]
fn each_role_has_one_document_for_all_its_nodes() {
    let other = ONE_NIC.replace("eno1", "eno2");
    let of = |second: &str, document: &str| {
        told(&[
            ("a.yaml", &machine_config("worker", ONE_NIC)),
            ("b.yaml", &machine_config(second, document)),
        ])
    };
    let without_bridge = ["bridge-missing a.yaml:9", "bridge-missing b.yaml:9"];
    let twice = ["bridge-missing a.yaml:9", "bridge-missing b.yaml:9", "host-twice b.yaml:9"];
    assert_eq!(of("worker", &other), twice);
    assert_eq!(of("worker", ONE_NIC), without_bridge);
    assert_eq!(of("master", &other), without_bridge);
}

/// The targets with one file, or one object, per host.
#[tests::case]
fn two_documents_for_one_file_are_an_error_and_nothing_is_written() {
    let place = tempfile::tempdir().unwrap();
    let other = ONE_NIC.replace("eno1", "eno2");
    let write = |name: &str, text: &str| fs::write(place.path().join(name), text).unwrap();
    write("a.yaml", &machine_config("master", ONE_NIC));
    write("b.yaml", &machine_config("worker", &other));
    write("same.yaml", &machine_config("worker", ONE_NIC));
    write("one.yml", &format!("hostname: {{config: a}}\n{}", ONE_NIC.trim_matches(['{', '}'])));
    write("two.yml", &format!("hostname: {{config: a}}\n{}", other.trim_matches(['{', '}'])));
    let generate = |target: &str, sources: [&str; 2]| {
        let call = [&["generate", "--to", target, "-o", "OUT"][..], &sources].concat();
        program::nmgen_in(place.path(), &call)
    };
    let is_written = || place.path().join("OUT").exists();
    let with_cluster = ["keyfiles", "hosts", "ignition", "kargs", "initrd"];
    let cluster = with_cluster.map(|target| (target, ["a.yaml", "b.yaml"], "a.yaml:9"));
    let unnamed = with_cluster.into_iter().chain(["bmh-secret"]);
    let unnamed = unnamed.map(|target| (target, ["one.yml", "two.yml"], "one.yml"));
    for (target, sources, first) in cluster.into_iter().chain(unnamed) {
        let output = generate(target, sources);
        let told = output.err();
        assert_eq!(output.status.code(), Some(2), "{target}: {told}");
        assert!(told.contains("error[output-twice]") && told.contains(first), "{target}: {told}");
        assert!(told.contains(&format!("--> {}", sources[1])), "{target}: {told}");
        assert!(!is_written(), "{target}");
    }
    for target in with_cluster {
        let output = generate(target, ["a.yaml", "same.yaml"]);
        assert_eq!(output.status.code(), Some(0), "{target}: {output:?}");
        assert!(is_written(), "{target}");
        let out = place.path().join("OUT");
        fs::remove_dir_all(&out).or_else(|_| fs::remove_file(&out)).unwrap();
    }
}

#[tests::case]
fn addresses_that_every_host_has_and_absent_interfaces_are_no_contradiction() {
    let host = "interfaces:\n\
        - {name: lo, type: loopback, state: up, mac-address: 00:00:00:00:00:00, \
           ipv4: {enabled: true, address: [{ip: 127.0.0.1, prefix-length: 8}]}, \
           ipv6: {enabled: true, address: [{ip: \"::1\", prefix-length: 128}]}}\n\
        - {name: eno1, type: ethernet, state: up, \
           ipv6: {enabled: true, address: [{ip: \"fe80::1\", prefix-length: 64}]}}\n\
        - {name: old0, type: dummy, state: absent, mac-address: 52:54:00:00:00:01, \
           ipv4: {enabled: true, address: [{ip: 192.0.2.9, prefix-length: 24}]}}\n";
    let found = told(&[("hosts/a.yml", host), ("hosts/b.yml", host)]);
    assert!(!found.iter().any(|told| told.contains("-on-two-hosts")), "{found:?}");
}

/// A system may allow a process no further thread: none has room for the stack here.
#[tests::case]
fn a_fleet_is_read_where_no_thread_can_be_started() {
    let place = tempfile::tempdir().unwrap();
    let hosts: String = (0..4_000)
        .map(|host| {
            format!(
                "- hostname: worker-{host}\n  interfaces:\n  - name: eno1\n    macAddress: 52:54:00:00:{:02x}:{:02x}\n",
                host / 256,
                host % 256
            )
        })
        .collect();
    let text =
        format!("apiVersion: v1beta1\nkind: AgentConfig\nmetadata: {{name: a}}\nhosts:\n{hosts}");
    assert!(text.len() > 256 << 10);
    fs::write(place.path().join("agent-config.yaml"), text).unwrap();
    let run = |stack: &str| {
        let mut nmgen = std::process::Command::new(program::nmgen());
        nmgen.args(["check", "agent-config.yaml"]).current_dir(place.path());
        nmgen.env("RUST_MIN_STACK", stack).output().unwrap()
    };
    let none = (1_u64 << 60).to_string();
    let (alone, usual) = (run(&none), run("2097152"));
    assert_eq!(alone, usual, "{}", alone.err());
}
