//! The two-stage boot of a virtual machine: documents for both stages, Ignition's configuration, and expectations.

mod automatic;
mod chain;
mod derived;
pub mod fallback;
mod kinds;
mod stages;

use std::{
    collections::BTreeMap,
    net::{IpAddr, Ipv4Addr},
    process::{Command, Stdio},
    time::Duration,
};

pub use self::{
    chain::Link,
    derived::{derived, has_network_of, own_network, under_own_names},
    kinds::Kind,
    stages::Boot,
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use crate::{
    dayone::Document,
    lab::{Entry, Error, Inside, Machines, Nic, Peer, Result, VirtualMachine, VmCase},
    program,
};

/// The machine's name.
pub const NAME: &str = "worker-7";
/// MAC addresses of its cards.
pub const MACS: [&str; 2] = ["52:54:00:00:00:71", "52:54:00:00:00:72"];
/// Its address, untagged: on the bond first, then on br-ex.
pub const ADDRESS: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 70);
/// The VLAN to the server of its configuration.
pub const VLAN: u16 = 100;
/// Its address there.
pub const ON_VLAN: Ipv4Addr = Ipv4Addr::new(203, 0, 113, 70);
/// The peer's address there, and Ignition's server.
pub const SERVER: Ipv4Addr = Ipv4Addr::new(203, 0, 113, 1);
/// Bound on a command over the network.
pub const SOON: Duration = Duration::from_secs(120);

/// A peer with the VLAN.
pub fn peer() -> Peer {
    let segment = "provisioning";
    Peer::new().vlan(segment, VLAN).address(segment, IpAddr::V4(SERVER), 24)
}

/// The document for the initramfs: a bond of two cards, identified by MAC address only, with a VLAN on it.
pub fn early_document(mode: &str) -> String {
    host_document(MACS, mode, ADDRESS, ON_VLAN)
}

fn host_document(macs: [&str; 2], mode: &str, address: Ipv4Addr, on_vlan: Ipv4Addr) -> String {
    let [first, second] = macs;
    let [address, on_vlan] = [address, on_vlan].map(static_address);
    let options = if mode == "802.3ad" {
        "      options:\n        miimon: 100\n        lacp_rate: fast\n"
    } else {
        "      options:\n        miimon: 100\n"
    };
    format!(
        "\
interfaces:
  - name: eth1
    type: ethernet
    state: up
    mac-address: {first}
  - name: eth2
    type: ethernet
    state: up
    mac-address: {second}
  - name: bond0
    type: bond
    state: up
    link-aggregation:
      mode: {mode}
{options}      port:
        - eth1
        - eth2
{address}    ipv6:
      enabled: false
  - name: bond0.{VLAN}
    type: vlan
    state: up
    vlan:
      base-iface: bond0
      id: {VLAN}
{on_vlan}    ipv6:
      enabled: false
dns-resolver:
  config:
    server:
      - 192.0.2.1
routes:
  config:
    - destination: 0.0.0.0/0
      next-hop-address: 192.0.2.1
      next-hop-interface: bond0
"
    )
}

/// Fifty hosts, the machine's document among them, by name.
pub fn fleet(mode: &str) -> BTreeMap<String, String> {
    (0..50_u8)
        .map(|number| {
            let macs = [1, 2].map(|card| format!("52:54:00:01:{number:02x}:7{card}"));
            let macs = [macs[0].as_str(), macs[1].as_str()];
            let document = host_document(
                macs,
                mode,
                Ipv4Addr::new(192, 0, 2, 100 + number),
                Ipv4Addr::new(203, 0, 113, 100 + number),
            );
            (format!("worker-{number}"), document)
        })
        .chain([(NAME.to_owned(), early_document(mode))])
        .collect()
}

/// `nmgen generate --to initrd` of these hosts.
pub fn archive(hosts: &BTreeMap<String, String>) -> std::io::Result<Vec<u8>> {
    let directory = tempfile::tempdir()?;
    for (name, document) in hosts {
        std::fs::write(directory.path().join(format!("{name}.yml")), document)?;
    }
    let mut nmgen = Command::new(program::nmgen());
    nmgen.args(["generate", "--to", "initrd"]).arg(directory.path()).stderr(Stdio::inherit());
    let output = nmgen.output()?;
    assert!(output.status.success(), "{nmgen:?}: {}", output.status);
    Ok(output.stdout)
}

/// `nmgen generate --to initrd --with-program` of one host: the archive for an initramfs that was built without nmgen.
pub fn archive_with_program(name: &str, document: &str) -> std::io::Result<Vec<u8>> {
    let directory = tempfile::tempdir()?;
    std::fs::write(directory.path().join(format!("{name}.yml")), document)?;
    let mut nmgen = Command::new(program::nmgen());
    nmgen.args(["generate", "--to", "initrd", "--host", name, "--with-program"]);
    nmgen.arg(program::nmgen_ramdisk()).arg(directory.path()).stderr(Stdio::inherit());
    let output = nmgen.output()?;
    assert!(output.status.success(), "{nmgen:?}: {}", output.status);
    Ok(output.stdout)
}

/// The document for the running node: br-ex on the interface `port`, with the address moved to it.
pub fn br_ex(port: &str, kind: &'static str, address: Ipv4Addr, gateway: Ipv4Addr) -> String {
    Document::new()
        .in_kernel(kind, port)
        .with("192.0.2.10", &address.to_string())
        .with("192.0.2.1\n    next-hop", &format!("{gateway}\n    next-hop"))
        .text()
}

/// A document for one card, identified by its MAC address: `ip` goes below the card, `rest` beside it.
pub fn one_card(name: &str, mac: &str, ip: &str, rest: &str) -> String {
    format!(
        "\
interfaces:
  - name: {name}
    type: ethernet
    state: up
    mac-address: {mac}
{ip}    ipv6:
      enabled: false
{rest}"
    )
}

/// A static address, to go below an interface.
pub fn static_address(address: Ipv4Addr) -> String {
    // One line: a continuation would lose the leading spaces.
    format!(
        "    ipv4:\n      enabled: true\n      dhcp: false\n      address:\n        - ip: {address}\n          prefix-length: 24\n"
    )
}

/// A default route, to go beside the interfaces.
pub fn default_route(gateway: Ipv4Addr, interface: &str) -> String {
    format!(
        "\
routes:
  config:
    - destination: 0.0.0.0/0
      next-hop-address: {gateway}
      next-hop-interface: {interface}
"
    )
}

/// The agent's settings, with long bounds: on a slow host an emulated machine is a hundred times slower than a real one. Ends
/// in the table `timeout`.
pub const PATIENCE: &str = "\
[wait]
network-manager = 600
ovsdb = 600
link = 600
[timeout]
snapshot = 120
checkpoint = 120
take-over = 120
apply = 600
verify = 600
roll-back = 600
";

/// Configuration for Ignition: files and units.
#[derive(Debug, Clone, Default)]
pub struct Ignition {
    files: Vec<Value>,
    units: Vec<Value>,
    agent: Option<Value>,
    settings: Option<String>,
}

impl Ignition {
    /// A host name, without the agent.
    #[must_use]
    pub fn bare(hostname: &str) -> Self {
        let off = |name| json!({ "name": name, "enabled": false });
        let units = vec![off("dayone.service"), off("dayone-recover.service")];
        Self { units, ..Self::default() }.file("/etc/hostname", hostname)
    }

    /// The agent, enabled, and a stand-in for kubelet that requires it.
    #[must_use]
    pub fn new(hostname: &str) -> Self {
        let dependencies = include_str!("../lab/units/kubelet-dependencies.target");
        let units = vec![
            json!({ "name": "dayone-recover.service", "enabled": true }),
            json!({ "name": "kubelet-dependencies.target", "contents": dependencies }),
            kubelet(),
        ];
        let agent = json!({ "name": "dayone.service", "enabled": true });
        let settings = Some(PATIENCE.into());
        let new = Self { units, agent: Some(agent), settings, ..Self::default() };
        new.file("/etc/hostname", hostname)
    }

    /// Adds a file with mode 0644.
    #[must_use]
    pub fn file(mut self, path: &str, content: &str) -> Self {
        self.files.push(file(path, content));
        self
    }

    /// Adds a program that is a text.
    #[must_use]
    pub fn script(self, path: &str, text: &str) -> Self {
        self.file_with_mode(path, text, 0o755)
    }

    /// Adds a profile of the running system's own, which only root may read.
    #[must_use]
    pub fn keyfile(self, name: &str, text: &str) -> Self {
        let path = format!("/etc/NetworkManager/system-connections/{name}.nmconnection");
        self.private_file(&path, text)
    }

    /// Adds a file that only root may read.
    #[must_use]
    pub fn private_file(self, path: &str, content: &str) -> Self {
        self.file_with_mode(path, content, 0o600)
    }

    fn file_with_mode(mut self, path: &str, content: &str, mode: u32) -> Self {
        let mut file = file(path, content);
        file["mode"] = mode.into();
        self.files.push(file);
        self
    }

    /// Enables a unit of the image.
    #[must_use]
    pub fn enable(mut self, unit: &str) -> Self {
        self.units.push(json!({ "name": unit, "enabled": true }));
        self
    }

    /// Adds a program, fetched from this address.
    #[must_use]
    pub fn program(mut self, path: &str, url: &str) -> Self {
        let contents = json!({ "source": url });
        self.files.push(json!({ "path": path, "mode": 0o755, "contents": contents }));
        self
    }

    /// Adds OVN-Kubernetes with one pod, which kubelet starts: `tests/lab/field/ovnkube`.
    ///
    /// # Panics
    /// If its tree cannot be read.
    #[must_use]
    pub fn ovn(self) -> Self {
        let tree = |path: &str| {
            let from = program::root().join("tests/lab/field/ovnkube").join(&path[1..]);
            std::fs::read_to_string(from).expect("a file of the tree")
        };
        let files = [
            "/etc/NetworkManager/conf.d/50-lab-pod.conf",
            "/etc/systemd/system/kubelet.service.d/50-lab-ovnkube.conf",
            "/etc/systemd/system/lab-ovnkube.service",
            "/etc/systemd/system/lab-pod.service",
        ];
        let script = "/usr/local/bin/lab-ovnkube";
        let new = files.into_iter().fold(self, |new, path| new.file(path, &tree(path)));
        new.script(script, &tree(script))
    }

    /// Adds a document for nodes of this name.
    #[must_use]
    pub fn document(self, name: &str, text: &str) -> Self {
        self.file(&format!("/etc/nmstate/openshift/{name}.yml"), text)
    }

    /// Other settings for the agent than [`PATIENCE`].
    #[must_use]
    pub fn settings(mut self, text: &str) -> Self {
        self.settings = Some(text.into());
        self
    }

    /// Adds a drop-in to the agent's unit.
    #[must_use]
    pub fn drop_in(mut self, contents: &str) -> Self {
        let drop_in = json!({ "name": "50-lab.conf", "contents": contents });
        if let Some(agent) = &mut self.agent {
            agent["dropins"] = json!([drop_in]);
        }
        self
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> String {
        let units: Vec<&Value> = self.agent.iter().chain(&self.units).collect();
        let settings = self.settings.iter().map(|text| file("/etc/dayone/dayone.toml", text));
        let files: Vec<Value> = self.files.iter().cloned().chain(settings).collect();
        json!({
            "ignition": { "version": "3.3.0" },
            "storage": { "files": files },
            "systemd": { "units": units },
        })
        .to_string()
    }
}

/// The stand-in of kubelet, enabled.
fn kubelet() -> Value {
    let unit = include_str!("../lab/units/kubelet.service");
    let contents = format!("{unit}\n[Install]\nWantedBy=multi-user.target\n");
    json!({ "name": "kubelet.service", "enabled": true, "contents": contents })
}

fn file(path: &str, content: &str) -> Value {
    let source = format!("data:;base64,{}", STANDARD.encode(content));
    let contents = json!({ "source": source });
    json!({ "path": path, "mode": 0o644, "contents": contents, "overwrite": true })
}

/// Waits until the card has `profile`, and checks what holds after every kind of boot: NetworkManager has made each connection
/// itself, no card has two profiles, and the peer reaches the address.
///
/// # Errors
/// If the machine does not answer.
pub fn has_one_profile(
    case: &VmCase<'_>,
    card: &str,
    profile: &str,
    address: Ipv4Addr,
) -> Result<()> {
    let inside = case.inside()?;
    inside.wait_sh(
        &format!("nmcli -g GENERAL.CONNECTION,GENERAL.STATE device show {card} | xargs | grep -Fx '{profile} 100 (connected)'"),
        VmCase::BOOT,
    )?;
    // NetworkManager always shows the kernel's loopback device as external.
    let devices = inside.sh("nmcli -g DEVICE,STATE,CONNECTION device | grep -v ^lo:")?;
    assert!(!devices.contains("externally"), "{devices}");
    let profiles = inside.sh("nmcli -g NAME connection show | sort")?;
    let mut names: Vec<&str> = profiles.lines().filter(|name| *name != "lo").collect();
    let all = names.len();
    names.dedup();
    assert_eq!(names.len(), all, "{profiles}");
    let uuids = inside.sh(
        "cat /etc/NetworkManager/system-connections/* /run/NetworkManager/system-connections/* 2>/dev/null | grep ^uuid= | sort | uniq -d",
    )?;
    assert_eq!(uuids, "", "{profiles}");
    assert!(case.peer().pings(address, SOON)?, "{address}");
    Ok(())
}

/// The machine with its two cards, as ports of one aggregate if the peer speaks LACP.
pub fn bonded(mode: &str) -> VirtualMachine {
    ["nic1", "nic2"].iter().zip(MACS).fold(VirtualMachine::new(), |machine, (name, mac)| {
        let nic = Nic::new(name, mac);
        machine.nic(if mode == "802.3ad" { nic.aggregate("aggregate") } else { nic })
    })
}

/// Waits until the agent has ended, and checks that kubelet's stand-in starts after it.
pub fn kubelet_last(inside: &Inside) -> Result<()> {
    let ended = "systemctl show --property=ActiveState dayone.service | grep --word-regexp --extended-regexp 'active|failed'";
    inside.wait_sh(ended, VmCase::BOOT)?;
    let dayone = inside.unit("dayone.service")?;
    assert_eq!(dayone.active_state, "active");
    let kubelet = inside.wait_unit("kubelet.service", "active", SOON)?;
    assert!(dayone.active_enter.is_some());
    assert!(kubelet.exec_start > dayone.active_enter, "{kubelet:?} {dayone:?}");
    Ok(())
}

/// This boot's journal: messages and times alone, since a machine takes seconds to print all fields.
///
/// # Errors
/// If it cannot be read.
pub fn messages(inside: &Inside) -> Result<Vec<Entry>> {
    inside.journal(&["--output-fields=MESSAGE"])
}

/// The time, in seconds after the kernel's start, of the first entry whose message contains `text`.
///
/// # Errors
/// If there is none.
pub fn moment(entries: &[Entry], text: &str) -> Result<f64> {
    let found = first(entries, text, 0.0);
    found.ok_or(Error::Output {
        program: "journalctl",
        problem: format!("no entry with \"{text}\""),
    })
}

/// Events of this boot with their times, in seconds after the kernel's start; missing events are left out.
pub fn timeline(entries: &[Entry]) -> Vec<(f64, &'static str)> {
    let mut time = 0.0;
    let mut found = Vec::new();
    for (text, what) in [
        ("this machine is ", "nmgen has chosen this machine's document"),
        ("NetworkManager (version", "NetworkManager starts in the initramfs"),
        ("GET result: OK", "Ignition has fetched its configuration"),
        ("files passed", "Ignition has written its files"),
        ("the running system got", "nmgen has handed the profiles over"),
        ("Switching root", "the pivot to the real root"),
        ("NetworkManager (version", "NetworkManager starts in the running system"),
        ("Starting dayone.service", "dayone starts"),
        ("applying the document: ", "dayone: applied"),
        ("verifying the new network: ", "dayone: verified"),
        ("probing the new network: ", "dayone: probed"),
        ("the network is in force", "dayone: committed"),
        ("in force already", "dayone: in force already, nothing applied"),
        ("Started kubelet.service", "kubelet's stand-in starts"),
    ] {
        // In order, since NetworkManager starts twice.
        if let Some(moment) = first(entries, text, time) {
            time = moment;
            found.push((moment, what));
        }
    }
    found
}

/// The first entry after `from` that contains `text`.
fn first(entries: &[Entry], text: &str, from: f64) -> Option<f64> {
    let mut later = entries.iter().filter_map(|entry| {
        let moment = entry.moment()?.as_secs_f64();
        (moment > from && entry.message().contains(text)).then_some(moment)
    });
    later.next()
}

/// Prints a boot's timeline.
pub fn tell_timeline(entries: &[Entry]) {
    for (moment, what) in timeline(entries) {
        tell(&format!("{moment:8.1} s  {what}"));
    }
}

/// A second card with DHCP but without a server, beside a card with a static address and br-ex on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SilentCard {
    /// The machine has the first card only.
    Absent,
    /// It has both.
    Present,
    /// It has both, and the agent waits for NetworkManager-wait-online, like units of the field.
    WaitedFor,
}

impl SilentCard {
    /// Seconds from NetworkManager's first start to the commit of br-ex, by a clock independent of the host's load.
    ///
    /// # Errors
    /// If the boot does not get that far.
    pub fn boot(self, machines: &Machines) -> Result<f64> {
        let gateway = Ipv4Addr::new(192, 0, 2, 1);
        let mut early = one_card("eth1", MACS[0], &static_address(ADDRESS), "");
        let mut machine =
            VirtualMachine::new().counting_instructions().nic(Nic::new("nic1", MACS[0]));
        if self != Self::Absent {
            let dhcp = "    ipv4:\n      enabled: true\n      dhcp: true\n";
            // With IPv6 disabled it would be waited for ten seconds: nothing else activates it.
            let second = one_card("eth2", MACS[1], dhcp, "")
                .replace("    ipv6:\n      enabled: false\n", "");
            early.push_str(second.trim_start_matches("interfaces:\n"));
            machine = machine.nic(Nic::new("nic2", MACS[1]).segment("silent"));
        }
        early.push_str(&default_route(gateway, "eth1"));
        let document = br_ex("enp0s16", "ethernet", ADDRESS, gateway);
        let mut config = Ignition::new(NAME).document(NAME, &document);
        if self == Self::WaitedFor {
            let unit = "NetworkManager-wait-online.service";
            config = config.drop_in(&format!("[Unit]\nWants={unit}\nAfter={unit}\n"));
        }
        let machine = machine
            .early(&format!("/etc/nmgen/{NAME}.yml"), &early)
            .ignition("192.0.2.1", &config.text());
        let mut seconds = 0.0;
        machines.run(&machine, &peer().dhcp(), |case| {
            case.power_on()?;
            case.wait_running()?;
            let inside = case.inside()?;
            kubelet_last(&inside)?;
            let entries = messages(&inside)?;
            tell_timeline(&entries);
            let commit = moment(&entries, "the network is in force")?;
            seconds = commit - moment(&entries, "NetworkManager (version")?;
            Ok::<_, Error>(())
        })?;
        Ok(seconds)
    }
}

/// Prints a measurement past the test harness, which hides the output of passed tests.
pub fn tell(text: &str) {
    let _ = std::io::Write::write_fmt(&mut std::io::stderr(), format_args!("{text}\n"));
}
