//! Hosts against their cluster, and against the others of their role in it.

use crate::fleet::{NONE, ONE, install_config, told};

/// Differences within the role of three workers with these documents.
fn odd_ones(documents: [&str; 3]) -> Vec<String> {
    let install = "apiVersion: v1\nplatform:\n  baremetal:\n    hosts:\n    - {name: w1, role: worker}\n    \
                   - {name: w2, role: worker}\n    - {name: w3, role: worker}\n";
    let [w1, w2, w3] = documents;
    let files = [
        ("install.yaml", install),
        ("hosts/w1.yml", w1),
        ("hosts/w2.yml", w2),
        ("hosts/w3.yml", w3),
    ];
    told(&files).into_iter().filter(|found| found.contains("-differs-in-role")).collect()
}

#[tests::case]
fn default_routes_are_those_of_the_main_table_on_interfaces_that_are_up() {
    let card = |last: u8, state: &str| {
        format!(
            "{{name: eno1, type: ethernet, state: {state}, ipv4: {{enabled: true, dhcp: false, \
             address: [{{ip: 192.0.2.{last}, prefix-length: 24}}]}}}}"
        )
    };
    let route = |last: u8, more: &str| {
        format!(
            "interfaces: [{}]\nroutes: {{config: [{{destination: 0.0.0.0/0, next-hop-address: 192.0.2.254, \
             next-hop-interface: eno1{more}}}]}}\n",
            card(last, "up")
        )
    };
    let (w1, w2) = (route(1, ""), route(2, ""));
    let differs = ["default-route-differs-in-role hosts/w3.yml:1"];
    for usual in ["", ", table-id: 0", ", table-id: 254"] {
        assert_eq!(odd_ones([&w1, &w2, &route(3, usual)]), [""; 0], "{usual}");
    }
    assert_eq!(odd_ones([&w1, &w2, &route(3, ", table-id: 255")]), differs);
    let up = format!("interfaces: [{}]\n", card(3, "up"));
    assert_eq!(odd_ones([&w1, &w2, &up]), differs);
    let down = format!("interfaces: [{}]\n", card(3, "down"));
    assert_eq!(odd_ones([&w1, &w2, &down]), [""; 0]);
    // DHCP may give the route.
    assert_eq!(odd_ones([&w1, &w2, &up.replace("dhcp: false", "dhcp: true")]), [""; 0]);
    let in_ipv6 = |text: &str| {
        let texts = [("ipv4", "ipv6"), ("0.0.0.0/0", "'::/0'"), ("192.0.2.", "2001:db8::")];
        texts.into_iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
    };
    let (w1, w2, w3) = (in_ipv6(&w1), in_ipv6(&w2), in_ipv6(&route(3, "")));
    assert_eq!(odd_ones([&w1, &w2, &w3]), [""; 0]);
    assert_eq!(odd_ones([&w1, &w2, &in_ipv6(&up)]), differs);
}

#[tests::case]
fn name_servers_are_compared_where_dhcp_gives_none() {
    let host = |last: u8, dhcp: bool, servers: &str| {
        format!(
            "interfaces: [{{name: eno1, type: ethernet, state: up, ipv4: {{enabled: true, dhcp: {dhcp}, \
             address: [{{ip: 192.0.2.{last}, prefix-length: 24}}]}}}}]\n\
             dns-resolver: {{config: {{server: [{servers}]}}}}\n"
        )
    };
    let differs = |dhcp: bool, servers: [&str; 3]| {
        let [w1, w2, w3] = servers;
        odd_ones([&host(1, dhcp, w1), &host(2, dhcp, w2), &host(3, dhcp, w3)])
    };
    let (usual, odd) = ("192.0.2.53", ["dns-differs-in-role hosts/w3.yml:2"]);
    assert_eq!(differs(false, [usual, usual, "192.0.2.54"]), odd);
    assert_eq!(differs(true, [usual, usual, "192.0.2.54"]), odd);
    assert_eq!(differs(false, [usual, usual, ""]), odd);
    assert_eq!(differs(true, [usual, usual, ""]), [""; 0]);
}

/// A policy of kubernetes-nmstate for one worker.
fn policy(name: &str, host: &str, mtu: u32) -> String {
    format!(
        "---\napiVersion: nmstate.io/v1\nkind: NodeNetworkConfigurationPolicy\nmetadata: {{name: {name}}}\nspec:\n  \
         nodeSelector: {{kubernetes.io/hostname: {host}, node-role.kubernetes.io/worker: ''}}\n  \
         desiredState: {{interfaces: [{{name: eno1, type: ethernet, mtu: {mtu}}}]}}\n"
    )
}

#[tests::case]
fn the_policies_of_a_host_are_compared_where_one_has_all() {
    let of = |policies: &[(&str, &str, u32)]| -> String {
        policies.iter().map(|(name, host, mtu)| policy(name, host, *mtu)).collect()
    };
    let found = |policies: &str, more: &[(&str, &str)]| {
        let found = told(&[&[("policies.yaml", policies)], more].concat());
        found.into_iter().filter(|finding| finding.starts_with("mtu-differs")).collect::<Vec<_>>()
    };
    let usual = [("a", "w1", 9000), ("a", "w2", 9000)];
    let one = of(&[&usual[..], &[("a", "w3", 1500)]].concat());
    assert_eq!(found(&one, &[]), ["mtu-differs-in-role policies.yaml:21"]);
    let two = of(&[&usual[..], &[("a", "w3", 9000), ("b", "w3", 1500)]].concat());
    assert_eq!(found(&two, &[]), [""; 0]);
    // A document beside them is whole.
    let document = |mtu: u32| format!("interfaces: [{{name: eno1, type: ethernet, mtu: {mtu}}}]\n");
    let (large, small) = (document(9000), document(1500));
    let more = [("hosts/w1.yml", &*large), ("hosts/w2.yml", &large), ("hosts/w3.yml", &small)];
    assert_eq!(found(&two, &more), ["mtu-differs-in-role hosts/w3.yml:1"]);
}

#[tests::case]
fn lone_documents_may_be_versions_of_one() {
    let version = |mtu: u32| {
        format!(
            "interfaces: [{{name: eno1, type: ethernet, state: up, mtu: {mtu}, ipv4: {{enabled: true, dhcp: false, \
             address: [{{ip: 192.0.2.1, prefix-length: 24}}]}}}}]\n"
        )
    };
    assert_eq!(told(&[("old.yml", &version(1500)), ("new.yml", &version(9000))]), [""; 0]);
}

#[tests::case]
fn an_address_is_compared_with_machine_networks_of_its_own_family() {
    let document = "interfaces: [{name: eno1, type: ethernet, state: up, ipv4: {enabled: true, dhcp: false, \
                    address: [{ip: 192.0.2.1, prefix-length: 24}]}}]\n";
    let outside = |network: &str| {
        let install = install_config(ONE, NONE, "none: {}");
        let install = format!("{install}networking: {{machineNetwork: [{{cidr: '{network}'}}]}}\n");
        let found = told(&[("install.yaml", &install), ("hosts/a.yml", document)]);
        found.iter().any(|found| found.starts_with("outside-machine-network"))
    };
    assert!(!outside("2001:db8::/64") && !outside("192.0.2.0/24") && outside("198.51.100.0/24"));
}

/// The nodes of a cluster in a SiteConfig, from this number on, each with this MTU.
fn cluster(name: &str, more: &str, first: u8, mtus: &[u32]) -> String {
    let node = |(number, mtu): (u8, &u32)| {
        format!(
            "    - hostName: w{number}\n      role: worker\n      nodeNetwork:\n        config: {{interfaces: [\
             {{name: eno1, type: ethernet, state: up, mtu: {mtu}, ipv4: {{enabled: true, dhcp: false, \
             address: [{{ip: 192.0.2.{number}, prefix-length: 24}}]}}}}]}}\n"
        )
    };
    let nodes: String = (first..).zip(mtus).map(node).collect();
    format!("  - clusterName: {name}\n{more}    nodes:\n{nodes}")
}

fn found_in(clusters: &[String]) -> Vec<String> {
    let head = "apiVersion: ran.openshift.io/v1\nkind: SiteConfig\nmetadata: {name: site}\nspec:\n  clusters:\n";
    let site = format!("{head}{}", clusters.concat());
    let rule = |found: String| found.split(' ').next().unwrap_or_default().to_owned();
    told(&[("site.yaml", &site)]).into_iter().map(rule).collect()
}

#[tests::case]
fn hosts_are_compared_within_their_cluster() {
    let (large, small) = ([9000; 3], [1500; 2]);
    let two = [cluster("a", "", 1, &large), cluster("b", "", 11, &small)];
    assert_eq!(found_in(&two), [""; 0]);
    let one = [cluster("a", "", 1, &[9000, 9000, 9000, 1500, 1500])];
    assert_eq!(found_in(&one), ["mtu-differs-in-role"; 2]);
    let halves = [cluster("a", "", 1, &[9000, 9000, 1500, 1500])];
    assert_eq!(found_in(&halves), [""; 0]);
}

/// A single node has the addresses of the cluster's API itself.
#[tests::case]
fn the_virtual_address_of_a_single_node_is_its_own() {
    let with = |kind: &str| {
        let more = format!("{kind}    apiVIP: 192.0.2.1\n    ingressVIP: 192.0.2.99\n");
        found_in(&[cluster("a", &more, 1, &[1500])])
    };
    assert_eq!(with(""), ["virtual-address-on-host"]);
    assert_eq!(with("    clusterType: SNO\n"), [""; 0]);
}
