//! What the network had in this boot decides about the attempts that follow, and about roll backs.

use tests::{
    dayone::{
        APISERVER, ATTEMPT, Document, ENTRIES, HOST_FILE, MAC, SOON, USERSPACE, agent, automatic,
        day_one_dhcp, held_at_boot, kubelet_ran, mark, release, settle, unwrapped, wait_held,
        with_holdable_agent,
    },
    lab::{Case, Error, Fault, Inside, Nic, Node, Peer},
};

/// A storage card with a gateway of its own, which NetworkManager ranks behind eno1, since that is up first.
const STORAGE: &str = "\
[connection]
id=eno2
uuid=0b6ba3d2-3ae1-4b37-8d5e-3f3c0b2fd0e2
type=ethernet
interface-name=eno2

[ipv4]
method=manual
address1=198.18.0.10/24,198.18.0.1

[ipv6]
method=disabled
";

const STORAGE_GATEWAY: [u8; 4] = [198, 18, 0, 1];

fn two_cards(node: Node) -> Node {
    let (path, text) = APISERVER;
    node.nic(Nic::new("eno2", "52:54:00:00:00:02").segment("storage"))
        .keyfile("eno1", &day_one_dhcp())
        .keyfile("eno2", STORAGE)
        .file(path, text, 0o644)
}

fn peer() -> Peer {
    Peer::new().dhcp().address("storage", STORAGE_GATEWAY.into(), 24)
}

/// The peer answers for the API on both networks: a storage network leads nowhere.
fn no_api_on_storage(case: &Case<'_>) -> Result<(), Error> {
    let rules = "add table inet st; add chain inet st in { type filter hook input priority -5; }; \
                 add rule inet st in iifname storage ip daddr 198.51.100.10 drop";
    let nft = case.peer().command("nft").arg(rules).output();
    let added = nft.is_ok_and(|output| output.status.success());
    added.then_some(()).ok_or(Error::Output { program: "nft", problem: "no rule".into() })
}

/// A document in the field's shape with DHCP on br-ex, whose default route has this metric.
fn dhcp(metric: &str) -> String {
    let mut document = Document::new();
    document.ip = format!(
        "  ipv4:\n    enabled: true\n    dhcp: true\n{metric}  ipv6:\n    enabled: false\n"
    );
    document.rest.clear();
    document.text()
}

/// The card, or the bridge, by which the API is reached.
fn leads(inside: &Inside) -> Result<String, Error> {
    let route = inside.sh("ip route get 198.51.100.10")?;
    let mut words = route.split_whitespace();
    Ok(words.find(|word| *word == "dev").and_then(|_| words.next()).unwrap_or_default().to_owned())
}

fn reaches_api(inside: &Inside) -> Result<bool, Error> {
    let asks =
        "timeout 5 bash -c '</dev/tcp/198.51.100.10/6443' 2>/dev/null && echo yes || echo no";
    Ok(inside.sh(asks)?.contains("yes"))
}

/// The default route of an OVS interface has NetworkManager's metric 800, so that the storage card leads and the API is silent
/// (NetworkManager, nm_device_get_route_metric_default). After the roll back NetworkManager numbers the cards' metrics anew.
#[tests::case]
fn a_document_that_was_refused_is_not_committed_while_the_api_is_away() -> Result<(), Error> {
    let node = two_cards(agent(Node::new("worker-0").nic(Nic::new("eno1", MAC))))
        .document(&dhcp(""))
        .settings("max-attempts = 0\n[timeout]\nprobe = 3\nbaseline = 2\n");
    node.run(&peer(), |case| {
        no_api_on_storage(case)?;
        let inside = case.power_on()?;
        let dayone = ENTRIES;
        inside.wait_message(&dayone, ATTEMPT, "the next attempt is in 5 s")?;
        let status = inside.run(&["dayone", "status"])?;
        let way = "packets to 198.51.100.10 leave by eno2 from 198.18.0.10 through 198.18.0.1";
        assert!(unwrapped(&status.stdout).contains(way), "{status}");
        // The roll back has put the former leader right, in the running device alone.
        assert_eq!(leads(&inside)?, "eno1");
        assert!(reaches_api(&inside)?);
        assert_eq!(inside.sh("grep -c route-metric /etc/NetworkManager/system-connections/* | grep -vc :0 || :")?.trim(), "0");
        // The API is away for an attempt, and for one of a restarted agent.
        case.peer_mut().fault(Fault::DropForwarded, true)?;
        let inside = case.inside()?;
        for _ in 0..2 {
            let mark = mark(&inside)?;
            inside.sh("systemctl restart --no-block dayone.service")?;
            inside.wait_message(&mark.entries(), ATTEMPT, "the old network has no answer either")?;
        }
        case.peer_mut().fault(Fault::DropForwarded, false)?;
        let inside = case.inside()?;
        inside.run(&["dayone", "apply"])?.exits(3);
        assert_eq!(leads(&inside)?, "eno1");
        assert!(reaches_api(&inside)? && !kubelet_ran(&inside)?);
        // A document that keeps the API ends the refusal, and the pause.
        inside.write(HOST_FILE, &dhcp("    auto-route-metric: 48\n"))?;
        inside.wait_unit("kubelet.service", "active", ATTEMPT)?;
        assert_eq!(leads(&inside)?, "br-ex");
        assert!(reaches_api(&inside)?);
        // Neither the document nor a profile has this route, which cuts the API off.
        inside.sh("ip route add 198.51.100.0/24 via 198.18.0.1 dev eno2")?;
        assert!(!reaches_api(&inside)?);
        let status = inside.run(&["dayone", "status"])?.exits(0);
        let removal = "ip route del 198.51.100.0/24 via 198.18.0.1 dev eno2 proto boot";
        let told = format!(
            "route: packets to the API (198.51.100.10) leave by a route of no configuration: `{removal}` removes it"
        );
        assert!(unwrapped(&status.stdout).contains(&told), "{status}");
        inside.sh(removal)?;
        let status = inside.run(&["dayone", "status"])?;
        assert!(!status.stdout.contains("of no configuration"), "{status}");
        assert!(reaches_api(&inside)?);

        inside.write("/tmp/without-metric.yml", &dhcp(""))?;
        let dry = ["dayone", "apply", "--dry-run", "--document", "/tmp/without-metric.yml"];
        let dry = inside.run(&dry)?;
        assert!(dry.stderr.contains("[route-metric-left-out]"), "{dry}");

        // Where no API answers a document whose route is behind is committed, and what leads now is told.
        case.peer_mut().fault(Fault::DropForwarded, true)?;
        let inside = case.inside()?;
        inside.write(HOST_FILE, &dhcp("    auto-route-metric: 800\n"))?;
        inside.sh("dayone apply --retry")?;
        assert_eq!(leads(&inside)?, "eno2");
        let status = inside.run(&["dayone", "status"])?;
        let told = "leads out of the node, before that of br-ex (metric 800)";
        assert!(unwrapped(&status.stdout).contains(told), "{status}");
        Ok(())
    })
}

/// The uplink, and what the next boot goes by.
const UPLINK_AND_HINT: &str = "ovs-vsctl list-ports br-ex; cat /var/lib/ovnk/iface_default_hint";

/// The API is silent while br-ex on eno1 is proved, and the hint is written with the commit.
#[tests::case]
fn a_second_attempt_at_the_automatic_bridge_takes_the_uplink_of_the_first() -> Result<(), Error> {
    let node = two_cards(automatic(Node::new("worker-0").nic(Nic::new("eno1", MAC))))
        .settings(&format!("[timeout]\nprobe = 3\n{USERSPACE}"))
        .file(
            "/etc/systemd/system/dayone-bridge.service.d/50-lab.conf",
            "[Unit]\nConditionPathExists=/etc/lab-go\n",
            0o644,
        );
    node.run(&peer(), |case| {
        no_api_on_storage(case)?;
        let inside = case.boot()?;
        settle(&inside)?;
        assert_eq!(leads(&inside)?, "eno1");
        inside.sh("touch /etc/lab-go; systemctl start --no-block dayone-bridge.service")?;
        inside.wait_message(&ENTRIES, ATTEMPT, "creating a checkpoint")?;
        case.peer_mut().fault(Fault::DropForwarded, true)?;
        let inside = case.inside()?;
        inside.wait_message(&ENTRIES, ATTEMPT, "probe api failed")?;
        // A choice that did not hold is no hint.
        assert_eq!(inside.read("/var/lib/ovnk/iface_default_hint")?, None);
        case.peer_mut().fault(Fault::DropForwarded, false)?;
        let inside = case.inside()?;
        inside.wait_unit("dayone-bridge.service", "active", ATTEMPT)?;
        assert_eq!(inside.sh(&format!("{UPLINK_AND_HINT}; sync"))?, "eno1\neno1");
        assert!(reaches_api(&inside)?);
        assert_eq!(
            inside.sh("test -e /run/dayone/memory.json && echo remembered")?.trim(),
            "remembered"
        );
        inside.wait_sh("! test -s /run/dayone/lock", SOON)?;
        // The hint of that commit goes first at the next boot: while the cable of the right card is out, the other one leads.
        case.connect("eno1", false)?;
        let inside = case.restart()?;
        let waits = "systemctl show --property=StatusText dayone-bridge.service | \
                     grep 'a default route of eno1, the uplink before'";
        inside.wait_sh(waits, ATTEMPT)?;
        assert_eq!(leads(&inside)?, "eno2");
        case.connect("eno1", true)?;
        inside.wait_unit("dayone-bridge.service", "active", ATTEMPT)?;
        assert_eq!(inside.sh(UPLINK_AND_HINT)?, "eno1\neno1");
        assert!(reaches_api(&inside)?);
        Ok(())
    })
}

/// The API goes between the baseline and the change, and stays away: no network of this node has it, and kubelet is not to wait for
/// ever.
#[tests::case]
fn a_first_boot_goes_on_without_an_api_that_stays_away() -> Result<(), Error> {
    let (path, text) = APISERVER;
    let node = with_holdable_agent(Node::new("worker-0").nic(Nic::new("eno1", MAC)));
    let node = held_at_boot(node, "verify")
        .day_one()
        .file(path, text, 0o644)
        .document(&Document::new().text())
        .settings("[wait]\nanswer = 10\n[timeout]\nprobe = 3\nbaseline = 2\n");
    node.run(&Peer::new(), |case| {
        let inside = case.power_on()?;
        wait_held(&inside)?;
        case.peer_mut().fault(Fault::DropForwarded, true)?;
        let inside = case.inside()?;
        release(&inside)?;
        inside.wait_message(&ENTRIES, ATTEMPT, "the old network has no answer either")?;
        assert!(!kubelet_ran(&inside)?);
        inside.wait_unit("kubelet.service", "active", ATTEMPT)?;
        let status = inside.run(&["dayone", "status"])?.exits(3);
        let line = format!("IN FORCE: {HOST_FILE}; without an answer of api ");
        assert!(unwrapped(&status.stdout).starts_with(&line), "{status}");
        inside.wait_unit("dayone-health@drifted.service", "failed", SOON)?;
        // The API is there again, and the command of the page takes this back.
        case.peer_mut().fault(Fault::DropForwarded, false)?;
        let inside = case.inside()?;
        inside.sh("dayone apply")?;
        inside.run(&["dayone", "status"])?.exits(0);
        inside.wait_unit("dayone-health@drifted.service", "inactive", SOON)?;
        Ok(())
    })
}
