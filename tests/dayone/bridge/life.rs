//! The life of a cluster's node: configure-ovs, the automatic bridge, a document, and back, by the guide of the migration.

use std::fs;

use tests::{
    dayone::{
        APPLIED, BRIDGE_PROFILES, MAC, agent, br_ex_works, bridge_outcome, exports, finished,
        follow, outcome, pod_started, volatile_profiles, with_bridge,
    },
    derived::{document, in_userspace},
    guide,
    lab::{Case, Error, Lab, Nic, Node, Peer, Release},
    program::root,
};

const INSTALLED: &str = "/etc/lab-agent";

/// A profile of somebody else's, for a plugin that NetworkManager may not have.
const TUNNEL: &str = "\
[connection]
id=office
type=vpn
autoconnect=false
[vpn]
service-type=org.freedesktop.NetworkManager.libreswan
left=%defaultroute
right=192.0.2.1
ikev2=insist
[ipv4]
method=auto
never-default=true
";

/// A node of the field on which the agent is installed later.
fn node() -> Node {
    let node = Node::new("worker-0").nic(Nic::new("eno1", MAC)).day_one();
    let node = node.keyfile("office", TUNNEL);
    let node = with_bridge(agent(node.field(Release::V4_22).ovn()));
    let condition = format!("[Unit]\nConditionPathExists={INSTALLED}\n");
    ["dayone", "dayone-recover", "dayone-bridge"].iter().fold(node, |node, unit| {
        let drop_in = format!("/etc/systemd/system/{unit}.service.d/50-absent.conf");
        node.file(&drop_in, &condition, 0o644)
    })
}

/// MAC address and MTU of br-ex, which has the node's address, once the boot is over.
fn seen(case: &Case<'_>) -> Result<String, Error> {
    let inside = case.inside()?;
    finished(&inside)?;
    br_ex_works(case)?;
    pod_started(case)?;
    let tunnel = "/etc/NetworkManager/system-connections/office.nmconnection";
    assert_eq!(inside.read(tunnel)?.as_deref(), Some(TUNNEL));
    inside.sh("nmcli --get-values NAME,TYPE connection show | grep --line-regexp office:vpn")?;
    // The field's script has asked for the uplink's number when the port came up first; it holds for the rest of the boot.
    let asked = inside.sh("cat /run/ofport_requests.br-ex")?;
    // Nothing, if it came before ovs-vswitchd had opened the card: it does not wait.
    assert!(
        [number(case)?.as_str(), "[]"].map(|ofport| format!("eno1 {ofport}")).contains(&asked),
        "{asked}"
    );
    inside.sh("cat /sys/class/net/br-ex/address /sys/class/net/br-ex/mtu")
}

/// Number of the uplink's port in flows.
fn number(case: &Case<'_>) -> Result<String, Error> {
    case.inside()?.sh("ovs-vsctl get interface eno1 ofport")
}

fn ids(case: &Case<'_>) -> Result<String, Error> {
    case.inside()?.sh("nmcli -g NAME connection show | sort -u")
}

#[tests::case]
fn of_a_node_in_a_cluster() -> Result<(), Error> {
    let lab = Lab::open()?;
    let guide = fs::read_to_string(root().join("nmgen/doc/guides/migration.md"));
    let guide = guide.expect("the guide of the migration");
    let early = guide::file(&guide, "early/worker-0.yml").expect("the host's early document");
    let text = in_userspace(&document(&early, None).expect("a derived document"));
    lab.run(node(), &Peer::new(), |case| {
        case.boot()?;
        let (first, port) = (seen(case)?, number(case)?);
        assert_eq!(volatile_profiles(&case.inside()?)?, BRIDGE_PROFILES);
        assert!(case.inside()?.unit("ovs-configuration.service")?.exec_start.is_some());
        let booted = |case: &Case<'_>| {
            assert_eq!(seen(case)?, first);
            Ok(())
        };

        exports(&case.inside()?)?;
        case.inside()?.write(INSTALLED, "")?;
        follow(case, &guide, "The agent takes br-ex over", 0, booted)?;
        bridge_outcome(&case.inside()?, None)?.exits(0);
        assert_eq!(volatile_profiles(&case.inside()?)?, BRIDGE_PROFILES);
        assert_eq!(case.inside()?.unit("ovs-configuration.service")?.exec_start, None);
        assert_eq!(number(case)?, port);

        case.inside()?.write("/root/worker-0.yml", &text)?;
        follow(case, &guide, "The document takes br-ex over", 0, booted)?;
        outcome(&case.inside()?, None)?.exits(0);
        assert!(!ids(case)?.contains("ovs-if-"), "{}", ids(case)?);
        assert_eq!(case.inside()?.read(APPLIED)?.as_ref(), Some(&text));
        exports(&case.inside()?)?;

        follow(case, &guide, "The way back to the automatic br-ex", 0, booted)?;
        is_automatic_again(case)?;
        // With it the bridge forwards nothing, and Open vSwitch keeps it over the reboot.
        case.inside()?.sh("ovs-vsctl set-fail-mode br-ex secure")?;
        case.reboot()?;
        booted(case)?;
        assert_eq!(case.inside()?.sh("ovs-vsctl get-fail-mode br-ex")?, "");
        is_automatic_again(case)?;

        follow(case, &guide, "The way back to configure-ovs", 0, booted)?;
        assert_eq!(volatile_profiles(&case.inside()?)?, BRIDGE_PROFILES);
        assert!(case.inside()?.unit("ovs-configuration.service")?.exec_start.is_some());
        Ok(())
    })
}

/// Checks that nothing of the document is left.
fn is_automatic_again(case: &Case<'_>) -> Result<(), Error> {
    let inside = case.inside()?;
    bridge_outcome(&inside, None)?.exits(0);
    assert_eq!(volatile_profiles(&inside)?, BRIDGE_PROFILES);
    assert!(!ids(case)?.contains("br-ex-if"), "{}", ids(case)?);
    assert_eq!(inside.read(APPLIED)?, None);
    inside.run(&["dayone", "status"])?.exits(0);
    Ok(())
}
