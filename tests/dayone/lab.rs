//! The lab itself: the facilities that every other case relies on.

use std::{
    env, fs,
    net::{Ipv4Addr, Ipv6Addr},
    os::unix::process::ExitStatusExt,
    process,
    time::Duration,
};

use tests::lab::{Error, Fault, Lab, Nic, Node, Peer};

const MAC: &str = "52:54:00:00:00:01";
const ADDRESS: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 10);
const ADDRESS6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0x10);
const SOON: Duration = Duration::from_secs(5);

const STATIC: &str = "\
[connection]
id=eno1
uuid=0b6ba3d2-3ae1-4b37-8d5e-3f3c0b2fd001
type=ethernet
interface-name=eno1

[ipv4]
method=manual
address1=192.0.2.10/24,192.0.2.1
dns=192.0.2.1;

[ipv6]
method=manual
address1=2001:db8::10/64,2001:db8::1
may-fail=false
";

fn node() -> Node {
    Node::new("worker-0").nic(Nic::new("eno1", MAC))
}

#[tests::case]
fn static_address_is_reached_by_the_peer() -> Result<(), Error> {
    node().keyfile("eno1", STATIC).run(&Peer::new(), |case| {
        case.boot()?;
        assert_eq!(case.inside()?.unit("NetworkManager.service")?.active_state, "active");
        assert!(case.peer().pings(ADDRESS, SOON)?);
        assert_eq!(case.peer().mac_of(ADDRESS)?.as_deref(), Some(MAC));
        Ok(())
    })
}

#[tests::case]
fn dhcp_gives_the_lease_that_the_peer_shows() -> Result<(), Error> {
    let profile = STATIC.split("\n[ipv4]").next().unwrap_or_default().to_owned()
        + "\n[ipv4]\nmethod=auto\ndhcp-client-id=mac\nmay-fail=false\n\n[ipv6]\nmethod=disabled\n";
    node().keyfile("eno1", &profile).run(&Peer::new().dhcp(), |case| {
        let inside = case.boot()?;
        inside.wait_sh("ip -4 route show default | grep -q 192.0.2.1", SOON)?;
        let leases = case.peer().leases()?;
        assert_eq!(leases.len(), 1, "{leases:?}");
        assert_eq!(leases[0].mac, MAC);
        assert_eq!(leases[0].client_id, format!("01:{MAC}"));
        assert!(case.peer().pings(leases[0].address, SOON)?);
        Ok(())
    })
}

/// The keyfiles that NetworkManager needs for br-ex on one card.
fn bridge(node: Node) -> Node {
    let port = |id: &str, slave: &str| {
        format!(
            "[connection]\nid={id}\ntype=ovs-port\ninterface-name={id}\ncontroller=br-ex\nport-type=ovs-bridge\n{slave}"
        )
    };
    node.keyfile(
        "br-ex-br",
        "[connection]\nid=br-ex-br\ntype=ovs-bridge\ninterface-name=br-ex\n\n\
         [ovs-bridge]\ndatapath-type=netdev\n",
    )
    .keyfile("br-ex-port", &port("br-ex-port", ""))
    .keyfile("eno1-port", &port("eno1-port", ""))
    .keyfile(
        "eno1",
        "[connection]\nid=eno1\ntype=ethernet\ninterface-name=eno1\ncontroller=eno1-port\nport-type=ovs-port\n",
    )
    .keyfile(
        "br-ex-if",
        &format!(
            "[connection]\nid=br-ex-if\ntype=ovs-interface\ninterface-name=br-ex\n\
             controller=br-ex-port\nport-type=ovs-port\n\n[ethernet]\ncloned-mac-address={MAC}\n\n\
             [ovs-interface]\ntype=internal\n\n\
             [ipv4]\nmethod=manual\naddress1=192.0.2.10/24,192.0.2.1\ndns=192.0.2.1;\n\n\
             [ipv6]\nmethod=manual\naddress1=2001:db8::10/64,2001:db8::1\n"
        ),
    )
}

#[tests::case]
fn bridge_in_userspace_carries_ping_dns_and_tcp() -> Result<(), Error> {
    bridge(node()).run(&Peer::new(), |case| {
        case.boot()?;
        assert!(case.peer().pings(ADDRESS, SOON)?);
        assert!(case.peer().pings(ADDRESS6, SOON)?);
        assert_eq!(case.peer().mac_of(ADDRESS)?.as_deref(), Some(MAC));
        let inside = case.inside()?;
        assert_eq!(inside.sh("ovs-vsctl get bridge br-ex datapath_type")?, "netdev");
        // By name: DNS over UDP, then TCP, through the bridge.
        inside.wait_sh("getent ahosts api.lab.test", SOON)?;
        let before = case.peer().api_connections();
        inside.sh("timeout 3 bash -c ': </dev/tcp/198.51.100.10/6443'")?;
        inside.sh("timeout 3 bash -c ': </dev/tcp/2001:db8:1::10/6443'")?;
        case.peer().wait_api_connections(before + 2, SOON)?;
        Ok(())
    })
}

#[tests::case]
fn disk_outlives_reboot_and_power_cut() -> Result<(), Error> {
    node().keyfile("eno1", STATIC).run(&Peer::new(), |case| {
        case.boot()?;
        case.inside()?.write("/etc/dayone/one", "1\n")?;
        case.inside()?.sh("touch /run/volatile")?;
        // From inside, as in `tests/lab/shell`; without logind it complains, and goes on.
        case.inside()?.run(&["systemctl", "reboot", "--no-block"])?;
        assert!(case.follow(Duration::from_secs(60))?, "the node asked for a reboot");
        case.wait_started(Duration::from_secs(60))?;
        let inside = case.inside()?;
        assert_eq!(inside.read("/etc/dayone/one")?.as_deref(), Some("1\n"));
        assert_eq!(inside.read("/run/volatile")?, None);
        inside.write("/var/lib/dayone/two", "2\n")?;
        case.cut_power()?;
        assert!(matches!(case.inside(), Err(Error::NotRunning)));
        assert!(!case.peer().pings(ADDRESS, Duration::from_secs(1))?);
        case.boot()?;
        assert_eq!(case.inside()?.read("/var/lib/dayone/two")?.as_deref(), Some("2\n"));
        assert!(case.peer().pings(ADDRESS, SOON)?);
        Ok(())
    })
}

#[tests::case]
fn killed_networkmanager_comes_back() -> Result<(), Error> {
    node().keyfile("eno1", STATIC).run(&Peer::new(), |case| {
        let inside = case.boot()?;
        // Timed by the journal: after NetworkManager's first start-up.
        let unit = "_SYSTEMD_UNIT=NetworkManager.service";
        let first = inside.wait_message(&[unit], SOON, "startup complete")?;
        inside.kill("NetworkManager.service")?;
        let second = inside.wait_journal(&[unit], SOON, |entry| {
            entry.message().contains("startup complete")
                && entry.field("_PID") != first.field("_PID")
        })?;
        assert!(second.field("__MONOTONIC_TIMESTAMP").is_some());
        assert!(case.peer().pings(ADDRESS, SOON)?);
        Ok(())
    })
}

/// Makes the process that runs the test below abort in the middle of a case, with the name of its room in this file.
const ABORT: &str = "LAB_ABORT";

#[tests::case]
fn aborted_run_is_swept_up_by_the_next() -> Result<(), Box<dyn std::error::Error>> {
    if let Some(room) = env::var_os(ABORT) {
        let lab = Lab::open()?;
        fs::write(room, lab.name())?;
        let mut case = lab.case(node(), &Peer::new())?;
        case.boot()?;
        process::abort();
    }
    let room = tempfile::NamedTempFile::new()?;
    let child = process::Command::new(env::current_exe()?)
        .args(["--exact", "lab::aborted_run_is_swept_up_by_the_next"])
        .env(ABORT, room.path())
        .output()?;
    let room = fs::read_to_string(room.path())?;
    let lab = Lab::open_named(&room)?;
    assert!(child.status.signal().is_some(), "{child:?}");
    lab.check_clean()?;
    Ok(lab.run(node().keyfile("eno1", STATIC), &Peer::new(), |case| {
        case.boot()?;
        assert!(case.peer().pings(ADDRESS, SOON)?);
        Ok::<_, Error>(())
    })?)
}

#[tests::case]
fn peer_misbehaves_when_told() -> Result<(), Error> {
    node().keyfile("eno1", STATIC).run(&Peer::new(), |case| {
        let inside = case.boot()?;
        let gateway = "ping -n -q -c1 -W1 192.0.2.1";
        let api = "timeout 1 bash -c ': </dev/tcp/198.51.100.10/6443'";
        let dns = "timeout 2 getent ahosts api.lab.test";
        let neighbour = "ip neigh flush to 192.0.2.1; ping -n -q -c1 -W1 192.0.2.1; \
                         ip neigh show to 192.0.2.1 | grep -q lladdr";
        let works = |command| Ok::<_, Error>(inside.run(&["sh", "-c", command])?.status.success());
        inside.wait_sh(gateway, SOON)?;
        // Each fault, with the services that it breaks and those that go on.
        for (fault, broken, whole) in [
            (Fault::DropForwarded, api, gateway),
            (Fault::DropTraffic, gateway, neighbour),
            (Fault::IgnoreNeighbours, neighbour, "true"),
            (Fault::DropPing, gateway, api),
            (Fault::DropDns, dns, api),
        ] {
            assert!(works(broken)?, "{fault:?} before");
            case.peer_mut().fault(fault, true)?;
            assert!(!works(broken)?, "{fault:?} breaks nothing");
            assert!(works(whole)?, "{fault:?} breaks too much");
            case.peer_mut().fault(fault, false)?;
            inside.wait_sh(broken, SOON)?;
        }
        case.peer_mut().stop_api();
        assert!(!works(api)?);
        case.peer_mut().start_api()?;
        assert!(works(api)?);
        Ok(())
    })
}

#[tests::case]
fn cards_come_late_and_cables_are_pulled() -> Result<(), Error> {
    let node = Node::new("worker-0")
        .nic(Nic::new("eno2", "52:54:00:00:00:02").without_carrier())
        .keyfile("eno1", STATIC);
    node.run(&Peer::new(), |case| {
        case.boot()?;
        assert!(!case.peer().pings(ADDRESS, Duration::from_secs(1))?);
        case.plug(Nic::new("eno1", MAC))?;
        assert!(case.peer().pings(ADDRESS, SOON)?);
        let inside = case.inside()?;
        let carrier = || inside.sh("cat /sys/class/net/eno2/carrier");
        assert_eq!(carrier()?, "0");
        case.peer().carrier("eno2", true)?;
        assert_eq!(carrier()?, "1");
        Ok(())
    })
}

#[tests::case]
fn disk_faults_hold_for_root() -> Result<(), Error> {
    let node = node()
        .small_filesystem("/var/lib/dayone", "64k")
        .file("/etc/dayone/dayone.toml", "", 0o640)
        .read_only("/etc")
        .dmi("SN-1234", "4c4c4544-0000-1000-8000-000000000001")
        .mask("openvswitch-switch.service")
        .keyfile("eno1", STATIC);
    node.run(&Peer::new(), |case| {
        let inside = case.boot()?;
        let full =
            inside.run(&["dd", "if=/dev/zero", "of=/var/lib/dayone/x", "bs=128k", "count=1"])?;
        assert!(full.stderr.contains("No space left on device"), "{full}");
        let touch = inside.run(&["touch", "/etc/x"])?;
        assert!(touch.stderr.contains("Read-only file system"), "{touch}");
        assert_eq!(inside.sh("cat /sys/class/dmi/id/product_serial")?, "SN-1234");
        assert_eq!(inside.sh("cat /sys/class/net/eno1/address")?, MAC);
        assert_eq!(inside.sh("stat -c %a /etc/dayone/dayone.toml")?, "640");
        assert_eq!(inside.unit("openvswitch.service")?.active_state, "inactive");
        assert!(case.peer().pings(ADDRESS, SOON)?);
        Ok(())
    })
}

#[tests::case]
fn kubelet_waits_for_dayone_and_the_operator_keeps_off() -> Result<(), Error> {
    // A unit as slow as the agent.
    let dayone = "[Unit]\nBefore=kubelet-dependencies.target nmstate-configuration.service\n\
                  After=NetworkManager.service openvswitch.service\n\
                  [Service]\nType=oneshot\nRemainAfterExit=yes\n\
                  ExecStart=/bin/sh -c 'until ip -4 route show default | grep -q .; do :; done; logger -t dayone done'\n";
    let document = "interfaces: []\n";
    let node = node()
        .keyfile("eno1", STATIC)
        .unit("dayone.service", dayone)
        .enable("dayone.service")
        .file("/etc/nmstate/openshift/worker-0.yml", document, 0o644)
        .file("/etc/nmstate/openshift/applied", document, 0o644)
        .machine_config_operator()
        .kubelet();
    node.run(&Peer::new(), |case| {
        let inside = case.boot()?;
        let entry = inside.wait_journal(&["SYSLOG_IDENTIFIER=dayone"], SOON, |_| true)?;
        assert_eq!(entry.message(), "done");
        assert!(entry.field("_PID").is_some());
        let (kubelet, dayone) = (inside.unit("kubelet.service")?, inside.unit("dayone.service")?);
        assert_eq!(kubelet.active_state, "active");
        assert!(kubelet.exec_start > dayone.active_enter, "{kubelet:?} {dayone:?}");
        let routes = inside.read("/run/lab-kubelet/routes")?.unwrap_or_default();
        assert!(routes.contains("\"default\""), "{routes}");
        // The unit waits for NetworkManager to be online, as in the field.
        inside.wait_unit("ovs-configuration.service", "active", SOON)?;
        let seen = |name: &str| inside.read(&format!("/run/lab-{name}"));
        assert_eq!(
            seen("nmstate-configuration")?.as_deref(),
            Some("nothing: /etc/nmstate/openshift/worker-0.yml is applied\n")
        );
        assert_eq!(
            seen("ovs-configuration")?.as_deref(),
            Some("nothing: br-ex belongs to NMState\n")
        );
        Ok(())
    })
}

#[tests::case]
fn node_without_a_name_gets_one_late() -> Result<(), Error> {
    Node::new("localhost").run(&Peer::new(), |case| {
        let inside = case.boot()?;
        // NetworkManager completes the name to localhost.localdomain.
        assert_eq!(inside.sh("hostname -s")?, "localhost");
        assert_eq!(inside.read("/etc/hostname")?, None);
        inside.sh("hostnamectl set-hostname worker-0.lab.test")?;
        assert_eq!(inside.sh("hostname -s")?, "worker-0");
        case.reboot()?;
        assert_eq!(case.inside()?.sh("hostname -s")?, "worker-0");
        Ok(())
    })
}
