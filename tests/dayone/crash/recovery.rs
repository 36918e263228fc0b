//! `dayone recover` on a disk after a crash, and the invariant.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use serde_json::Value;
use tests::{
    crash::{
        Fault,
        campaign::{Judge, Shared},
        operations::Recording,
        states::State,
        tree::{Kind, Tree},
    },
    dayone::APPLIED,
};

use super::agent::{self, Agent};

/// The places that survive a reboot and that a transaction writes or recovery reads.
pub(super) const PLACES: &[&str] = &[
    "/etc/NetworkManager",
    "/etc/dayone",
    "/etc/hostname",
    "/etc/nmstate",
    "/etc/systemd/network",
    "/var/lib/NetworkManager",
    "/var/lib/dayone",
    "/var/lib/ovnk",
];

const PROFILES: &str = "/etc/NetworkManager/system-connections/";
const MANAGER: &str = "/var/lib/NetworkManager/";
const STATE: &str = "/var/lib/dayone/";
const RECORD: &str = "/var/lib/dayone/record.json";
const HISTORY: &str = "/var/lib/dayone/history.jsonl";

/// Whether the file is a part of the network that a transaction replaces as a whole.
pub(super) fn is_network(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let is_profile =
        path.starts_with(PROFILES) && name.ends_with(".nmconnection") && !name.starts_with('.');
    is_profile
        || name.starts_with("nmstate-")
        || name.starts_with("98-nmstate-")
        || ["/var/lib/NetworkManager/NetworkManager-intern.conf", "/etc/hostname"].contains(&path)
}

/// Whether the file says which configuration is in force; the record is compared by its content.
fn is_decision(path: &str) -> bool {
    path == APPLIED || path == "/var/lib/ovnk/iface_default_hint"
}

/// Whether recovery may write the file.
fn is_own(path: &str) -> bool {
    path.starts_with(STATE)
        || is_network(path)
        || is_decision(path)
        || path == "/var/lib/ovnk"
        || path
            .rsplit('/')
            .next()
            .is_some_and(|name| name.starts_with('.') && name.ends_with(".dayone"))
}

/// A configuration: the network's files, and those that name it.
struct Configuration {
    files: Tree,
    committed: Value,
}

impl Configuration {
    fn of(tree: &Tree) -> Self {
        let record = tree.bytes(RECORD).and_then(|bytes| serde_json::from_slice(bytes).ok());
        let record: Value = record.unwrap_or_default();
        let files = tree.only(|path| is_network(path) || is_decision(path));
        Self { files, committed: record["committed"].clone() }
    }

    fn difference(&self, expected: &Self) -> Option<String> {
        match self.committed == expected.committed {
            true => self.files.difference(&expected.files),
            false => Some("the record names another document".to_owned()),
        }
    }
}

/// Promises that a recording has to keep.
pub(super) struct Expected {
    old: Configuration,
    new: Configuration,
    /// Whether the node's current document is in force before and after.
    in_force: (bool, bool),
    length: usize,
}

impl Expected {
    pub(super) fn new(recording: &Recording, in_force: (bool, bool)) -> Self {
        let (old, new) = (Configuration::of(&recording.start), Configuration::of(&recording.end()));
        Self { old, new, in_force, length: recording.length() }
    }

    /// The rule that `after` breaks, the disk after the recovery of `state`, or whether its configuration is the new one.
    fn is_new(&self, state: &State, after: &Tree) -> Result<bool, String> {
        let (before, kept) =
            (state.tree.only(|path| !is_own(path)), after.only(|path| !is_own(path)));
        if let Some(difference) = kept.difference(&before) {
            return Err(format!("a file of others: {difference}"));
        }
        let left = after.0.keys().find(|path| {
            let name = path.strip_prefix(STATE).unwrap_or_default();
            ["transaction", "committed"].contains(&name)
                || [".new", ".done", ".damaged"].iter().any(|end| name.ends_with(end))
        });
        if let Some(path) = left {
            return Err(format!("{path} is left"));
        }
        let it = Configuration::of(after);
        let Some(from_new) = it.difference(&self.new) else { return Ok(true) };
        if state.at == self.length && self.new.difference(&self.old).is_some() {
            return Err(format!("the agent was done, but {from_new}"));
        }
        let Some(from_old) = it.difference(&self.old) else { return Ok(false) };
        Err(match it.committed == self.new.committed && it.committed != self.old.committed {
            true => format!("the record has the new configuration, but {from_new}"),
            false => format!("the record has the old configuration, but {from_old}"),
        })
    }
}

/// A root directory for recoveries.
pub(super) struct Recovery<'e> {
    root: tempfile::TempDir,
    agent: Agent,
    /// The disk.
    now: Tree,
    expected: &'e Expected,
}

impl<'e> Recovery<'e> {
    pub(super) fn new(expected: &'e Expected) -> Result<Self, Fault> {
        let memory = Path::new("/dev/shm");
        let root = tempfile::tempdir_in(memory).map_err(file(memory))?;
        let agent = Agent::start()?;
        let it = Self { root, agent, now: Tree::default(), expected };
        for (path, text) in [
            ("proc/sys/kernel/random/boot_id", "00000000-0000-4000-8000-000000000000\n"),
            ("proc/sys/kernel/hostname", "worker-0\n"),
        ] {
            let path = it.root.path().join(path);
            let parent = path.parent().unwrap_or(&path);
            fs::create_dir_all(parent)
                .and_then(|()| fs::write(&path, text))
                .map_err(file(&path))?;
        }
        // Enabled: the boot waits for it.
        let wants = it.root.path().join("usr/lib/systemd/system/multi-user.target.wants");
        fs::create_dir_all(&wants)
            .and_then(|()| symlink("../dayone.service", wants.join("dayone.service")))
            .map_err(file(&wants))?;
        Ok(it)
    }

    /// Its directory.
    pub(super) fn root(&self) -> &Path {
        self.root.path()
    }

    /// Makes the disk hold `tree`.
    pub(super) fn put(&mut self, tree: &Tree) -> Result<(), Fault> {
        tree.write(self.root.path(), &self.now).map_err(file(self.root.path()))?;
        self.now = tree.clone();
        Ok(())
    }

    /// The end of a boot: `/run` is gone.
    pub(super) fn reboot(&self) -> Result<(), Fault> {
        let run = self.root.path().join("run");
        let removed = if run.exists() { fs::remove_dir_all(&run) } else { Ok(()) };
        removed.and_then(|()| fs::create_dir(&run)).map_err(file(&run))
    }

    /// Recovers; the inner error is a broken rule.
    pub(super) fn recover(&mut self) -> Result<Result<Tree, String>, Fault> {
        self.reboot()?;
        let end = self.agent.recover(self.root.path())?;
        self.recovered(end)
    }

    /// The disk after a recovery with this end.
    fn recovered(&mut self, end: Result<(), String>) -> Result<Result<Tree, String>, Fault> {
        let now = self.now.read_again(self.root.path(), PLACES);
        self.now = now.map_err(file(self.root.path()))?;
        let is_held = self.root.path().join("run/dayone/undecided").exists();
        Ok(end.and_then(|()| match is_held {
            true => Ok(self.now.clone()),
            false => Err("the boot does not wait".to_owned()),
        }))
    }

    /// A second recovery and the status, both by the program of a node, which have to agree with the first.
    fn again(&mut self, after: &Tree, is_new: bool) -> Result<Option<String>, Fault> {
        self.reboot()?;
        let end = agent::recover(self.root.path())?;
        match self.recovered(end)? {
            Err(rule) => return Ok(Some(format!("the second time {rule}"))),
            Ok(again) => {
                if let Some(difference) = again.difference(after) {
                    return Ok(Some(format!("a second recovery is no repetition: {difference}")));
                }
            }
        }
        let in_force = agent::in_force(self.root.path())?;
        let (old, new) = self.expected.in_force;
        let expected = Value::from(if is_new { new } else { old });
        Ok((in_force != expected).then(|| format!("status says in force: {in_force}")))
    }
}

impl Judge for Recovery<'_> {
    fn judge(&mut self, state: &State, shared: &Shared) -> Result<Option<String>, Fault> {
        self.put(&state.tree)?;
        let after = match self.recover()? {
            Ok(after) => after,
            Err(rule) => return Ok(Some(rule)),
        };
        let is_new = match self.expected.is_new(state, &after) {
            Ok(is_new) => is_new,
            Err(rule) => return Ok(Some(rule)),
        };
        match shared.is_new(outcome(&after).digest()) {
            true => self.again(&after, is_new),
            false => Ok(None),
        }
    }
}

/// Without the history, which is for display: an interrupted recovery has a line of its own.
pub(super) fn without_history(tree: &Tree) -> Tree {
    tree.only(|path| path != HISTORY && !path.ends_with("/.history.jsonl.dayone"))
}

/// The files that a second recovery depends on: without the times of the history, and without files of NetworkManager that the
/// agent does not know, as its timestamps and its temporary files. The first recovery has shown that these stay as they are.
fn outcome(tree: &Tree) -> Tree {
    let mut tree = tree.only(|path| !path.starts_with(MANAGER) || is_own(path));
    if let Some(entry) = tree.0.get_mut(HISTORY)
        && let Kind::File(bytes) = &entry.kind
    {
        let text = String::from_utf8_lossy(bytes);
        let lines = text.lines().map(|line| {
            let mut line: Value = serde_json::from_str(line).unwrap_or_default();
            line["at"] = Value::Null;
            line.to_string()
        });
        entry.kind = Kind::File(lines.collect::<Vec<_>>().join("\n").into_bytes().into());
    }
    tree
}

fn file(path: &Path) -> impl FnOnce(std::io::Error) -> Fault + use<> {
    let path: PathBuf = path.to_owned();
    move |source| Fault::File { path, source }
}
