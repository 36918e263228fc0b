//! A node with the agent: its documents, its day-one profiles, and the outcome of an attempt.

mod bridge;
mod bundle;
mod cluster;
mod configure_ovs;
mod export;
mod field;
mod guide;
mod hold;
mod hung;
mod installed;
mod monitoring;
mod others;
mod pod;
mod profiles;
mod second_boot;

use std::time::Duration;

pub use self::{
    bridge::{
        BRIDGE_PROFILES, USERSPACE, automatic, bridge_outcome, remove_bridge, volatile_profiles,
        with_bridge,
    },
    bundle::{collected, replays, replays_topology},
    cluster::Cluster,
    configure_ovs::{
        PATCH, configure_ovs, configure_ovs_in_run, ovn, ovn_controller, ovs_rows, removes_remains,
    },
    export::exports,
    field::{
        br_ex_works, crash_open_vswitch, finished, keeps_patch_port, patch_port, stop_open_vswitch,
        unhealthy,
    },
    guide::{Shown, commands, follow, follow_inside},
    hold::{held_at_boot, hold, hold_with, release, wait_held, with_holdable_agent},
    hung::{at_pre_down, hang, unhang},
    installed::{
        SHORT_WAIT, booted_without_image, installing_machine_config, machine_config,
        machine_config_goes,
    },
    monitoring::{Monitoring, faults_of_metrics},
    others::{Links, make_others, others_are_there},
    pod::{
        TENANTS_GATEWAY, ovnkube_lost, ovnkube_restarted, pod_started, pod_started_within,
        pod_works, pod_works_at,
    },
    profiles::{Profiles, parse, profiles, undocumented},
    second_boot::{Ready, ready_after_network},
};

use crate::{
    lab::{Case, Entry, Error, Inside, Nic, Node, Output, Result},
    program,
};

/// MAC address of the node's card.
pub const MAC: &str = "52:54:00:00:00:01";
/// Its static address.
pub const ADDRESS: std::net::Ipv4Addr = std::net::Ipv4Addr::new(192, 0, 2, 10);
/// Its static IPv6 address.
pub const ADDRESS6: std::net::Ipv6Addr =
    std::net::Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0x10);
/// Bound on a wait for something that takes moments.
pub const SOON: Duration = Duration::from_secs(10);
/// The bound on one attempt of the agent, roll back included.
pub const ATTEMPT: Duration = Duration::from_secs(60);
/// The host file of `worker-0`.
pub const HOST_FILE: &str = "/etc/nmstate/openshift/worker-0.yml";
/// The document for nodes without a host file.
pub const CLUSTER: &str = "/etc/nmstate/openshift/cluster.yml";
/// The copy of the document in force.
pub const APPLIED: &str = "/etc/nmstate/openshift/applied";

/// NetworkManager on the bus, for `busctl`.
pub const MANAGER: &str =
    "org.freedesktop.NetworkManager /org/freedesktop/NetworkManager org.freedesktop.NetworkManager";
/// The agent's entries in the journal, for [`Inside::journal`] and the waits for one.
pub const ENTRIES: [&str; 1] = ["SYSLOG_IDENTIFIER=dayone"];
/// The agent's account of this boot.
pub const STATUS: &str = "/run/dayone/status.json";

impl Node {
    /// With the agent's settings.
    pub fn settings(self, text: &str) -> Self {
        self.file("/etc/dayone/dayone.toml", text, 0o644)
    }

    /// With the ramdisk's profile: the card itself has the static address.
    pub fn day_one(self) -> Self {
        self.keyfile("eno1", DAY_ONE)
    }

    /// With the node's document, which may be empty.
    pub fn document(self, text: &str) -> Self {
        self.file(HOST_FILE, text, 0o644)
    }
}

/// Profile of the ramdisk: the card itself has the static address.
pub const DAY_ONE: &str = "\
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
method=disabled
";

/// Profile of the ramdisk with DHCP.
pub fn day_one_dhcp() -> String {
    DAY_ONE.split("\n[ipv4]").next().unwrap_or_default().to_owned()
        + "\n[ipv4]\nmethod=auto\ndhcp-client-id=mac\n\n[ipv6]\nmethod=disabled\n"
}

/// A document in the field's shape: br-ex on one card, its address on the OVS interface.
#[derive(Debug, Clone)]
pub struct Document {
    port: String,
    kind: &'static str,
    options: &'static str,
    /// IP of the OVS interface, as it stands in the document.
    pub ip: String,
    /// Name server and routes, as they stand in the document.
    pub rest: String,
}

impl Document {
    /// Static IPv4, name server and default route.
    #[must_use]
    pub fn new() -> Self {
        Self {
            port: "eno1".into(),
            kind: "ethernet",
            options: "    options:\n      datapath: netdev\n",
            ip: "  ipv4:
    enabled: true
    dhcp: false
    address:
    - ip: 192.0.2.10
      prefix-length: 24
  ipv6:
    enabled: false
"
            .into(),
            rest: "\
dns-resolver:
  config:
    server:
    - 192.0.2.1
routes:
  config:
  - destination: 0.0.0.0/0
    next-hop-address: 192.0.2.1
    next-hop-interface: br-ex
"
            .into(),
        }
    }

    /// On another card.
    #[must_use]
    pub fn nic(mut self, nic: &str) -> Self {
        self.port = nic.into();
        self
    }

    /// On an interface of this type and name, with the kernel's datapath, which a container's host may not have.
    #[must_use]
    pub fn in_kernel(mut self, kind: &'static str, port: &str) -> Self {
        self.options = "";
        self.kind = kind;
        self.nic(port)
    }

    /// With `from` replaced in the IP, name server and routes.
    ///
    /// # Panics
    /// If `from` does not occur: a mistake in the case.
    #[must_use]
    pub fn with(mut self, from: &str, to: &str) -> Self {
        assert!(self.ip.contains(from) || self.rest.contains(from), "{from} is not there");
        self.ip = self.ip.replace(from, to);
        self.rest = self.rest.replace(from, to);
        self
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> String {
        let Self { port, kind, options, ip, rest } = self;
        format!(
            "\
interfaces:
- name: {port}
  type: {kind}
  state: up
  ipv4:
    enabled: false
  ipv6:
    enabled: false
- name: br-ex
  type: ovs-bridge
  state: up
  copy-mac-from: {port}
  bridge:
{options}    port:
    - name: {port}
    - name: br-ex
- name: br-ex
  type: ovs-interface
  state: up
  copy-mac-from: {port}
{ip}{rest}"
        )
    }

    /// The text with the card known by its MAC address alone, under a name that no card has.
    #[must_use]
    pub fn by_address(self, mac: &str) -> String {
        let known = format!(
            "name: uplink\n  type: ethernet\n  identifier: mac-address\n  mac-address: {mac}\n"
        );
        self.nic("uplink").text().replace("name: uplink\n  type: ethernet\n", &known)
    }
}

impl Default for Document {
    fn default() -> Self {
        Self::new()
    }
}

/// A document whose gateway nobody is.
#[must_use]
pub fn wrong_gateway() -> String {
    Document::new().with("192.0.2.1\n    next-hop", "192.0.2.254\n    next-hop").text()
}

/// `worker-0` with one card, the agent enabled as its `[Install]` sections say, and kubelet's stand-in.
#[must_use]
pub fn worker() -> Node {
    agent(Node::new("worker-0").nic(Nic::new("eno1", MAC)))
}

/// Adds the agent, and kubelet's stand-in unless the node has one: call `node.field(..)` before. The
/// unit of the automatic bridge is disabled, so that configure-ovs's stand-in acts as in the field;
/// [`with_bridge`] enables it.
#[must_use]
pub fn agent(node: Node) -> Node {
    with_program(node, program::dayone())
}

/// Adds another build of the agent, and kubelet's stand-in.
#[must_use]
pub fn with_program(node: Node, program: &std::path::Path) -> Node {
    with_units(node.bind(program, "/usr/bin/dayone"))
}

/// Adds two builds of the agent, and kubelet's stand-in: the link [`ALTERNATIVE`] says which one is installed, at first the first.
#[must_use]
pub fn with_programs(node: Node, [first, second]: [&std::path::Path; 2]) -> Node {
    let node = node.bind(first, "/usr/lib/dayone/first").bind(second, "/usr/lib/dayone/second");
    with_units(node.link("/usr/bin/dayone", ALTERNATIVE).link(ALTERNATIVE, "/usr/lib/dayone/first"))
}

/// The link in `/etc` to one of two builds.
pub const ALTERNATIVE: &str = "/etc/alternatives/dayone";

fn with_units(node: Node) -> Node {
    let node = node.installed(
        program::dayone_units(),
        "/usr/lib/systemd/system",
        &["dayone-bridge.service"],
    );
    // A node of the field has its own kubelet.
    if node.has_unit("kubelet.service") { node } else { node.kubelet() }
}

/// Text with white space as single spaces: the agent wraps the lines of its status.
pub fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Output {
    /// Returns itself, if the [`unwrapped`] standard output has this text.
    ///
    /// # Panics
    /// With all that the program wrote, if not.
    #[track_caller]
    pub fn says_wrapped(self, text: &str) -> Self {
        assert!(unwrapped(&self.stdout).contains(text), "{text} in {self}");
        self
    }
}

/// Returns the command of a page that begins so.
///
/// # Panics
/// If the page has none.
#[must_use]
pub fn advised(page: &str, start: &str) -> String {
    let page = unwrapped(page);
    let command = page.split('`').find(|part| part.starts_with(start));
    assert!(command.is_some(), "{start} in {page}");
    command.unwrap_or_default().to_owned()
}

/// Outcome of an attempt, as the agent reports it.
#[derive(Debug)]
pub struct Outcome {
    /// The entry of the journal.
    pub entry: Entry,
    /// Exit code of the attempt, 0 for a success; the service goes on after a failure.
    pub exit: i32,
}

impl Outcome {
    /// The message.
    pub fn text(&self) -> &str {
        self.entry.message()
    }

    /// Returns itself, if the attempt had this exit code.
    ///
    /// # Panics
    /// With the message, if not.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.exit, code, "{}", self.text());
        self
    }

    /// Returns itself, if the message has this text.
    ///
    /// # Panics
    /// With the message, if not.
    #[track_caller]
    pub fn says(self, text: &str) -> Self {
        assert!(self.text().contains(text), "{text} in: {}", self.text());
        self
    }
}

/// A position in the journal; later entries are new.
#[derive(Debug, Clone)]
pub struct Mark(String);

impl Mark {
    /// The argument that limits journalctl to new entries.
    pub fn argument(&self) -> &str {
        &self.0
    }

    /// The arguments that limit journalctl to the agent's new entries.
    pub fn entries(&self) -> [&str; 2] {
        [self.argument(), ENTRIES[0]]
    }
}

/// The present end of the journal.
pub fn mark(inside: &Inside) -> Result<Mark> {
    let text = inside.sh("journalctl --quiet --no-pager --lines=1 --show-cursor --output=cat")?;
    let cursor = text.lines().last().and_then(|line| line.strip_prefix("-- cursor: "));
    cursor
        .map(|cursor| Mark(format!("--after-cursor={cursor}")))
        .ok_or(Error::Output { program: "journalctl", problem: "no cursor".into() })
}

/// MESSAGE_ID of a boot that goes on although the document failed.
pub const GOES_ON: &str = "MESSAGE_ID=6f0d2f6a4e0b4b7c9b3f9a1f5d6c7e08";

/// MESSAGE_IDs of outcomes share a prefix; a recovery and a boot that goes on are not outcomes of an attempt.
fn is_outcome(entry: &Entry) -> bool {
    let id = entry.field("MESSAGE_ID").unwrap_or_default();
    id.starts_with("6f0d2f6a4e0b4b7c9b3f9a1f5d6c7e0") && !id.ends_with("07") && !id.ends_with("08")
}

/// Waits for the end of an attempt: the first in this boot, or the first after `mark`.
pub fn outcome(inside: &Inside, mark: Option<&Mark>) -> Result<Outcome> {
    ended(inside, mark, is_outcome)
}

/// The entry of this boot, or after `mark`, that tells an outcome.
fn ended(inside: &Inside, mark: Option<&Mark>, tells: impl Fn(&Entry) -> bool) -> Result<Outcome> {
    let after: Vec<&str> = mark.iter().map(|mark| mark.0.as_str()).collect();
    let own = [&after[..], &ENTRIES].concat();
    let entry = inside.wait_journal(&own, ATTEMPT, tells)?;
    let exit = match entry.field("DAYONE_EXIT") {
        None => 0,
        Some(code) => code.parse().unwrap_or(-1),
    };
    Ok(Outcome { entry, exit })
}

/// Starts the agent, and kubelet's stand-in. Returns the mark from before the start.
pub fn start(inside: &Inside) -> Result<Mark> {
    // Otherwise the service's own next attempt could interfere. A pattern may match no unit: another build of the agent may have
    // no dayone-wait.service.
    inside.sh(
        "systemctl stop kubelet.service kubelet-dependencies.target 'dayone-wait*' dayone.service; \
         systemctl reset-failed",
    )?;
    let mark = mark(inside)?;
    inside.sh(
        "systemctl start --no-block dayone.service; systemctl start --no-block kubelet.service",
    )?;
    Ok(mark)
}

/// Starts kubelet as [`start`] does, and waits for the end of the agent's attempt.
pub fn started(inside: &Inside) -> Result<Outcome> {
    outcome(inside, Some(&start(inside)?))
}

/// Starts kubelet as [`started`] does. After a failure the agent is stopped: its next attempt, five seconds later, would change
/// what the case looks at.
pub fn attempt(inside: &Inside) -> Result<Outcome> {
    let it = started(inside)?;
    if it.exit != 0 {
        inside.sh("systemctl stop dayone.service")?;
    }
    Ok(it)
}

/// Writes the node's document, and has the agent try it as [`attempt`] does.
pub fn try_document(inside: &Inside, document: &str) -> Result<Outcome> {
    inside.write(HOST_FILE, document)?;
    attempt(inside)
}

/// Returns when a run that told its success is no more at work, of which accounts of the node speak.
///
/// # Errors
/// The lab's.
pub fn run_is_over(inside: &Inside) -> Result<()> {
    inside.wait_sh("! test -s /run/dayone/lock", SOON)?;
    Ok(())
}

impl Case<'_> {
    /// Boots the node, whose agent ends its first attempt with this exit code. Returns the node's inside.
    ///
    /// # Errors
    /// If the boot or the attempt has no end.
    #[track_caller]
    pub fn boots(&mut self, code: i32) -> Result<Inside> {
        let inside = self.boot()?;
        outcome(&inside, None)?.exits(code);
        Ok(inside)
    }
}

/// Settings with short timeouts and many attempts for a document.
pub const HASTE: &str = "\
max-attempts = 0
[wait]
link = 2
ovsdb = 2
[timeout]
probe = 2
verify = 10
roll-back = 20
";

/// Has the agent probe the peer's API.
pub const APISERVER: (&str, &str) = (
    "/etc/kubernetes/apiserver-url.env",
    "KUBERNETES_SERVICE_HOST='198.51.100.10'\nKUBERNETES_SERVICE_PORT='6443'\n",
);

/// Boots without a document, and returns the [`picture`] of that network; kubelet has not run.
///
/// # Errors
/// If a step of it fails.
///
/// # Panics
/// If the agent fails.
pub fn old_network(case: &mut Case<'_>) -> Result<(Inside, String)> {
    let inside = case.boots(0)?;
    inside.sh("systemctl stop kubelet.service; rm -r /run/lab-kubelet")?;
    settle(&inside)?;
    let before = picture(&inside)?;
    Ok((inside, before))
}

/// The node's network as one text: profiles with their bytes, bridges with their ports, addresses, routes, name servers.
/// Excluded, since they change by themselves: lifetimes, indices, and NetworkManager's own profiles of lo and of a bridge's tun
/// device (userspace datapath only), with their routes of metric 450.
pub fn picture(inside: &Inside) -> Result<String> {
    inside.sh(PICTURE)
}

const PICTURE: &str = "cd /etc/NetworkManager/system-connections; \
    for file in *; do stat -c '%n %a %U' $file; cat $file; done; \
    ls /run/NetworkManager/system-connections | grep -v -e ^lo.nmconnection -e '^br-ex-[0-9a-f-]*.nmconnection' || :; \
    for bridge in $(ovs-vsctl list-br); do echo bridge $bridge $(ovs-vsctl list-ports $bridge | sort); done; \
    ip -oneline address | sed 's/^[0-9]*: //; s/valid_lft.*//' | sort; ip route | grep -v 'metric 450' | sort; ip -6 route show default | sort; \
    cat /etc/resolv.conf; \
    nmcli -g NAME,UUID,TYPE,DEVICE connection show --active | grep -v -e :tun: -e :loopback: | sort";

/// The network's picture once it is `expected`, or after a bound: NetworkManager removes addresses and writes resolv.conf some time
/// after it has done what was asked.
pub fn picture_like(inside: &Inside, expected: &str) -> Result<String> {
    inside.write("/run/lab-picture", &format!("{expected}\n"))?;
    // The caller's comparison shows the difference better than the end of the wait.
    let _ = inside.wait_sh(&format!("({PICTURE}) | cmp --quiet - /run/lab-picture"), SOON);
    picture(inside)
}

/// Waits for the end of NetworkManager's start-up; `boot` returns earlier.
pub fn settle(inside: &Inside) -> Result<()> {
    inside.sh("nm-online --quiet --wait-for-startup --timeout=20")?;
    Ok(())
}

/// Whether kubelet's stand-in has run since the boot.
pub fn kubelet_ran(inside: &Inside) -> Result<bool> {
    Ok(inside.read("/run/lab-kubelet/started")?.is_some())
}
