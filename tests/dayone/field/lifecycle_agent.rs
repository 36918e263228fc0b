//! lifecycle-agent on a single node: kubelet is disabled over a boot, and starts when lca-cli has given the uplink its address.
//!
//! Sources: openshift-kni/lifecycle-agent, lca-cli/ipconfig/{prepivot,postpivot}.go, lca-cli/postpivot/postpivot.go and
//! lca-cli/ops/ops.go (`StopClusterServices`, `EnableClusterServices`), and the units in lca-cli/*/services.

use std::net::Ipv4Addr;

use tests::{
    dayone::{DAY_ONE, Document, HOST_FILE, MAC, SOON, automatic, unwrapped},
    lab::{Case, Error, Inside, Nic, Node, Peer, Release},
    program,
};

/// ip-configuration.service and installation-configuration.service.
const UNIT: &str = "\
[Unit]
Description=Stand-in of lca-cli
After=NetworkManager.service
Wants=NetworkManager.service
[Service]
Type=oneshot
ExecStart=/usr/local/bin/lca
Restart=on-failure
RestartSec=5s
[Install]
WantedBy=multi-user.target
";
/// The network of the site, which lca-cli writes for the port of br-ex that is a card.
const NETWORK: &str = "\
interfaces:
- name: eno1
  type: ethernet
  state: up
  ipv4:
    enabled: true
    dhcp: false
    address:
    - ip: 192.0.2.20
      prefix-length: 24
  ipv6:
    enabled: false
routes:
  config:
  - destination: 0.0.0.0/0
    next-hop-interface: eno1
    next-hop-address: 192.0.2.1
    metric: 48
    table-id: 254
dns-resolver:
  config:
    server:
    - 192.0.2.1
";
const APPLIES: &str =
    "[ -e /root/lca-applied ] || { nmstate-apply </root/lca.yml; touch /root/lca-applied; }\n";
const NODE_IP: &str = "systemctl restart NetworkManager\n\
     [ -e /run/nodeip-configuration/primary-ip ] || systemctl start nodeip-configuration\n\
     until [ -e /run/nodeip-configuration/primary-ip ]; do sleep 1; done\n";
const PROFILE: &str = "/etc/NetworkManager/system-connections/site.nmconnection";
/// A new stateroot has neither profiles nor state, but the /etc of its seed.
const SEED: &str = "rm -rf /etc/NetworkManager/system-connections/* /var/lib/ovnk/iface_default_hint /var/lib/dayone/*; ";

fn node() -> Node {
    let node = Node::new("worker-0").nic(Nic::new("eno1", MAC)).field(Release::V5_1);
    let node = automatic(node).day_one();
    node.bind(program::nmstate_apply(), "/usr/local/bin/nmstate-apply")
}

/// Leaves the boot after this one to lca-cli, which does `steps` and starts kubelet.
fn hands_over(inside: &Inside, steps: &str, address: Ipv4Addr, leaves: &str) -> Result<(), Error> {
    inside.sh("systemctl stop kubelet crio")?;
    inside.write("/etc/systemd/system/lca.service", UNIT)?;
    inside.write("/root/lca.yml", &NETWORK.replace("192.0.2.20", &address.to_string()))?;
    let site = DAY_ONE.replace("192.0.2.10", &address.to_string()).replace("fd001", "fd099");
    inside.write("/root/site.nmconnection", &site.replace("id=eno1", "id=site"))?;
    inside.write(
        "/usr/local/bin/lca",
        &format!(
            "#!/bin/sh\nset -eu\n{steps}systemctl enable kubelet.service\n\
             systemctl start --no-block kubelet.service\nsystemctl disable lca.service\n"
        ),
    )?;
    inside.sh(&format!(
        "chmod 755 /usr/local/bin/lca; rm -f /root/lca-applied /etc/openvswitch/conf.db /var/lib/openvswitch/conf.db; \
         systemctl disable kubelet.service; systemctl enable lca.service; {leaves} sync"
    ))?;
    Ok(())
}

/// The inside, once systemd answers.
fn awake(case: &Case<'_>) -> Result<Inside, Error> {
    let inside = case.inside()?;
    inside
        .wait_sh("systemctl show dbus.service && test -S /run/dbus/system_bus_socket", 4 * SOON)?;
    Ok(inside)
}

/// kubelet runs, also after another start, and br-ex has this address.
fn has(case: &Case<'_>, address: Ipv4Addr) -> Result<Inside, Error> {
    let inside = awake(case)?;
    inside.wait_unit("kubelet.service", "active", 15 * SOON)?;
    let rows = "ovs-vsctl --columns=_uuid,name list interface";
    let made = inside.sh(rows)?;
    inside.sh("systemctl restart kubelet.service")?;
    inside.wait_unit("kubelet.service", "active", 6 * SOON)?;
    assert_eq!(inside.sh(rows)?, made);
    let seen = inside.sh("ip -4 -oneline address show dev br-ex scope global")?;
    assert!(seen.contains(&format!(" {address}/24 ")), "{seen}");
    assert!(case.peer().pings(address, SOON)?);
    let status = inside.run(&["dayone", "status"])?;
    assert!(status.stdout.starts_with("IN FORCE: br-ex on eno1\n"), "{status}");
    Ok(inside)
}

fn address(last: u8) -> Ipv4Addr {
    Ipv4Addr::new(192, 0, 2, last)
}

/// The time before lca-cli starts kubelet: br-ex is not made, and nothing is wrong.
fn waits(inside: &Inside) -> Result<(), Error> {
    inside.wait_unit("dayone.service", "active", 6 * SOON)?;
    let status = inside.run(&["dayone", "status"])?;
    let page = unwrapped(&status.stdout);
    assert!(page.starts_with("NO DOCUMENT: "), "{status}");
    assert!(page.contains("br-ex is made when kubelet starts"), "{status}");
    inside.run(&["dayone", "health"])?.exits(0);
    assert_eq!(inside.unit("dayone-bridge.service")?.exec_start, None);
    Ok(())
}

#[tests::case]
fn lifecycle_agent_gives_the_uplink_an_address_before_br_ex_is_made() -> Result<(), Error> {
    node().run(&Peer::new(), |case| {
        case.boot()?;
        has(case, address(10))?;
        // IPConfig at once, and after a moment.
        for (last, pause) in [(20, ""), (30, "sleep 3\n")] {
            hands_over(&case.inside()?, &format!("{pause}{APPLIES}"), address(last), "")?;
            case.restart()?;
            has(case, address(last))?;
        }
        case.restart()?;
        let inside = has(case, address(30))?;
        // An image-based installation whose site's configuration comes late, in a network without DHCP.
        hands_over(&inside, &format!("sleep 8\n{APPLIES}{NODE_IP}"), address(20), SEED)?;
        case.restart()?;
        waits(&awake(case)?)?;
        let inside = has(case, address(20))?;
        a_document_keeps_its_address(case, &inside)
    })
}

/// lifecycle-agent copies /etc and /var, and with them the document and its profiles. Its service fails until its roll back, which
/// starts kubelet with the former address.
fn a_document_keeps_its_address(case: &mut Case<'_>, inside: &Inside) -> Result<(), Error> {
    let document = Document::new().with("192.0.2.10", "192.0.2.20").text();
    inside.write(HOST_FILE, &document)?;
    inside.sh("dayone apply")?;
    hands_over(inside, APPLIES, address(30), "")?;
    case.restart()?;
    let inside = awake(case)?;
    inside.wait_message(
        &["_SYSTEMD_UNIT=lca.service"],
        6 * SOON,
        "cannot have IP enabled as it is attached to",
    )?;
    inside.wait_unit("dayone.service", "active", 6 * SOON)?;
    assert_ne!(inside.unit("kubelet.service")?.active_state, "active");
    let status = inside.run(&["dayone", "status"])?.exits(0);
    assert!(status.stdout.starts_with(&format!("IN FORCE: {HOST_FILE}")), "{status}");
    assert!(case.peer().pings(address(20), SOON)?);
    inside.sh("systemctl disable --now lca.service; systemctl enable --now kubelet.service")?;
    inside.run(&["dayone", "status"])?.exits(0);
    assert!(case.peer().pings(address(20), SOON)?);
    Ok(())
}

#[tests::case]
fn lifecycle_agent_installs_an_image_where_dhcp_gives_another_address() -> Result<(), Error> {
    node().run(&Peer::new().dhcp(), |case| {
        case.boot()?;
        let inside = has(case, address(10))?;
        // The site's profile comes while the first boot runs. NetworkManager's own one, with a lease, outlasts its restart.
        let own = "nmcli --wait 20 connection up site\n";
        let steps = NODE_IP.replacen('\n', &format!("\n{own}"), 1);
        let steps = format!("cp /root/site.nmconnection {PROFILE}\nchmod 600 {PROFILE}\n{steps}");
        hands_over(&inside, &steps, address(20), SEED)?;
        case.restart()?;
        let inside = has(case, address(20))?;
        // The site's configuration comes by nmstate, after a lease.
        hands_over(&inside, &format!("sleep 20\n{APPLIES}{NODE_IP}"), address(20), SEED)?;
        case.restart()?;
        waits(&awake(case)?)?;
        has(case, address(20))?;
        Ok(())
    })
}
