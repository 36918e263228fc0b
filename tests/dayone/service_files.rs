//! `/etc/nmstate/*.yml` beside a document: part of its transaction, once per content.

use std::net::Ipv4Addr;

use tests::{
    dayone::{ADDRESS, APPLIED, Document, HASTE, SOON, attempt, outcome, worker, wrong_gateway},
    lab::{Error, Node, Peer},
};

/// Like KubeVirt's: DHCPv6 without autoconf on the card with the default route, and a default route via a link-local gateway.
const POLICIES: [(&str, &str); 2] = [
    (
        "/etc/nmstate/001-dhcpv6.yml",
        "\
capture:
  gateway: routes.running.destination==\"0.0.0.0/0\"
  uplink: interfaces.name==capture.gateway.routes.running.0.next-hop-interface
desiredState:
  interfaces:
  - name: \"{{ capture.uplink.interfaces.0.name }}\"
    type: ethernet
    state: up
    ipv6: {enabled: true, dhcp: true, autoconf: false}
",
    ),
    (
        "/etc/nmstate/002-default-route.yml",
        "\
capture:
  gateway: routes.running.destination==\"0.0.0.0/0\"
  uplink: interfaces.name==capture.gateway.routes.running.0.next-hop-interface
desiredState:
  routes:
    config:
    - destination: ::/0
      next-hop-address: fe80::1
      next-hop-interface: \"{{ capture.uplink.interfaces.0.name }}\"
",
    ),
];

const STORAGE: &str = "/etc/nmstate/003-storage.yml";

fn storage(address: &str) -> String {
    format!(
        "interfaces:\n- name: storage0\n  type: linux-bridge\n  state: up\n  bridge: {{options: {{stp: {{enabled: false}}}}, port: []}}\n  ipv4: {{enabled: true, dhcp: false, address: [{{ip: {address}, prefix-length: 24}}]}}\n"
    )
}

fn node(document: &str) -> Node {
    let node = worker()
        .day_one()
        .document(document)
        .settings(HASTE)
        .file(STORAGE, &storage("203.0.113.1"), 0o644)
        // nmstatectl's file, and nmstate-configuration's copy of the document for it.
        .file("/etc/nmstate/004-old.applied", "interfaces: many\n", 0o644)
        .file("/etc/nmstate/worker-0.yml", "interfaces: many\n", 0o644);
    POLICIES.iter().fold(node, |node, (path, text)| node.file(path, text, 0o644))
}

#[tests::case]
fn policies_and_states_go_before_the_document_once_per_content() -> Result<(), Error> {
    let text = Document::new().text();
    node(&text).run(&Peer::new(), |case| {
        let inside = case.boots(0)?;
        assert_eq!(inside.read(APPLIED)?.as_ref(), Some(&text));
        assert!(case.peer().pings(ADDRESS, SOON)?);
        let storage0 = "ip -4 -oneline address show dev storage0";
        inside.run(&["sh", "-c", storage0])?.says("203.0.113.1/24");
        assert!(!inside.sh("ip -6 route show default")?.contains("fe80::1 dev eno1"));
        inside.run(&["dayone", "status"])?.exits(0);

        // Day-2 changes stay as long as the files' content does.
        inside.sh("nmcli connection modify storage0 ipv4.addresses 203.0.113.2/24")?;
        let inside = case.reboot()?;
        outcome(&inside, None)?.says("in force already");
        inside.wait_sh(&format!("{storage0} | grep -q 203.0.113.2/24"), SOON)?;

        inside.write(STORAGE, &storage("203.0.113.3"))?;
        let dry = inside.sh("dayone apply --dry-run")?;
        for part in [STORAGE, "203.0.113.3", "# no difference"] {
            assert!(dry.contains(part), "{part} in {dry}");
        }
        inside.run(&["dayone", "status"])?.exits(3);
        attempt(&inside)?.exits(0).says("the network is in force");
        assert!(inside.sh(storage0)?.contains("203.0.113.3/24"));
        assert!(case.peer().pings(ADDRESS, SOON)?);

        inside.write(STORAGE, "interfaces: many\n")?;
        attempt(&inside)?.exits(2).says(STORAGE);
        Ok(())
    })
}

#[tests::case]
fn they_are_rolled_back_with_the_document() -> Result<(), Error> {
    let wrong = wrong_gateway();
    node(&wrong).run(&Peer::new(), |case| {
        let inside = case.power_on()?;
        outcome(&inside, None)?.exits(3).says("gateway 192.0.2.254");
        inside.sh("systemctl stop dayone.service")?;
        let address: Ipv4Addr = ADDRESS;
        assert!(case.peer().pings(address, SOON)?);
        assert!(inside.run(&["ip", "link", "show", "storage0"])?.stdout.is_empty());
        let profiles = inside.sh("ls /etc/NetworkManager/system-connections")?;
        assert_eq!(profiles, "eno1.nmconnection");
        Ok(())
    })
}
