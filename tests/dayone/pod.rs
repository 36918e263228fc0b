//! What a pod notices of br-ex: real OVN on the bridge that the agent makes. `bridge::life` has the automatic one, and the
//! migration.

use tests::{
    dayone::{
        DAY_ONE, Document, HASTE, HOST_FILE, MAC, TENANTS_GATEWAY, agent, attempt, outcome,
        ovnkube_lost, ovnkube_restarted, pod_started, pod_works,
    },
    lab::{Error, Inside, Lab, Nic, Node, Peer},
};

/// A card that waits for nothing.
const UNUSED: &str = "\
[connection]
id=eno2
type=ethernet
interface-name=eno2
[ipv4]
method=disabled
[ipv6]
method=disabled
";

/// Another bridge, which has a localnet of OVN and an address of its own.
const OTHER_BRIDGE: &str = "\
- name: eno3
  type: ethernet
  state: up
  ipv4: {enabled: false}
  ipv6: {enabled: false}
- name: br-data
  type: ovs-bridge
  state: up
  bridge:
    options: {datapath: netdev}
    allow-extra-patch-ports: true
    port: [{name: eno3}, {name: br-data}]
- name: br-data
  type: ovs-interface
  state: up
  ipv4: {enabled: true, dhcp: false, address: [{ip: 203.0.113.10, prefix-length: 24}]}
  ipv6: {enabled: false}
ovn: {bridge-mappings: [{localnet: tenants, bridge: br-data, state: present}]}
";

const ROUTE: &str = "  - {destination: 198.18.0.0/15, next-hop-address: 203.0.113.1, next-hop-interface: br-data}\n";

fn document() -> Document {
    let [resolver, routes] = ["dns-resolver:\n", "routes:\n  config:\n"];
    let with_bridge = Document::new().with(resolver, &format!("{OTHER_BRIDGE}{resolver}"));
    with_bridge.with(routes, &format!("{routes}{ROUTE}"))
}

#[tests::case]
fn of_a_document_that_changes() -> Result<(), Error> {
    let lab = Lab::open()?;
    let node = Node::new("worker-0")
        .nic(Nic::new("eno1", MAC))
        .nic(Nic::new("eno2", "52:54:00:00:00:02"))
        .nic(Nic::new("eno3", "52:54:00:00:00:03").segment("tenants"))
        .keyfile("eno1", DAY_ONE)
        .keyfile("eno2", UNUSED)
        .file(HOST_FILE, &document().text(), 0o644)
        .settings(HASTE)
        .ovn();
    let peer = Peer::new().address("tenants", TENANTS_GATEWAY.into(), 24);
    lab.run(agent(node), &peer, |case| {
        case.boot()?;
        let inside = case.inside()?;
        assert_eq!(outcome(&inside, None)?.exit, 0);
        pod_started(case)?;

        // A repair: somebody has taken the card out of the bridge. With another number of its port ovnkube ends, within 15 s.
        let quick = HASTE.replace("[wait]\n", "[wait]\nnetwork = 2\n");
        inside.write("/etc/dayone/dayone.toml", &quick)?;
        inside.sh("nmcli device disconnect eno1")?;
        let it = attempt(&inside)?;
        assert!(it.text().contains("its profiles were activated again"), "{}", it.text());
        inside.write("/etc/dayone/dayone.toml", HASTE)?;
        assert_eq!(ovnkube_lost(&inside)?, "< eno1 is port 1");
        ovnkube_restarted(&inside)?;
        pod_works(case)?;

        // NetworkManager reapplies the profile of br-ex.
        let server = "    - 192.0.2.1\n";
        let changed = document().with(server, &format!("{server}    search: [example.org]\n"));
        let data = "{ip: 203.0.113.10, prefix-length: 24}";
        let changed = changed.with(data, &format!("{data}, {}", data.replace(".10", ".12")));
        inside.write(HOST_FILE, &changed.text())?;
        assert_eq!(attempt(&inside)?.exit, 0);
        pod_works(case)?;
        agrees(&inside, &changed)?;

        // The roll back of a checkpoint makes the links anew.
        let silent = document().with("hop-address: 192.0.2.1\n", "hop-address: 192.0.2.99\n");
        let silent = silent.with("203.0.113.10", "203.0.113.11");
        inside.write(HOST_FILE, &silent.text())?;
        assert_ne!(attempt(&inside)?.exit, 0);
        pod_works(case)?;
        agrees(&inside, &changed)?;

        // OVN answers for br-ex's address by the MAC address that br-ex had, so that NetworkManager finds a conflict: such a change
        // needs a boot, which OVN is not up in yet.
        inside.write(HOST_FILE, &document().nic("eno2").text())?;
        let it = attempt(&inside)?;
        assert!(it.text().contains("lacks: 192.0.2.10/24 on br-ex"), "{}", it.text());
        pod_works(case)?;

        inside.write(HOST_FILE, &changed.text())?;
        case.reboot()?;
        let again = outcome(&case.inside()?, None)?;
        assert!(again.text().contains("in force already"), "{}", again.text());
        pod_started(case)?;
        let status = case.inside()?.run(&["dayone", "status"])?;
        assert_eq!(status.status.code(), Some(0), "{status}");
        agrees(&case.inside()?, &changed)
    })
}

/// Checks that `dayone diff` finds the node as the document has it.
fn agrees(inside: &Inside, document: &Document) -> Result<(), Error> {
    const FILE: &str = "/root/worker-0.yml";
    inside.write(FILE, &document.text())?;
    let diff = inside.run(&["dayone", "diff", "--exit-code", "--document", FILE])?;
    assert_eq!(diff.status.code(), Some(0), "{diff}");
    Ok(())
}
