//! Every path the agent reads or writes, relocated by one root.

use std::path::{Path, PathBuf};

use crate::model::facts::{Collected, Facts};

/// The root that all paths below are relative to; `/` on a node.
#[derive(Clone, Debug)]
pub(crate) struct Paths {
    root: PathBuf,
    /// The rest of a node that was collected, which no file has.
    collected: Option<Collected>,
}

impl Paths {
    /// Paths under `root`.
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

    /// NetworkManager's saved profiles.
    pub(crate) fn profiles(&self) -> PathBuf {
        self.under("/etc/NetworkManager/system-connections")
    }

    /// What NetworkManager keeps of its own settings.
    pub(crate) fn network_manager_intern(&self) -> PathBuf {
        self.under("/var/lib/NetworkManager/NetworkManager-intern.conf")
    }

    /// Where NetworkManager finds profiles: saved ones, those until the next boot, and those of the system.
    pub(crate) fn profile_directories(&self) -> [PathBuf; 3] {
        ["/etc", "/run", "/usr/lib"]
            .map(|root| self.under(root).join("NetworkManager/system-connections"))
    }

    /// The agent's settings.
    pub(crate) fn settings(&self) -> PathBuf {
        self.under("/etc/dayone/dayone.toml")
    }

    /// Documents of all nodes of a role, written by MachineConfigs.
    pub(crate) fn documents(&self) -> PathBuf {
        self.under("/etc/nmstate/openshift")
    }

    /// The files of `nmstatectl service`.
    pub(crate) fn service_files(&self) -> PathBuf {
        self.under("/etc/nmstate")
    }

    /// The byte copy of the document in force, which other tools read.
    pub(crate) fn applied(&self) -> PathBuf {
        self.documents().join("applied")
    }

    /// The agent's durable state.
    pub(crate) fn state_dir(&self) -> PathBuf {
        self.under("/var/lib/dayone")
    }

    /// The open transaction: journal and copies. Exists only while one is open.
    pub(crate) fn transaction(&self) -> PathBuf {
        self.state_dir().join("transaction")
    }

    /// The agent's state of this boot.
    pub(crate) fn runtime_dir(&self) -> PathBuf {
        self.under("/run/dayone")
    }

    /// The open transaction of an automatic bridge, where the disk is full or read-only.
    pub(crate) fn volatile_transaction(&self) -> PathBuf {
        self.runtime_dir().join("transaction")
    }

    /// The decided commit of an automatic bridge whose transaction is in `/run`.
    pub(crate) fn volatile_committed(&self) -> PathBuf {
        self.runtime_dir().join("committed")
    }

    /// The journal of a failed roll back while the last good document is applied.
    pub(crate) fn set_aside(&self) -> PathBuf {
        self.state_dir().join("transaction.failed")
    }

    /// A decided commit whose files are not yet all in place. Short-lived.
    pub(crate) fn committed(&self) -> PathBuf {
        self.state_dir().join("committed")
    }

    /// The committed document, the count of failures, and the machine.
    pub(crate) fn record(&self) -> PathBuf {
        self.state_dir().join("record.json")
    }

    /// The machine of the state of version 0.2.
    pub(crate) fn machine(&self) -> PathBuf {
        self.state_dir().join("machine.json")
    }

    /// The state of another installation.
    pub(crate) fn other_machine(&self) -> PathBuf {
        self.state_dir().join("other-machine")
    }

    /// machine-id(5).
    pub(crate) fn machine_id(&self) -> PathBuf {
        self.under("/etc/machine-id")
    }

    /// proc_pid_mountinfo(5) of this process.
    pub(crate) fn mounts(&self) -> PathBuf {
        self.under("/proc/self/mountinfo")
    }

    /// One JSON object a line: every finished transaction, newest last.
    pub(crate) fn history(&self) -> PathBuf {
        self.state_dir().join("history.jsonl")
    }

    /// The status of this boot.
    pub(crate) fn status(&self) -> PathBuf {
        self.under("/run/dayone/status.json")
    }

    /// What this node's network had in this boot.
    pub(crate) fn memory(&self) -> PathBuf {
        self.under("/run/dayone/memory.json")
    }

    /// Mark: a run or a check has ended, and dayone-health.service has not looked since.
    pub(crate) fn ended(&self) -> PathBuf {
        self.under("/run/dayone/ended")
    }

    /// The last account of the node's health.
    pub(crate) fn health(&self) -> PathBuf {
        self.under("/run/dayone/health.json")
    }

    /// Mark: the unit of a reason has to look anew.
    pub(crate) fn health_mark(&self, reason: &str) -> PathBuf {
        self.under("/run/dayone/health").join(reason)
    }

    /// The control group of a service of the system; another one after each start.
    pub(crate) fn control_group(&self, unit: &str) -> PathBuf {
        self.under("/sys/fs/cgroup/system.slice").join(unit)
    }

    /// Mark: the boot waits for the network (see `run::marks`).
    pub(crate) fn undecided(&self) -> PathBuf {
        self.under("/run/dayone/undecided")
    }

    /// The rendered MachineConfig that machine-config-daemon has put in place.
    pub(crate) fn machine_config(&self) -> PathBuf {
        self.under("/etc/machine-config-daemon/currentconfig")
    }

    /// Mark: this node has a document.
    pub(crate) fn chosen(&self) -> PathBuf {
        self.under("/run/dayone/chosen")
    }

    /// Mark: a document is in force.
    pub(crate) fn in_force(&self) -> PathBuf {
        self.under("/run/dayone/in-force")
    }

    /// Mark: br-ex is the affair of the document in force, to whose file it is a link.
    pub(crate) fn bridge_of_document(&self) -> PathBuf {
        self.under("/run/dayone/bridge-of-document")
    }

    /// Mark: the boot waits for the automatic bridge.
    pub(crate) fn bridge_undecided(&self) -> PathBuf {
        self.under("/run/dayone/bridge-undecided")
    }

    /// The numbers of attempts in a row that ended with the agent in this boot.
    pub(crate) fn cut_off(&self) -> PathBuf {
        self.under("/run/dayone/cut-off")
    }

    /// Mark: br-ex belongs to the agent in this boot.
    pub(crate) fn owns_bridge(&self) -> PathBuf {
        self.under("/run/dayone/owns-bridge")
    }

    /// Mark: the cluster changes its MTU in this boot, to the one that it has.
    pub(crate) fn mtu_target(&self) -> PathBuf {
        self.under("/run/dayone/mtu-migration.json")
    }

    /// The plan of the automatic bridge that was committed in this boot.
    pub(crate) fn bridge(&self) -> PathBuf {
        self.under("/run/dayone/bridge.json")
    }

    /// The account of the last trial in this boot.
    pub(crate) fn trial(&self) -> PathBuf {
        self.under("/run/dayone/trial.json")
    }

    /// The document on trial: the caller's file may go meanwhile.
    pub(crate) fn trial_document(&self) -> PathBuf {
        self.under("/run/dayone/trial.yml")
    }

    /// The request to keep the trial.
    pub(crate) fn trial_confirmed(&self) -> PathBuf {
        self.under("/run/dayone/trial-confirmed")
    }

    /// Lock file, held by the active run.
    pub(crate) fn lock(&self) -> PathBuf {
        self.under("/run/dayone/lock")
    }

    /// OVSDB's socket.
    pub(crate) fn ovsdb_socket(&self) -> PathBuf {
        self.under("/run/openvswitch/db.sock")
    }

    /// Its file.
    pub(crate) fn ovs_database(&self) -> PathBuf {
        self.under("/etc/openvswitch/conf.db")
    }

    /// The process of ovs-vswitchd; the file goes with its orderly end alone.
    pub(crate) fn ovs_vswitchd_pid(&self) -> PathBuf {
        self.under("/run/openvswitch/ovs-vswitchd.pid")
    }

    /// The kernel's host name; poll reports a change.
    pub(crate) fn kernel_hostname(&self) -> PathBuf {
        self.under("/proc/sys/kernel/hostname")
    }

    /// An id of this boot.
    pub(crate) fn boot_id(&self) -> PathBuf {
        self.under("/proc/sys/kernel/random/boot_id")
    }

    /// Network devices.
    pub(crate) fn sys_net(&self) -> PathBuf {
        self.under("/sys/class/net")
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

    /// Name servers in use.
    pub(crate) fn resolv_conf(&self) -> PathBuf {
        self.under("/etc/resolv.conf")
    }

    /// The API's address, written by the installer.
    pub(crate) fn apiserver_env(&self) -> PathBuf {
        self.under("/etc/kubernetes/apiserver-url.env")
    }

    /// Written by the script of the operator's mtu-migration.service.
    pub(crate) fn mtu_migration(&self) -> PathBuf {
        self.under("/etc/cno/mtu-migration")
    }

    /// This boot has cleared the address of OVN's southbound database.
    pub(crate) fn ovn_remote_forgotten(&self) -> PathBuf {
        self.under("/run/dayone/ovn-remote-forgotten")
    }

    /// Mark of configure-ovs.sh: it has run in this boot. On two-node clusters its unit is skipped then.
    pub(crate) fn ovs_config_executed(&self) -> PathBuf {
        self.under("/run/ovs-config-executed")
    }

    /// Files of OpenShift that name uplinks.
    pub(crate) fn uplinks(&self) -> PathBuf {
        self.under("/etc/ovnk")
    }

    /// The node IP, from nodeip-configuration.service.
    pub(crate) fn primary_ip(&self) -> PathBuf {
        self.under("/run/nodeip-configuration/primary-ip")
    }

    /// The uplink of the last automatic bridge; read and written by configure-ovs.sh too.
    pub(crate) fn hint(&self) -> PathBuf {
        self.under("/var/lib/ovnk/iface_default_hint")
    }

    /// Mark of configure-ovs.sh: a bridge was made in this boot.
    pub(crate) fn boot_done(&self) -> PathBuf {
        self.under("/run/configure-ovs-boot-done")
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
