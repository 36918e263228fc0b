//! Every path the agent reads or writes, relocated by one root.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::model::facts::Facts;

/// An operation on a file or a directory that failed.
#[derive(Debug, thiserror::Error)]
#[error("cannot {operation} {path}")]
pub(crate) struct PathError {
    operation: &'static str,
    path: PathBuf,
    source: io::Error,
}

/// What an operation on a path comes to.
pub(crate) type Result<T = (), E = PathError> = std::result::Result<T, E>;

/// Returns the error of an operation on `path`, by its cause.
pub(crate) fn cannot(
    operation: &'static str,
    path: &Path,
) -> impl Fn(io::Error) -> PathError + Copy {
    move |source| PathError { operation, path: path.to_path_buf(), source }
}

/// Returns the paths of a directory's entries; none of one that is not there.
pub(crate) fn entries(operation: &'static str, directory: &Path) -> Result<Vec<PathBuf>> {
    let listed = std::fs::read_dir(directory)
        .and_then(|all| all.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>());
    match listed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        listed => listed.map_err(cannot(operation, directory)),
    }
}

/// The root that all paths below are relative to; `/` on a node.
#[derive(Clone, Debug)]
pub(crate) struct Paths {
    root: PathBuf,
    /// The rest of a node that was collected, which no file has.
    collected: Option<Arc<Facts>>,
}

impl Paths {
    pub(crate) fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), collected: None }
    }

    /// These files, beside facts that were collected.
    pub(crate) fn with(&self, facts: Facts) -> Self {
        Self { root: self.root.clone(), collected: Some(facts.into()) }
    }

    /// The facts of a node that was collected; `None`: those of now are to be read.
    pub(crate) fn collected(&self) -> Option<&Facts> {
        self.collected.as_deref()
    }

    /// Whether there is a network to ask: this system's, or a collected one.
    pub(crate) fn has_network(&self) -> bool {
        self.is_system() || self.collected.is_some()
    }

    /// A path, or a text with paths, as they are on the node that was collected.
    pub(crate) fn on_node(&self, text: &str) -> String {
        match self.root.to_str().filter(|_| self.collected.is_some() && !self.is_system()) {
            Some(root) => text.replace(root, ""),
            None => text.to_owned(),
        }
    }

    /// `absolute` (a path that starts with `/`) below the root.
    pub(crate) fn under(&self, absolute: &str) -> PathBuf {
        self.root.join(absolute.trim_start_matches('/'))
    }

    /// Whether this is the running system and not a tree prepared elsewhere.
    pub(crate) fn is_system(&self) -> bool {
        self.root == Path::new("/")
    }

    /// Where NetworkManager finds profiles: saved ones, those until the next boot, and those of the system.
    pub(crate) fn profile_directories(&self) -> [PathBuf; 3] {
        ["/etc", "/run", "/usr/lib"]
            .map(|root| self.under(root).join("NetworkManager/system-connections"))
    }

    /// Mark: the unit of a reason has to look anew.
    pub(crate) fn health_mark(&self, reason: &str) -> PathBuf {
        self.under("/run/dayone/health").join(reason)
    }

    /// The control group of a service of the system; another one after each start.
    pub(crate) fn control_group(&self, unit: &str) -> PathBuf {
        self.under("/sys/fs/cgroup/system.slice").join(unit)
    }

    /// The control socket of this process of ovs-vswitchd.
    pub(crate) fn ovs_vswitchd_control(&self, pid: &str) -> PathBuf {
        self.under(&format!("/run/openvswitch/ovs-vswitchd.{pid}.ctl"))
    }

    /// Whether a link forwards packets of IPv4, and of IPv6.
    pub(crate) fn forwarding(&self, link: &str) -> [PathBuf; 2] {
        ["ipv4", "ipv6"]
            .map(|family| self.under(&format!("/proc/sys/net/{family}/conf/{link}/forwarding")))
    }

    /// The directory of a device; a name that is no plain one, as of a collected node, is no device's.
    pub(crate) fn device(&self, name: &str) -> Option<PathBuf> {
        let is_plain = Path::new(name).file_name().is_some_and(|plain| plain == name);
        is_plain.then(|| self.sys_net().join(name))
    }

    /// DMI identity.
    pub(crate) fn dmi(&self, attribute: &str) -> PathBuf {
        self.under("/sys/class/dmi/id").join(attribute)
    }

    /// Where a unit can be masked: by the administrator, until the next boot, and by `systemd.mask=` on the
    /// kernel command line (systemd-debug-generator).
    pub(crate) fn masks(&self, unit: &str) -> [PathBuf; 3] {
        ["/etc/systemd/system", "/run/systemd/system", "/run/systemd/generator.early"]
            .map(|directory| self.under(directory).join(unit))
    }

    /// Where systemd finds units and the links that enable them (systemd.unit(5)); `systemd.wants=` on the kernel
    /// command line is a link of a generator.
    pub(crate) fn unit_directories(&self) -> [PathBuf; 7] {
        [
            "/etc/systemd/system",
            "/run/systemd/system",
            "/run/systemd/generator.early",
            "/run/systemd/generator",
            "/run/systemd/generator.late",
            "/usr/local/lib/systemd/system",
            "/usr/lib/systemd/system",
        ]
        .map(|directory| self.under(directory))
    }
}

/// Methods of [`Paths`], each for a place on the node.
macro_rules! places {
    ($($(#[$what:meta])* $name:ident = $path:literal;)+) => {
        impl Paths {
            $($(#[$what])* pub(crate) fn $name(&self) -> PathBuf { self.under($path) })+
        }
    };
}

places! {
    /// NetworkManager's saved profiles.
    profiles = "/etc/NetworkManager/system-connections";
    /// What NetworkManager keeps of its own settings.
    network_manager_intern = "/var/lib/NetworkManager/NetworkManager-intern.conf";
    settings = "/etc/dayone/dayone.toml";
    /// Documents of all nodes of a role, written by MachineConfigs.
    documents = "/etc/nmstate/openshift";
    /// The files of `nmstatectl service`.
    service_files = "/etc/nmstate";
    /// The byte copy of the document in force, which other tools read.
    applied = "/etc/nmstate/openshift/applied";
    /// The agent's durable state.
    state_dir = "/var/lib/dayone";
    /// The open transaction: journal and copies. Exists only while one is open.
    transaction = "/var/lib/dayone/transaction";
    /// The agent's state of this boot.
    runtime_dir = "/run/dayone";
    /// The journal of a failed roll back while the last good document is applied.
    set_aside = "/var/lib/dayone/transaction.failed";
    /// A decided commit whose files are not yet all in place. Short-lived.
    committed = "/var/lib/dayone/committed";
    /// The committed document, the count of failures, and the machine.
    record = "/var/lib/dayone/record.json";
    /// The machine of the state of version 0.2.
    machine = "/var/lib/dayone/machine.json";
    /// The state of another installation.
    other_machine = "/var/lib/dayone/other-machine";
    machine_id = "/etc/machine-id";
    /// proc_pid_mountinfo(5) of this process.
    mounts = "/proc/self/mountinfo";
    /// One JSON object a line: every finished transaction, newest last.
    history = "/var/lib/dayone/history.jsonl";
    /// The status of this boot.
    status = "/run/dayone/status.json";
    /// What this node's network had in this boot.
    memory = "/run/dayone/memory.json";
    /// Mark: a run or a check has ended, and dayone-health.service has not looked since.
    ended = "/run/dayone/ended";
    /// The last account of the node's health.
    health = "/run/dayone/health.json";
    /// Mark: the boot waits for the network (see `run::marks`).
    undecided = "/run/dayone/undecided";
    /// The rendered MachineConfig that machine-config-daemon has put in place.
    machine_config = "/etc/machine-config-daemon/currentconfig";
    /// Mark: this node has a document.
    chosen = "/run/dayone/chosen";
    /// Mark: a document is in force.
    in_force = "/run/dayone/in-force";
    /// Mark: br-ex is the affair of the document in force, to whose file it is a link.
    bridge_of_document = "/run/dayone/bridge-of-document";
    /// Mark: the boot waits for the automatic bridge.
    bridge_undecided = "/run/dayone/bridge-undecided";
    /// The numbers of attempts in a row that ended with the agent in this boot.
    cut_off = "/run/dayone/cut-off";
    /// Mark: br-ex belongs to the agent in this boot.
    owns_bridge = "/run/dayone/owns-bridge";
    /// Mark: the cluster changes its MTU in this boot, to the one that it has.
    mtu_target = "/run/dayone/mtu-migration.json";
    /// The plan of the automatic bridge that was committed in this boot.
    bridge = "/run/dayone/bridge.json";
    /// The account of the last trial in this boot.
    trial = "/run/dayone/trial.json";
    /// The document on trial: the caller's file may go meanwhile.
    trial_document = "/run/dayone/trial.yml";
    /// The request to keep the trial.
    trial_confirmed = "/run/dayone/trial-confirmed";
    /// Lock file, held by the active run.
    lock = "/run/dayone/lock";
    /// OVSDB's socket.
    ovsdb_socket = "/run/openvswitch/db.sock";
    /// Its file.
    ovs_database = "/etc/openvswitch/conf.db";
    /// The process of ovs-vswitchd; the file goes with its orderly end alone.
    ovs_vswitchd_pid = "/run/openvswitch/ovs-vswitchd.pid";
    /// The kernel's host name; poll reports a change.
    kernel_hostname = "/proc/sys/kernel/hostname";
    boot_id = "/proc/sys/kernel/random/boot_id";
    sys_net = "/sys/class/net";
    /// Name servers in use.
    resolv_conf = "/etc/resolv.conf";
    /// The API's address, written by the installer.
    apiserver_env = "/etc/kubernetes/apiserver-url.env";
    /// Written by the script of the operator's mtu-migration.service.
    mtu_migration = "/etc/cno/mtu-migration";
    /// This boot has cleared the address of OVN's southbound database.
    ovn_remote_forgotten = "/run/dayone/ovn-remote-forgotten";
    /// Mark of configure-ovs.sh: it has run in this boot. On two-node clusters its unit is skipped then.
    ovs_config_executed = "/run/ovs-config-executed";
    /// Files of OpenShift that name uplinks.
    uplinks = "/etc/ovnk";
    /// The node IP, from nodeip-configuration.service.
    primary_ip = "/run/nodeip-configuration/primary-ip";
    /// The uplink of the last automatic bridge; read and written by configure-ovs.sh too.
    hint = "/var/lib/ovnk/iface_default_hint";
    /// Mark of configure-ovs.sh: a bridge was made in this boot.
    boot_done = "/run/configure-ovs-boot-done";
}
