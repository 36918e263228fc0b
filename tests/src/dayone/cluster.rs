//! A stand-in for `oc` and for the machine-config-operator, as far as a rollout in waves needs them: pools, the files of their
//! MachineConfigs, `paused`, `maxUnavailable`, and reboots that somebody asks for.
//!
//! Like the operator, it changes a node only while that is Ready, writes documents without a reboot (so says the node disruption
//! policy) and other files with one, and takes as many nodes at once as may be unavailable, those that are so already included.

#![allow(clippy::expect_used, reason = "a step of the case")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    os::unix::fs::PermissionsExt as _,
    process::Command,
    time::Duration,
};

use serde_json::Value;
use tempfile::TempDir;

use super::{ATTEMPT, installed};
use crate::{
    guide::{blocks, section},
    lab::{Error, Fleet, Output, Result, run},
    program,
};

/// `oc`: what is asked of a node is done in it, where kubelet can start a pod; the rest is noted.
const OC: &str = r#"#!/bin/sh
set -eu
place=$(dirname "$(dirname "$0")")
case "$1 $2" in
"get nodes")
    for file in "$place"/nodes/*; do
        [ "$3" != -o ] || printf node/
        echo "${file##*/}"
    done
    ;;
"debug "*)
    while [ "$1" != -- ]; do
        case $1 in node/*) file=$place/nodes/${1#node/} ;; esac
        shift
    done
    shift
    [ "$1 $2" = "chroot /host" ] || { echo "error: no such command in the image" >&2; exit 1; }
    shift 2
    within="nsenter --target=$(cat "$file") --mount --uts --ipc --net --pid --cgroup --root --wd"
    $within systemctl is-active --quiet kubelet.service || { echo "error: the pod was never started" >&2; exit 1; }
    exec $within "$@"
    ;;
*) printf '%s\n' "$*" >>"$place/asked" ;;
esac
"#;
/// The directory whose files the operator writes without a reboot.
const WITHOUT_REBOOT: &str = "/etc/nmstate/openshift/";
/// Whether the boot of a node has come to where it stays: Ready, or held.
const SETTLED: &str = "systemctl is-active --quiet kubelet.service || \
    systemctl is-failed --quiet dayone-health@waiting.service";
/// Bound on a command at the workstation.
const COMMAND: Duration = Duration::from_secs(60);

fn unknown(what: &str) -> Error {
    Error::Output { program: "oc", problem: format!("{what} has no stand-in") }
}

/// A MachineConfigPool.
#[derive(Debug)]
struct Pool {
    name: String,
    /// The roles whose MachineConfigs its nodes have.
    roles: Vec<String>,
    is_paused: bool,
    max_unavailable: String,
}

impl Pool {
    /// The nodes that may be unavailable: a share is rounded down, and is at least one.
    fn limit(&self, nodes: usize) -> usize {
        let limit = match self.max_unavailable.strip_suffix('%') {
            Some(share) => nodes * share.parse::<usize>().expect("a share") / 100,
            None => self.max_unavailable.parse().expect("a number"),
        };
        limit.max(1)
    }
}

/// A MachineConfig.
#[derive(Debug)]
struct Config {
    role: String,
    files: Vec<File>,
}

/// A file of a MachineConfig.
#[derive(Debug, Clone, PartialEq, Eq)]
struct File {
    path: String,
    text: String,
}

/// A node's configuration, as its pool renders it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Rendered {
    files: Vec<File>,
    reboots: usize,
}

/// The nodes of a fleet as a cluster, and a workstation that has `oc` and `nmgen`.
#[derive(Debug)]
pub struct Cluster<'f, 'lab> {
    fleet: &'f mut Fleet<'lab>,
    place: TempDir,
    pools: Vec<Pool>,
    configs: BTreeMap<String, Config>,
    /// The reboots asked for, by role.
    asked: BTreeMap<String, usize>,
    labels: BTreeSet<(String, String)>,
    current: BTreeMap<String, Rendered>,
    /// The nodes that rebooted, those of one time together.
    pub waves: Vec<Vec<String>>,
}

impl<'f, 'lab> Cluster<'f, 'lab> {
    /// All nodes in the pool of workers, without a MachineConfig.
    ///
    /// # Panics
    /// If the workstation's files cannot be written.
    pub fn new(fleet: &'f mut Fleet<'lab>) -> Self {
        let place = tempfile::tempdir().expect("a directory");
        for directory in ["bin", "nodes"] {
            fs::create_dir(place.path().join(directory)).expect("a directory");
        }
        let oc = place.path().join("bin/oc");
        fs::write(&oc, OC).expect("a program");
        fs::set_permissions(&oc, fs::Permissions::from_mode(0o755)).expect("its mode");
        let current = fleet.names().into_iter().map(|name| (name, Rendered::default())).collect();
        let worker = Pool {
            name: "worker".to_owned(),
            roles: vec!["worker".to_owned()],
            is_paused: false,
            max_unavailable: "1".to_owned(),
        };
        Self {
            fleet,
            place,
            pools: vec![worker],
            configs: BTreeMap::new(),
            asked: BTreeMap::new(),
            labels: BTreeSet::new(),
            current,
            waves: Vec::new(),
        }
    }

    /// The nodes.
    pub fn fleet(&mut self) -> &mut Fleet<'lab> {
        self.fleet
    }

    /// Writes a file at the workstation.
    ///
    /// # Panics
    /// If it cannot be written.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.place.path().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(path, text).expect("a file");
    }

    /// Runs a command at the workstation, and has the operator do what that asks for.
    ///
    /// # Errors
    /// The lab's.
    ///
    /// # Panics
    /// If what is asked makes no sense.
    pub fn run(&mut self, command: &str) -> Result<Output> {
        for name in self.fleet.names() {
            let root = self.fleet.inside(&name)?.root()?;
            let process =
                root.components().nth(2).map(|component| component.as_os_str().to_owned());
            let process = process.unwrap_or_default();
            self.write(&format!("nodes/{name}"), &process.to_string_lossy());
        }
        let programs = program::nmgen().parent().expect("a directory").display();
        let path = std::env::var("PATH").unwrap_or_default();
        let path = format!("{}:{programs}:{path}", self.place.path().join("bin").display());
        let mut shell = Command::new("sh");
        shell.args(["-euc", command]).env("PATH", path).current_dir(self.place.path());
        let output = run(&mut shell, COMMAND)?;
        let asked = self.place.path().join("asked");
        let lines = fs::read_to_string(&asked).unwrap_or_default();
        let _ = fs::remove_file(&asked);
        for line in lines.lines() {
            self.ask(line)?;
            self.reconcile()?;
        }
        Ok(output)
    }

    /// Runs the workstation's commands of a guide's section, from one on and at most as many.
    ///
    /// # Errors
    /// The lab's.
    ///
    /// # Panics
    /// If one fails, or the section has none.
    pub fn follow(&mut self, guide: &str, heading: &str, most: usize) -> Result<()> {
        let plain = blocks(section(guide, heading)).filter(|block| block.kind.is_empty());
        let commands: Vec<&str> = plain.flat_map(|block| block.text.lines()).take(most).collect();
        assert!(!commands.is_empty(), "the guide has no commands in {heading:?}");
        for command in commands {
            let output = self.run(command)?;
            assert!(output.status.success(), "{command}: {output}");
        }
        Ok(())
    }

    /// The pool's name of a node: that of a role that it is labelled with, else worker.
    fn pool_of(&self, node: &str) -> &str {
        let is_its = |pool: &&Pool| {
            self.labels
                .contains(&(node.to_owned(), format!("node-role.kubernetes.io/{}", pool.name)))
        };
        self.pools.iter().find(is_its).map_or("worker", |pool| &pool.name)
    }

    /// Does what a command of `oc` asks of the cluster.
    fn ask(&mut self, line: &str) -> Result<()> {
        let words: Vec<&str> = line.split(' ').collect();
        match words.as_slice() {
            ["apply", "-f", file] => self.apply(file)?,
            ["label", node, label] => {
                let node = node.strip_prefix("node/").expect("a node");
                let label = label.strip_suffix('=').expect("a label without a value");
                assert!(self.current.contains_key(node), "no node {node}");
                self.labels.insert((node.to_owned(), label.to_owned()));
            }
            ["patch", pool, "--type", "merge", "--patch", patch] => self.patch(pool, patch)?,
            ["adm", "reboot-machine-config-pool", pool] => {
                let name = pool.strip_prefix("mcp/").expect("a pool");
                let is_own = matches!(name, "master" | "worker");
                assert!(is_own, "only master or worker machineconfigpools are accepted: {name}");
                // A MachineConfig of that role: pools that inherit from it have it too.
                *self.asked.entry(name.to_owned()).or_default() += 1;
            }
            // A command's work is done, as far as it gets, when the next one comes.
            ["wait", _, "--for=condition=Updating", _] => {}
            ["wait", pool, "--for=condition=Updated", _] => {
                let name = pool.strip_prefix("mcp/").expect("a pool");
                for node in self.current.keys().filter(|node| self.pool_of(node) == name) {
                    let is_done = self.current[node] == self.wanted(node) && self.is_ready(node);
                    assert!(is_done, "the command would wait for {node}");
                }
            }
            _ => return Err(unknown(&format!("`oc {line}`"))),
        }
        Ok(())
    }

    fn apply(&mut self, file: &str) -> Result<()> {
        let text = fs::read_to_string(self.place.path().join(file)).expect("the file");
        for object in text.split("\n---\n") {
            let object: serde_yaml::Value = serde_yaml::from_str(object).expect("YAML");
            let name = object["metadata"]["name"].as_str().expect("a name").to_owned();
            match object["kind"].as_str() {
                Some("MachineConfigPool") => {
                    let spec = &object["spec"];
                    let roles = &spec["machineConfigSelector"]["matchExpressions"][0]["values"];
                    let roles = roles.as_sequence().expect("roles").iter();
                    let pool = Pool {
                        roles: roles
                            .map(|role| role.as_str().expect("a role").to_owned())
                            .collect(),
                        is_paused: false,
                        max_unavailable: spec["maxUnavailable"].as_u64().unwrap_or(1).to_string(),
                        name,
                    };
                    self.pools.retain(|other| other.name != pool.name);
                    self.pools.push(pool);
                }
                Some("MachineConfig") => {
                    let label = "machineconfiguration.openshift.io/role";
                    let role = object["metadata"]["labels"][label].as_str().expect("a role");
                    let files = &object["spec"]["config"]["storage"]["files"];
                    let file = |file: &serde_yaml::Value| File {
                        path: file["path"].as_str().expect("a path").to_owned(),
                        text: String::from_utf8(installed::content(file)).expect("a text"),
                    };
                    let files = files.as_sequence().into_iter().flatten().map(file).collect();
                    self.configs.insert(name, Config { role: role.to_owned(), files });
                }
                other => return Err(unknown(&format!("{other:?}"))),
            }
        }
        Ok(())
    }

    fn patch(&mut self, pool: &str, patch: &str) -> Result<()> {
        let name = pool.strip_prefix("mcp/").expect("a pool");
        let pool = self.pools.iter_mut().find(|pool| pool.name == name).expect("the pool");
        let patch: Value = serde_json::from_str(patch).expect("JSON");
        for (key, value) in patch["spec"].as_object().expect("a spec") {
            match key.as_str() {
                "paused" => pool.is_paused = value.as_bool().expect("a truth"),
                "maxUnavailable" => {
                    let number = value.as_str().map(str::to_owned);
                    pool.max_unavailable = number.unwrap_or_else(|| value.to_string());
                }
                _ => return Err(unknown(key)),
            }
        }
        Ok(())
    }

    /// The configuration by the roles of a node's pool. MachineConfigs are merged by their names.
    fn wanted(&self, node: &str) -> Rendered {
        let name = self.pool_of(node);
        let pool = self.pools.iter().find(|pool| pool.name == name).expect("the pool");
        let mut files: BTreeMap<&str, &File> = BTreeMap::new();
        for config in self.configs.values().filter(|config| pool.roles.contains(&config.role)) {
            files.extend(config.files.iter().map(|file| (file.path.as_str(), file)));
        }
        let reboots = pool.roles.iter().filter_map(|role| self.asked.get(role)).sum();
        Rendered { files: files.into_values().cloned().collect(), reboots }
    }

    fn is_ready(&self, node: &str) -> bool {
        let unit = self.fleet.inside(node).and_then(|inside| inside.unit("kubelet.service"));
        unit.is_ok_and(|unit| unit.active_state == "active")
    }

    /// Brings each pool as far as it gets.
    fn reconcile(&mut self) -> Result<()> {
        while self.wave()? {}
        Ok(())
    }

    /// The nodes of a pool that are changed next: as many as may be unavailable.
    fn next(&self, pool: &Pool) -> Vec<String> {
        let all = self.current.keys().filter(|node| self.pool_of(node) == pool.name);
        let (ready, others): (Vec<_>, Vec<_>) = all.cloned().partition(|node| self.is_ready(node));
        let room = pool.limit(ready.len() + others.len()).saturating_sub(others.len());
        let is_late = |node: &String| self.current[node] != self.wanted(node);
        ready.into_iter().filter(is_late).take(room).collect()
    }

    /// Changes the next nodes of all pools; false if there is nothing to do, or no way on.
    fn wave(&mut self) -> Result<bool> {
        let going = self.pools.iter().filter(|pool| !pool.is_paused);
        let mut nodes: Vec<String> = going.flat_map(|pool| self.next(pool)).collect();
        nodes.sort();
        let mut rebooting = Vec::new();
        for node in &nodes {
            let wanted = self.wanted(node);
            let current = &self.current[node];
            let mut reboots = wanted.reboots != current.reboots;
            for file in wanted.files.iter().filter(|file| !current.files.contains(file)) {
                self.fleet.inside(node)?.write(&file.path, &file.text)?;
                reboots |= !file.path.starts_with(WITHOUT_REBOOT);
            }
            if reboots {
                rebooting.push(node.clone());
            }
            self.current.insert(node.clone(), wanted);
        }
        if !rebooting.is_empty() {
            let names: Vec<&str> = rebooting.iter().map(String::as_str).collect();
            self.fleet.restart(&names)?;
            for node in &rebooting {
                self.fleet.inside(node)?.wait_sh(SETTLED, ATTEMPT)?;
            }
            self.waves.push(rebooting);
        }
        Ok(!nodes.is_empty())
    }

    /// Runs a command in a node as somebody who has logged in there.
    ///
    /// # Errors
    /// The lab's.
    pub fn login(&self, node: &str, command: &[&str]) -> Result<Output> {
        self.fleet.inside(node)?.run(command)
    }

    /// Waits until a node is Ready.
    ///
    /// # Errors
    /// If it does not become so.
    pub fn wait_ready(&mut self, node: &str) -> Result<()> {
        self.fleet.inside(node)?.wait_unit("kubelet.service", "active", ATTEMPT)?;
        self.reconcile()
    }
}
