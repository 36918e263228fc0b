//! Two clusters in one call: what each has for itself, what both have once, and what names them.

use std::fs;

use tests::program::{Exits as _, nmgen_in};

use crate::fleet::{messages, told};

/// A host's network: an address with a gateway, and one of a storage network that no router knows.
fn network(ip: &str, indent: usize) -> String {
    let text = format!(
        "interfaces:\n- {{name: eno1, type: ethernet, state: up, ipv4: {{enabled: true, dhcp: false, address: \
         [{{ip: {ip}, prefix-length: 24}}]}}}}\n- {{name: eno2, type: ethernet, state: up, ipv4: {{enabled: true, dhcp: false, \
         address: [{{ip: 10.9.9.1, prefix-length: 24}}]}}}}\ndns-resolver: {{config: {{server: [192.0.2.53]}}}}\n\
         routes: {{config: [{{destination: 0.0.0.0/0, next-hop-address: 192.0.2.1, next-hop-interface: eno1}}]}}\n"
    );
    text.lines().map(|line| format!("{:indent$}{line}\n", "")).collect()
}

/// A ClusterInstance with one host, `node1`.
fn cluster_instance(name: &str, ip: &str, mac: &str, more: &str) -> String {
    format!(
        "apiVersion: siteconfig.open-cluster-management.io/v1alpha1\nkind: ClusterInstance\nmetadata: {{name: {name}, namespace: \
         {name}}}\nspec:\n  clusterName: {name}\n{more}  nodes:\n  - hostName: node1.example.com\n    bootMACAddress: \"{mac}\"\n    \
         nodeNetwork:\n      config:\n{}",
        network(ip, 8)
    )
}

fn nmstate_config(namespace: &str, label: &str, name: &str, ip: &str) -> String {
    format!(
        "apiVersion: agent-install.openshift.io/v1beta1\nkind: NMStateConfig\nmetadata:\n  name: {name}\n  namespace: {namespace}\n  \
         labels: {{infraenvs.agent-install.openshift.io: {label}}}\nspec:\n  interfaces: [{{name: eno1, macAddress: \
         52:54:00:00:00:{:02x}}}]\n  config:\n{}",
        ip.rsplit('.').next().and_then(|last| last.parse::<u8>().ok()).unwrap_or_default(),
        network(ip, 4)
    )
}

fn install_config(name: &str, ip: &str, cidr: &str) -> String {
    format!(
        "apiVersion: v1\nbaseDomain: example.com\nmetadata: {{name: {name}}}\ncontrolPlane: {{name: master, replicas: 1}}\n\
         compute: [{{name: worker, replicas: 0}}]\nnetworking: {{machineNetwork: [{{cidr: {cidr}}}]}}\nplatform:\n  baremetal:\n    \
         provisioningNetwork: Disabled\n    hosts:\n    - name: node1\n      role: master\n      networkConfig:\n{}",
        network(ip, 8)
    )
}

const MACS: [&str; 2] = ["52:54:00:00:00:01", "52:54:00:00:00:02"];

#[tests::case]
fn hosts_of_two_clusters_may_share_names_and_addresses_that_no_router_knows() {
    let (a, b) = ("192.0.2.11", "192.0.2.12");
    let one = cluster_instance("site-a", a, MACS[0], "");
    let other = cluster_instance("site-b", b, MACS[1], "");
    assert_eq!(told(&[("gitops/a.yaml", &one), ("gitops/b.yaml", &other)]), [""; 0]);
    // Mistakes of one cluster.
    let other = other.replace("site-b", "site-a");
    let twice = told(&[("gitops/a.yaml", &one), ("gitops/b.yaml", &other)]);
    assert_eq!(twice, ["cluster-twice gitops/b.yaml:5"]);

    let of = |space: [&str; 2], label: [&str; 2]| {
        told(&[
            ("gitops/a.yaml", &nmstate_config(space[0], label[0], "node1", a)),
            ("gitops/b.yaml", &nmstate_config(space[1], label[1], "node1", b)),
        ])
    };
    assert_eq!(of(["site-a", "site-b"], ["one", "one"]), [""; 0]);
    assert_eq!(of(["site-a", "site-a"], ["one", "two"]), [""; 0]);
    assert_eq!(of(["site-a", "site-a"], ["one", "one"]), ["host-twice gitops/b.yaml:4"]);

    let of = |second: &str| {
        let configs =
            [install_config("a", a, "192.0.2.0/24"), install_config("b", b, "192.0.2.0/24")];
        told(&[("a/install-config.yaml", &configs[0]), (second, &configs[1])])
    };
    assert_eq!(of("b/install-config.yaml"), [""; 0]);
    // Names tell them apart in one directory.
    assert_eq!(of("a/other.yaml"), [""; 0]);
}

#[tests::case]
fn one_routed_address_card_or_controller_of_two_clusters_is_told_once() {
    let bmc = "  - hostName: node0\n    bmcAddress: idrac://192.0.2.250\n";
    let with = |name: &str, ip: &str, mac: &str, bmc: &str| {
        cluster_instance(name, ip, mac, "").replace("  nodes:\n", &format!("  nodes:\n{bmc}"))
    };
    let found = |ip: &str, mac: &str, its: &str| {
        let one = with("site-a", "192.0.2.11", MACS[0], bmc);
        let found = told(&[("g/a.yaml", &one), ("g/b.yaml", &with("site-b", ip, mac, its))]);
        found.into_iter().filter(|finding| !finding.starts_with("host-without")).collect::<Vec<_>>()
    };
    assert_eq!(found("192.0.2.12", MACS[1], ""), [""; 0]);
    assert_eq!(found("192.0.2.11", MACS[1], ""), ["address-in-two-clusters g/b.yaml:12"]);
    assert_eq!(found("192.0.2.12", MACS[0], ""), ["mac-in-two-clusters g/b.yaml:8"]);
    assert_eq!(found("192.0.2.11", MACS[0], ""), ["mac-in-two-clusters g/b.yaml:8"]);
    assert_eq!(found("192.0.2.12", MACS[1], bmc), ["bmc-on-two-hosts g/b.yaml:8"]);
    let (one, other) =
        (with("site-a", "192.0.2.11", MACS[0], ""), with("site-b", "192.0.2.11", MACS[1], ""));
    assert_eq!(
        messages(&[("a.yaml", &one), ("b.yaml", &other)]),
        ["192.0.2.11 is also on node1 of site-a (a.yaml:12)"]
    );
}

#[tests::case]
fn a_host_outside_of_its_own_clusters_machine_network_is_told() {
    let of = |name: &str, ip: &str, cidr: &str, mac: &str| {
        cluster_instance(name, ip, mac, &format!("  machineNetwork: [{{cidr: {cidr}}}]\n"))
    };
    let a = of("site-a", "192.0.2.11", "192.0.2.0/24", MACS[0]);
    let b = of("site-b", "192.0.2.12", "198.51.100.0/24", MACS[1]);
    let found = told(&[("g/a.yaml", &a), ("g/b.yaml", &b)]);
    assert_eq!(found, ["outside-machine-network g/b.yaml:13"]);
    // An AgentClusterInstall tells it for the hosts of its namespace.
    let install = |name: &str, cidr: &str| {
        format!(
            "apiVersion: extensions.hive.openshift.io/v1beta1\nkind: AgentClusterInstall\nmetadata: {{name: {name}, namespace: {name}}}\n\
             spec:\n  clusterDeploymentRef: {{name: {name}}}\n  networking: {{machineNetwork: [{{cidr: {cidr}}}]}}\n---\n{}",
            nmstate_config(
                name,
                "env",
                "node1",
                if name == "a" { "192.0.2.11" } else { "192.0.2.12" }
            )
        )
    };
    let (a, b) = (install("a", "192.0.2.0/24"), install("b", "198.51.100.0/24"));
    assert_eq!(
        told(&[("g/a.yaml", &a), ("g/b.yaml", &b)]),
        ["outside-machine-network g/b.yaml:18"]
    );
}

/// A secret of one name in each cluster's directory.
#[tests::case]
fn a_secret_is_looked_for_beside_its_host_first() {
    let place = tempfile::tempdir().unwrap();
    let mut paths = Vec::new();
    for (site, mtu) in [("a", 1500), ("b", 9000)] {
        let text = format!(
            "apiVersion: metal3.io/v1alpha1\nkind: BareMetalHost\nmetadata: {{name: node1}}\nspec: {{preprovisioningNetworkDataName: \
             network}}\n---\napiVersion: v1\nkind: Secret\nmetadata: {{name: network}}\nstringData: {{nmstate: 'interfaces: \
             [{{name: eno1, type: ethernet, mtu: {mtu}}}]'}}\n"
        );
        fs::create_dir(place.path().join(site)).unwrap();
        let path = place.path().join(site).join("host.yaml");
        fs::write(&path, text).unwrap();
        paths.push(path.display().to_string());
    }
    let hosts = nmgen::source::load(&paths).unwrap().hosts;
    let texts: Vec<String> =
        hosts.iter().map(|host| host.document_text().unwrap().into_owned()).collect();
    assert!(texts[0].contains("1500") && texts[1].contains("9000"), "{texts:?}");
}

#[tests::case]
fn check_show_diff_and_generate_name_the_cluster() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    fs::create_dir(place.join("old")).unwrap();
    for (site, last) in [("a", 11), ("b", 12)] {
        let (name, ip) = (format!("site-{site}"), format!("192.0.2.{last}"));
        let mac = format!("52:54:00:00:00:{last}");
        fs::write(place.join(format!("old/{site}.yaml")), cluster_instance(&name, &ip, &mac, ""))
            .unwrap();
    }
    let check = nmgen_in(place, &["check", "old"]);
    assert_eq!(check.err(), "site-a: 1 host, no errors\nsite-b: 1 host, no errors\n");
    let wrong = cluster_instance("site-c", "192.0.2.300", "52:54:00:00:00:13", "");
    fs::write(place.join("c.yaml"), wrong).unwrap();
    let check = nmgen_in(place, &["check", "--format", "json", "old", "c.yaml"]);
    let check = check.says("\"cluster\": \"site-c\"");
    assert!(!check.out().contains("\"cluster\": null"), "{check:?}");
    let shown = nmgen_in(place, &["show", "old"]).out().to_owned();
    assert!(
        shown.starts_with("site-a: node1.example.com\n") && shown.contains("\nsite-b: node1."),
        "{shown}"
    );
    let one = nmgen_in(place, &["show", "--cluster", "*-b", "old"]).out().to_owned();
    assert!(one.starts_with("node1.example.com\n") && one.contains("192.0.2.12"), "{one}");

    nmgen_in(place, &["generate", "-o", "out", "old"]).exits(0);
    for site in ["site-a", "site-b"] {
        assert!(place.join("out").join(site).join("node1.example.com/eno1.nmconnection").exists());
    }
    nmgen_in(place, &["generate", "-o", "one", "--cluster", "site-a", "old"]).exits(0);
    assert!(place.join("one/node1.example.com").exists());
    for form in ["hosts", "ignition", "policy", "bmh-secret", "kargs"] {
        let out = format!("out-{form}");
        let written = nmgen_in(place, &["generate", "--to", form, "-o", &out, "old"]).exits(0);
        let count = |site: &str| fs::read_dir(place.join(&out).join(site)).unwrap().count();
        assert_eq!((count("site-a"), count("site-b")), (1, 1), "{form}: {written:?}");
    }
    let none = nmgen_in(place, &["generate", "--cluster", "site-c", "old"]);
    none.exits(2).reports("the sources have site-a, site-b");

    fs::create_dir(place.join("new")).unwrap();
    fs::copy(place.join("old/a.yaml"), place.join("new/a.yaml")).unwrap();
    let text = fs::read_to_string(place.join("old/b.yaml")).unwrap().replace(".12", ".13");
    fs::write(place.join("new/b.yaml"), text).unwrap();
    let diff = nmgen_in(place, &["diff", "old", "new"]).out().to_owned();
    assert!(diff.starts_with("site-b: node1.example.com:\n") && !diff.contains("site-a"), "{diff}");
    nmgen_in(place, &["diff", "--format", "json", "old", "new"]).says("\"cluster\": \"site-b\"");
}

/// The running node's documents of two clusters, from early ones with hosts of one name.
#[tests::case]
fn br_ex_is_derived_in_each_cluster() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    for (site, last) in [("a", 11), ("b", 12)] {
        let config = install_config(site, &format!("192.0.2.{last}"), "192.0.2.0/24");
        fs::create_dir(place.join(site)).unwrap();
        fs::write(place.join(site).join("install-config.yaml"), config).unwrap();
    }
    let sources = ["a/install-config.yaml", "b/install-config.yaml"];
    let arguments = ["generate", "--br-ex", "--to", "machine-config", "-o", "out"];
    nmgen_in(place, &[&arguments[..], &sources].concat()).exits(0);
    for site in ["a", "b"] {
        assert!(place.join("out").join(site).join("10-br-ex-master.yaml").exists());
    }
    let policies = ["--policies", "day-two.yaml"];
    nmgen_in(place, &[&arguments[..], &policies, &sources].concat()).reports("one-cluster-only");
}
