//! A document in the field's shape, put in force at boot before kubelet starts.

use std::net::IpAddr;

use serde_json::{Value, json};
use tests::{
    dayone::{
        ADDRESS, ADDRESS6, APISERVER, APPLIED, CLUSTER, Document, HOST_FILE, MAC, MANAGER, SOON,
        agent, attempt, day_one_dhcp, exports, outcome, settle, start, try_document, unwrapped,
        worker,
    },
    derived::{balance_slb, in_userspace},
    lab::{Case, Error, Inside, Nic, Node, Peer},
};

const RECORD: &str = "/var/lib/dayone/record.json";

/// Checks that the document is in force: kubelet started after the agent, and br-ex has the card's MAC address.
fn in_force(
    case: &Case<'_>,
    addresses: &[IpAddr],
    file: &str,
    text: &str,
) -> Result<Inside, Error> {
    let inside = case.inside()?;
    outcome(&inside, None)?.exits(0);
    for address in addresses {
        assert!(case.peer().pings(*address, SOON)?, "{address}");
        assert_eq!(case.peer().mac_of(*address)?.as_deref(), Some(MAC), "{address}");
    }
    assert_eq!(inside.sh("cat /sys/class/net/br-ex/address")?, MAC);
    assert_eq!(inside.sh("ip -oneline address show dev eno1 scope global")?, "");
    let (dayone, kubelet) = (inside.unit("dayone.service")?, inside.unit("kubelet.service")?);
    assert_eq!((&*dayone.active_state, &*kubelet.active_state), ("active", "active"));
    assert!(dayone.active_enter.is_some());
    assert!(kubelet.exec_start > dayone.active_enter, "{kubelet:?} {dayone:?}");
    let seen = inside.read("/run/lab-kubelet/addresses")?.unwrap_or_default();
    for address in addresses {
        assert!(seen.contains(&format!("\"local\":\"{address}\"")), "{address} in {seen}");
    }
    let routes = inside.read("/run/lab-kubelet/routes")?.unwrap_or_default();
    assert!(routes.contains("\"default\"") && routes.contains("\"br-ex\""), "{routes}");
    assert_eq!(inside.read(APPLIED)?.as_deref(), Some(text));
    inside.run(&["dayone", "status"])?.exits(0).says(file);
    exports(&inside)?;
    Ok(inside)
}

#[tests::case]
fn static_host_file_with_the_operators_units_beside_it() -> Result<(), Error> {
    let text = Document::new().text();
    let node = worker()
        .day_one()
        .document(&text)
        .file(APISERVER.0, APISERVER.1, 0o644)
        .machine_config_operator();
    node.run(&Peer::new(), |case| {
        case.boot()?;
        let inside = in_force(case, &[ADDRESS.into()], HOST_FILE, &text)?;
        assert!(case.peer().api_connections() >= 1);
        let status = inside.read("/run/dayone/status.json")?.unwrap_or_default();
        for probe in ["gateway 192.0.2.1", "dns", "api"] {
            assert!(status.contains(&format!("\"name\": \"{probe}\"")), "{probe} in {status}");
        }
        inside.wait_sh("getent ahosts api.lab.test", SOON)?;
        // The operator's units are skipped in this boot: some releases delete an existing bridge.
        for unit in ["nmstate-configuration", "ovs-configuration"] {
            assert_eq!(inside.read(&format!("/run/lab-{unit}"))?, None);
            assert_eq!(inside.unit(&format!("{unit}.service"))?.exec_start, None, "{unit}");
        }
        Ok(())
    })
}

/// nmstate-configuration of 4.16 makes its mark first, and power was cut then: the document is not in force. Leases have no end, so
/// that the kernel shows their addresses as those of other programs.
#[tests::case]
fn dhcp_keeps_its_lease() -> Result<(), Error> {
    let mut document = Document::new();
    document.ip =
        "  ipv4:\n    enabled: true\n    dhcp: true\n  ipv6:\n    enabled: false\n".into();
    document.rest.clear();
    // nmstate drops the key on the ovs-bridge, as blogs have it: it is the ovs-interface's.
    let text = document.text();
    let on_interface = "type: ovs-interface\n  state: up\n  copy-mac-from: eno1\n";
    assert!(text.contains(on_interface), "{text}");
    let text = text.replace(on_interface, "type: ovs-interface\n  state: up\n");
    let node = worker()
        .keyfile("eno1", &day_one_dhcp())
        .document(&text)
        .file(APPLIED, "", 0o644)
        .settings("[wait]\nnetwork = 2\n");
    node.run(&Peer::new().dhcp().endless_leases().mtu(9000), |case| {
        case.boot()?;
        let address = the_one_lease(case)?;
        let inside = in_force(case, &[address], HOST_FILE, &text)?;
        // The card had the address before the bridge.
        for device in ["eno1", "br-ex"] {
            let (who, lease) =
                (format!("dhcp4 ({device})"), format!("new lease, address={address}"));
            let manager = ["_SYSTEMD_UNIT=NetworkManager.service"];
            inside.wait_journal(&manager, SOON, |entry| {
                entry.message().contains(&who) && entry.message().contains(&lease)
            })?;
        }
        a_larger_mtu_of_the_network_is_told(&inside)?;
        case.reboot()?;
        assert_eq!(the_one_lease(case)?, address);
        let inside = in_force(case, &[address], HOST_FILE, &text)?;
        a_record_that_is_lost_is_written_anew(&inside)?;
        a_record_without_a_network_is_no_proof(&inside)?;
        another_lease_is_told(&inside, &text, address)?;
        a_leased_address_goes_with_its_lease(&inside, address)
    })
}

/// The card's own.
fn the_one_lease(case: &Case<'_>) -> Result<IpAddr, Error> {
    let leases = case.peer().leases()?;
    assert_eq!(leases.len(), 1, "{leases:?}");
    assert_eq!(leases[0].mac, MAC);
    assert_eq!(leases[0].client_id, format!("01:{MAC}"));
    Ok(leases[0].address)
}

/// At the commit, by the page and by the probe, which does not blame a switch.
fn a_larger_mtu_of_the_network_is_told(inside: &Inside) -> Result<(), Error> {
    let told = "br-ex has an MTU of 9000, and eno1 below it has 1500: larger packets are lost";
    inside.wait_journal(&["SYSLOG_IDENTIFIER=dayone", "PRIORITY=4"], SOON, |entry| {
        entry.message() == told
    })?;
    inside.run(&["dayone", "status"])?.says_wrapped(told);
    let probe = inside.run(&["dayone", "probe"])?.exits(3).says_wrapped(told);
    assert!(!probe.stdout.contains("switch"), "{probe}");
    Ok(())
}

/// By the checks before, and by the agent once it is there.
fn another_lease_is_told(inside: &Inside, text: &str, leased: IpAddr) -> Result<(), Error> {
    let checked = inside.sh("dayone check 2>&1")?;
    for rule in ["mac-not-fixed", "route-metric-left-out"] {
        assert!(checked.contains(rule), "{checked}");
    }
    let other = text.replace("  copy-mac-from: eno1\n", "").replace(
        "type: ovs-interface\n",
        "type: ovs-interface\n  mac-address: 52:54:00:00:00:77\n",
    );
    try_document(inside, &other)?.exits(0);
    let status = unwrapped(&inside.sh("dayone status")?);
    assert!(status.contains(&format!("and before the change {leased}/24 on br-ex")), "{status}");
    Ok(())
}

fn a_record_that_is_lost_is_written_anew(inside: &Inside) -> Result<(), Error> {
    inside.sh("rm -r /var/lib/dayone/*")?;
    attempt(inside)?.exits(0).says("in force by another tool");
    let record = inside.read(RECORD)?.unwrap_or_default();
    assert!(record.contains("\"ipv4\""), "{record}");
    Ok(())
}

/// An agent before 0.2.0 recorded no network, and such a document tells no family.
fn a_record_without_a_network_is_no_proof(inside: &Inside) -> Result<(), Error> {
    let text = inside.read(RECORD)?.unwrap_or_default();
    let mut record: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    let network =
        record["committed"].as_object_mut().and_then(|committed| committed.remove("uplinks"));
    assert!(network.is_some(), "{text}");
    inside.write(RECORD, &record.to_string())?;
    inside.sh("nmcli connection down br-ex-if")?;
    let applied = attempt(inside)?.exits(0);
    assert!(!applied.text().contains("in force already"), "{}", applied.text());
    assert_ne!(inside.sh("ip -oneline -4 address show dev br-ex scope global")?, "");
    Ok(())
}

fn a_leased_address_goes_with_its_lease(inside: &Inside, leased: IpAddr) -> Result<(), Error> {
    try_document(inside, &Document::new().text())?.exits(0);
    let addresses = inside.sh("ip -oneline -4 address show dev br-ex scope global")?;
    assert!(addresses.contains(&ADDRESS.to_string()), "{addresses}");
    assert!(!addresses.contains(&format!("{leased}/")), "{addresses}");
    Ok(())
}

/// With the userspace datapath nmstate reads the settings of br-ex from a profile that NetworkManager generates for its tap.
#[tests::case]
fn dhcp_of_both_families_with_a_metric() -> Result<(), Error> {
    let mut document = Document::new();
    document.ip = "  description: uplink\n  \
                   ipv4: {enabled: true, dhcp: true, auto-route-metric: 48}\n  \
                   ipv6: {enabled: true, dhcp: true, autoconf: true, auto-route-metric: 48}\n"
        .into();
    document.rest.clear();
    let text = document.text();
    // The second family comes when the first one has long been there, as where a switch asks the router late.
    let late = "echo 3 >/proc/sys/net/ipv6/conf/default/dad_transmits";
    let node = worker().keyfile("eno1", &day_one_dhcp()).document(&text).early(late);
    node.run(&Peer::new().dhcp().router_advertisements(), |case| {
        case.boot()?;
        let inside = in_force(case, &[], HOST_FILE, &text)?;
        for family in ["-4", "-6"] {
            let route = format!("ip {family} route show default dev br-ex | grep 'metric 48'");
            inside.wait_sh(&route, SOON)?;
        }
        assert!(inside.sh("dayone diff")?.contains("# no difference"));
        // The next boot waits for both, though the old network had one of them alone.
        let record = inside.read(RECORD)?.unwrap_or_default();
        assert!(record.contains("\"ipv4\"") && record.contains("\"ipv6\""), "{record}");
        // A record that has one of them, as of a commit before the router answered, gets the other one.
        let mut first_alone: Value = serde_json::from_str(&record).expect("a record");
        let uplinks = &mut first_alone["committed"]["uplinks"];
        for list in ["families", "preferred"] {
            let all = uplinks[list].as_array_mut().expect("a list");
            all.retain(|entry| !entry.to_string().contains("ipv6"));
        }
        assert_eq!(uplinks["families"], json!(["ipv4"]));
        inside.write(RECORD, &first_alone.to_string())?;
        inside.sh("systemctl restart dayone.service")?;
        inside.wait_sh(&format!("grep -q '\"ipv6\"' {RECORD}"), SOON)?;
        assert!(inside.sh("dayone status")?.contains("IN FORCE"));
        // The router has gone: kubelet has the other family, and nobody is woken.
        inside.sh(
            "ip -6 address flush dev br-ex scope global && ip -6 route flush default dev br-ex",
        )?;
        let status = unwrapped(&inside.sh("dayone status")?);
        let first = format!("IN FORCE: {HOST_FILE}; without IPv6 ");
        assert!(status.starts_with(&first), "{status}");
        inside.sh("dayone health")?;
        Ok(())
    })
}

#[tests::case]
fn dual_stack_from_cluster_yml() -> Result<(), Error> {
    let mut document = Document::new().with(
        "  ipv6:\n    enabled: false\n",
        "  ipv6:\n    enabled: true\n    autoconf: false\n    dhcp: false\n    address:\n    - ip: 2001:db8::10\n      prefix-length: 64\n",
    );
    document.rest.push_str(
        "  - destination: ::/0\n    next-hop-address: 2001:db8::1\n    next-hop-interface: br-ex\n",
    );
    let text = document.text();
    worker().day_one().file(CLUSTER, &text, 0o644).run(&Peer::new(), |case| {
        case.boot()?;
        let inside = in_force(case, &[ADDRESS.into(), ADDRESS6.into()], CLUSTER, &text)?;
        assert!(inside.sh("ip -6 route show default")?.contains("via 2001:db8::1 dev br-ex"));
        inside.sh("timeout 3 bash -c ': </dev/tcp/2001:db8:1::10/6443'")?;
        // Day two takes a family away: told, and neither activated nor applied again.
        inside.sh(
            "nmcli connection modify br-ex-if ipv6.method disabled ipv6.addresses '' ipv6.gateway '' ipv6.routes '' && \
             nmcli device reapply br-ex",
        )?;
        inside.write("/etc/dayone/dayone.toml", "[wait]\nnetwork = 2\n")?;
        attempt(&inside)?.exits(0).says("in force already");
        let status = unwrapped(&inside.run(&["dayone", "status"])?.stdout);
        assert!(status.contains("the other family works, but"), "{status}");
        assert!(!inside.sh("ip address show dev br-ex")?.contains("2001:db8::10"));
        assert!(case.peer().pings(ADDRESS, SOON)?);
        Ok(())
    })
}

#[tests::case]
fn card_that_appears_late_is_waited_for() -> Result<(), Error> {
    let text = Document::new().text();
    // Beside a datapath in userspace the kernel sees what reaches a card too, and would answer for br-ex with the card's address.
    let node = agent(Node::new("worker-0"))
        .day_one()
        .document(&text)
        .early("echo 1 >/proc/sys/net/ipv4/conf/all/arp_ignore");
    node.run(&Peer::new(), |case| {
        let inside = case.power_on()?;
        // The delay, as counted by the agent.
        let said = "systemctl show --property=StatusText dayone.service \
                    | grep -E 'waiting for link eno1 \\(([5-9]|[1-9][0-9]) s of 60\\)'";
        inside.wait_sh(said, 3 * SOON)?;
        assert_eq!(inside.unit("kubelet.service")?.active_state, "inactive");
        case.plug(Nic::new("eno1", MAC))?;
        inside.wait_unit("kubelet.service", "active", 3 * SOON)?;
        in_force(case, &[ADDRESS.into()], HOST_FILE, &text)?;
        a_bond_of_open_vswitch_takes_both_cards(case)?;
        br_ex_is_on_a_trunk_beside_a_second_bridge(case)
    })
}

/// The kernel of the container's host has no bonds, so that the early network is the card's.
const BONDED: &str = "\
interfaces:
- {name: eno1, type: ethernet, state: up}
- {name: eno2, type: ethernet, state: up}
- name: bond0
  type: bond
  state: up
  link-aggregation: {mode: active-backup, port: [eno1, eno2]}
  ipv4: {enabled: true, address: [{ip: 192.0.2.10, prefix-length: 24}]}
dns-resolver: {config: {server: [192.0.2.1]}}
routes: {config: [{destination: 0.0.0.0/0, next-hop-address: 192.0.2.1, next-hop-interface: bond0}]}
";

fn a_bond_of_open_vswitch_takes_both_cards(case: &mut Case<'_>) -> Result<(), Error> {
    case.plug(Nic::new("eno2", "52:54:00:00:00:02"))?;
    let text = in_userspace(&balance_slb(BONDED).expect("a derived document"));
    let inside = case.inside()?;
    try_document(&inside, &text)?.exits(0);
    assert!(inside.sh("dayone diff")?.contains("# no difference"));
    // Either of the two proves the next boot.
    let record = inside.read(RECORD)?.unwrap_or_default();
    let record: serde_json::Value = serde_json::from_str(&record).unwrap_or_default();
    let cards = &record["committed"]["uplinks"]["cards"];
    assert_eq!(*cards, serde_json::json!([{"name": "eno1"}, {"name": "eno2"}]));
    case.reboot()?;
    let inside = in_force(case, &[ADDRESS.into()], HOST_FILE, &text)?;
    let bond = inside.sh("ovs-appctl bond/show ovs-bond")?;
    let uplink = "ovs-vsctl br-get-external-id br-ex bridge-uplink";
    assert_eq!(inside.sh(uplink)?, "patch-ex-to-phy", "as OVN-Kubernetes asks");
    for words in ["bond_mode: balance-slb", "member eno1: enabled", "member eno2: enabled"] {
        assert!(bond.contains(words), "{words} in {bond}");
    }
    case.connect("eno1", false)?;
    assert!(case.peer().pings(ADDRESS, SOON)?);
    case.inside()?.run(&["dayone", "status"])?.exits(0);
    Ok(())
}

/// A bond of Open vSwitch's in br-ex itself, a trunk with the node's address untagged, storage on one of its VLANs; a bridge
/// of its own for a localnet.
const TRUNK: &str = "\
interfaces:
- {name: eno1, type: ethernet, state: up}
- {name: eno2, type: ethernet, state: up}
- {name: eno3, type: ethernet, state: up}
- name: br-ex
  type: ovs-bridge
  state: up
  bridge:
    options: {datapath: netdev}
    port:
    - name: uplink
      link-aggregation: {mode: active-backup, port: [{name: eno1}, {name: eno2}]}
    - {name: br-ex}
    - {name: storage, vlan: {mode: access, tag: 204}}
- name: br-ex
  type: ovs-interface
  state: up
  ipv4: {enabled: true, dhcp: false, address: [{ip: 192.0.2.10, prefix-length: 24}]}
- name: storage
  type: ovs-interface
  state: up
  ipv4: {enabled: true, dhcp: false, address: [{ip: 198.51.100.70, prefix-length: 24}]}
- name: br-local
  type: ovs-bridge
  state: up
  bridge: {options: {datapath: netdev}, port: [{name: eno3}]}
ovn: {bridge-mappings: [{localnet: tenants, bridge: br-local, state: present}]}
dns-resolver: {config: {server: [192.0.2.1]}}
routes: {config: [{destination: 0.0.0.0/0, next-hop-address: 192.0.2.1, next-hop-interface: br-ex}]}
";

fn br_ex_is_on_a_trunk_beside_a_second_bridge(case: &mut Case<'_>) -> Result<(), Error> {
    case.connect("eno1", true)?;
    case.plug(Nic::new("eno3", "52:54:00:00:00:03"))?;
    let inside = case.inside()?;
    try_document(&inside, TRUNK)?.exits(0);
    assert!(case.peer().pings(ADDRESS, SOON)?);
    let ports = "ovs-vsctl get port uplink bond_mode vlan_mode trunks -- get port storage tag -- list-ports br-local \
                 -- get open_vswitch . external_ids:ovn-bridge-mappings";
    let expected = "active-backup\n[]\n[]\n204\neno3\n\"tenants:br-local\"";
    assert_eq!(inside.sh(ports)?, expected);
    assert!(!inside.sh("ovs-vsctl list-br")?.contains("br-phy"));
    // The export is as the node is.
    let exported = exports(&inside)?;
    assert!(exported.contains("mode: active-backup") && exported.contains("tenants"), "{exported}");
    case.connect("eno1", false)?;
    assert!(case.peer().pings(ADDRESS, SOON)?);
    case.inside()?.run(&["dayone", "status"])?.exits(0);
    Ok(())
}

/// nmstate renews its checkpoint while it applies, after a second on a slow node. One that the commit left open would roll the
/// document back minutes later.
#[tests::case]
fn slow_networkmanager_is_left_no_checkpoint() -> Result<(), Error> {
    worker().day_one().document("").run(&Peer::new(), |case| {
        let inside = case.boots(0)?;
        settle(&inside)?;
        let slow = "main=$(systemctl show --property=MainPID --value NetworkManager.service); \
                    while kill -STOP $main; do sleep 0.2; kill -CONT $main; sleep 0.05; done";
        inside.sh(&format!("systemd-run --unit=slow sh -c '{slow}'"))?;
        let it = try_document(&inside, &Document::new().text())?;
        inside.sh(
            "systemctl stop slow.service; systemctl kill --signal=CONT NetworkManager.service",
        )?;
        assert_eq!(it.exit, 0, "{}", it.text());
        assert_eq!(inside.sh(&format!("busctl get-property {MANAGER} Checkpoints"))?, "ao 0");
        checkpoints_of_others_are_waited_for(&inside)
    })
}

/// A program at work, such as kubernetes-nmstate, has its checkpoint for a while; one without an end is somebody's mistake.
fn checkpoints_of_others_are_waited_for(inside: &Inside) -> Result<(), Error> {
    let create = |seconds: u8| {
        inside.sh(&format!(
            "busctl call {MANAGER} CheckpointCreate aouu 0 {seconds} 0 | cut --delimiter='\"' --fields=2"
        ))
    };
    let another = Document::new()
        .with("    - 192.0.2.1\nroutes", "    - 192.0.2.1\n    search:\n    - example.org\nroutes")
        .text();
    create(8)?;
    inside.write(HOST_FILE, &another)?;
    let waits = "waiting for the end of another program's checkpoint on br-ex, eno1";
    let begin = start(inside)?;
    let says = "systemctl show --property=StatusText dayone.service";
    inside.wait_sh(&format!("{says} | grep --quiet \"{waits}\""), SOON)?;
    outcome(inside, Some(&begin))?.exits(0);
    let told = inside.journal(&begin.entries())?;
    assert!(told.iter().any(|entry| entry.message().starts_with(waits)), "{told:?}");
    // Neither a failed attempt nor a word on the console.
    for failure in ["WAITING: ", "the next attempt", "rolling back"] {
        let entry = told.iter().find(|entry| entry.message().contains(failure));
        assert!(entry.is_none(), "{entry:?}");
    }

    let checkpoint = create(0)?;
    // What is in force needs no checkpoint.
    attempt(inside)?.says("in force already");
    let it = try_document(inside, &Document::new().text())?.exits(1);
    for told in ["another program holds a checkpoint", "eno1", "has no end", &checkpoint] {
        assert!(it.text().contains(told), "{}", it.text());
    }
    // Both commands of the text: NetworkManager's interface names no owner, and its journal has the process.
    let commands: Vec<&str> = it.text().split('`').skip(1).step_by(2).take(2).collect();
    assert_eq!(commands.len(), 2, "{}", it.text());
    let audit = inside.sh(commands[0])?;
    assert!(audit.contains("checkpoint-create") && audit.contains(" pid="), "{audit}");
    inside.sh(commands[1])?;
    attempt(inside)?.exits(0);
    Ok(())
}

/// A document with mode 0600 and secrets in it: neither copies nor output disclose them.
#[tests::case]
fn copies_are_as_readable_as_their_document_and_secrets_are_not_printed() -> Result<(), Error> {
    let text = Document::new().text();
    worker().day_one().file(HOST_FILE, &text, 0o600).run(&Peer::new(), |case| {
        let inside = case.boots(0)?;
        let modes = inside.sh(&format!("stat -c %a {APPLIED} {RECORD}"))?;
        assert_eq!(modes, "600\n600");
        let kept = inside.run(&["dayone", "export", "--last-good"])?;
        assert_eq!(kept.stdout, text);

        let secret = "state: up\n  802.1x:\n    identity: worker-0\n    eap-methods: [peap]\n    \
                      phase2-auth: mschapv2\n    password: not-to-be-seen\n";
        inside.write(HOST_FILE, &text.replacen("state: up\n", secret, 1))?;
        let diff = inside.run(&["env", "DAYONE_LOG=debug", "dayone", "diff"])?.says("802.1x");
        assert!(!diff.to_string().contains("not-to-be-seen"), "{diff}");
        Ok(())
    })
}
