//! `nmgen diff`: the changes of each host, and nothing else.

use tests::program::{self, Exits as _};

fn diff(old: &str, new: &str) -> String {
    let directory = program::fixtures().join("diff");
    program::nmgen_in(directory, &["diff", old, new]).exits(0).out().to_owned()
}

#[tests::case]
fn each_change_is_told_by_host_and_field_and_order_means_nothing() {
    let expected =
        std::fs::read_to_string(program::root().join("tests/fixtures/diff/expected.txt"));
    assert_eq!(diff("old", "new"), expected.unwrap());
}

const POLICIES: &str = "\
apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata: {name: storage}
spec:
  nodeSelector: {kubernetes.io/hostname: worker-0}
  desiredState: {interfaces: [{name: eth1, type: ethernet, state: up, mtu: 9000}]}
---
apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata: {name: tenants}
spec:
  nodeSelector: {kubernetes.io/hostname: worker-0}
  desiredState: {interfaces: [{name: eth2, type: ethernet, state: up}]}
";

const AGENT_CONFIG: &str = "\
apiVersion: v1beta1
kind: AgentConfig
hosts:
- hostname: worker-0
  role: worker
  interfaces: [{name: eno1, macAddress: 52:54:00:00:00:01}]
  networkConfig: {interfaces: [{name: eno1, type: ethernet, state: up}]}
";

/// The output for two texts, and the exit code with `--exit-code`.
fn of_texts(old: &str, new: &str) -> (String, Option<i32>) {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("old.yaml"), old).unwrap();
    std::fs::write(place.path().join("new.yaml"), new).unwrap();
    let arguments = ["diff", "--exit-code", "old.yaml", "new.yaml"];
    let output = program::nmgen_in(place.path(), &arguments);
    (output.out().to_owned(), output.status.code())
}

#[tests::case]
fn policies_and_roles_of_one_host_are_told_apart() {
    assert_eq!(of_texts(POLICIES, POLICIES), (String::new(), Some(0)));
    let changed = POLICIES.replace("mtu: 9000", "mtu: 1500");
    let expected = "worker-0, policy storage:\n  ~ interfaces[eth1].mtu: 9000 -> 1500\n";
    assert_eq!(of_texts(POLICIES, &changed), (expected.to_owned(), Some(1)));
    let renamed = POLICIES.replace("storage", "storage2");
    let expected = "worker-0, policy storage: removed\nworker-0, policy storage2: added\n";
    assert_eq!(of_texts(POLICIES, &renamed), (expected.to_owned(), Some(1)));
    let file = program::root().join("tests/fixtures/sources/machine-configs.yaml");
    let roles = std::fs::read_to_string(file).unwrap();
    assert_eq!(of_texts(&roles, &roles), (String::new(), Some(0)));
}

#[tests::case]
fn what_a_source_gives_beside_the_document_is_compared() {
    let role = AGENT_CONFIG.replace("role: worker", "role: master");
    let expected = "worker-0:\n  ~ role: worker -> master\n";
    assert_eq!(of_texts(AGENT_CONFIG, &role).0, expected);
    let address = AGENT_CONFIG.replace("00:01", "00:02");
    let expected =
        "worker-0:\n  ~ interfaces[eno1].macAddress: 52:54:00:00:00:01 -> 52:54:00:00:00:02\n";
    assert_eq!(of_texts(AGENT_CONFIG, &address).0, expected);
}

#[tests::case]
fn hosts_are_chosen_on_both_sides() {
    let host = |name: &str, role: &str, mtu: &str| {
        format!(
            "- hostname: {name}\n  role: {role}\n  interfaces: [{{name: eno1, macAddress: '52:54:00:00:00:{:02x}'}}]\n  \
             networkConfig: {{interfaces: [{{name: eno1, type: ethernet, mtu: {mtu}}}]}}\n",
            name.bytes().map(u32::from).sum::<u32>() % 256
        )
    };
    let file = |hosts: &[String]| {
        format!("apiVersion: v1beta1\nkind: AgentConfig\nhosts:\n{}", hosts.concat())
    };
    let old = file(&[
        host("master-0", "master", "1500"),
        host("worker-0", "worker", "1500"),
        host("worker-1", "worker", "1500"),
    ]);
    let new = file(&[
        host("master-0", "master", "9000"),
        host("worker-0", "worker", "9000"),
        host("worker-1", "master", "1500"),
        host("worker-2", "worker", "1500"),
    ]);
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("old.yaml"), old).unwrap();
    std::fs::write(place.path().join("new.yaml"), new).unwrap();
    let chosen = |arguments: &[&str]| {
        let arguments = [&["diff"], arguments, &["old.yaml", "new.yaml"]].concat();
        let output = program::nmgen_in(place.path(), &arguments);
        (output.out().to_owned() + output.err(), output.status.code())
    };
    let mtu = "  ~ interfaces[eno1].mtu: 1500 -> 9000\n";
    assert_eq!(chosen(&["--host", "master-*"]), (format!("master-0:\n{mtu}"), Some(0)));
    // A host of one side alone, and one that changes its role.
    assert_eq!(chosen(&["--host", "worker-2"]), ("worker-2: added\n".to_owned(), Some(0)));
    let workers =
        format!("worker-0:\n{mtu}worker-1:\n  ~ role: worker -> master\nworker-2: added\n");
    assert_eq!(chosen(&["--only-role", "worker"]), (workers, Some(0)));
    let (none, code) = chosen(&["--host", "worker-9"]);
    assert!(none.starts_with("error[no-such-host]: there is no host worker-9\n"), "{none}");
    assert_eq!(code, Some(2));
}

#[tests::case]
fn a_side_that_cannot_be_read_is_no_difference() {
    assert_eq!(of_texts(AGENT_CONFIG, "hosts: [\n"), (String::new(), Some(2)));
}

#[tests::case]
fn a_change_of_many_hosts_is_shown_once() {
    let hosts = |mtu: &str, ip: &str| {
        let host = |index: u32| {
            format!(
                "- hostname: worker-{index}\n  interfaces: [{{name: eno1, macAddress: '52:54:00:00:{:02x}:{:02x}'}}]\n  \
                 networkConfig: {{interfaces: [{{name: eno1, type: ethernet, \
                 mtu: {mtu}, ipv4: {{enabled: true, address: [{{ip: {ip}.{index}, prefix-length: 24}}]}}}}]}}\n",
                index / 256,
                index % 256
            )
        };
        let hosts: String = (1..=1000).map(host).collect();
        format!("apiVersion: v1beta1\nkind: AgentConfig\nhosts:\n{hosts}")
    };
    let old = hosts("1500", "198.51");
    let one = old.replace("198.51.7,", "198.51.7777,");
    let (text, _) = of_texts(&one, &hosts("9000", "198.51"));
    let expected = "worker-1:\n  ~ interfaces[eno1].mtu: 1500 -> 9000\n  = and 999 more hosts, the next is worker-2\n\
        worker-7:\n  - interfaces[eno1].ipv4.address: {ip: 198.51.7777, prefix-length: 24}\n  \
        + interfaces[eno1].ipv4.address: {ip: 198.51.7, prefix-length: 24}\n";
    assert_eq!(text, expected);
}

#[tests::case]
fn the_same_is_no_difference() {
    assert_eq!(diff("old", "old"), "");
}
