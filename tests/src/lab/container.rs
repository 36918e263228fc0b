//! One boot of a node: systemd-nspawn and what runs in it.

use std::{
    fs::{self, File},
    os::unix::net::UnixDatagram,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};

use super::{
    cgroups,
    command::{pid_of, wait_for},
    error::{Error, Result},
    node::Node,
};

/// What a boot needs to know.
pub(crate) struct Boot<'a> {
    pub(crate) node: &'a Node,
    pub(crate) rootfs: &'a Path,
    pub(crate) disk: &'a Path,
    pub(crate) state: &'a Path,
    pub(crate) netns: &'a Path,
}

/// A running container; killed on drop.
#[derive(Debug)]
pub(crate) struct Container {
    nspawn: Child,
    leader: Pid,
    notify: UnixDatagram,
    ready: bool,
    console: PathBuf,
}

impl Container {
    /// Starts the container and returns when its PID 1 exists.
    pub(crate) fn start(boot: &Boot<'_>) -> Result<Self> {
        let socket = boot.state.join("notify");
        let _ = fs::remove_file(&socket);
        let notify = UnixDatagram::bind(&socket).map_err(Error::file("bind", &socket))?;
        notify
            .set_read_timeout(Some(Duration::from_millis(100)))
            .map_err(Error::file("set a time limit on", &socket))?;
        let console = boot.state.join("console");
        let log = File::options()
            .create(true)
            .append(true)
            .open(&console)
            .map_err(Error::file("open", &console))?;
        let errors = log.try_clone().map_err(Error::file("duplicate", &console))?;
        let mut command = command(boot)?;
        // The script kills the node when this end of its standard input is gone.
        command.env("NOTIFY_SOCKET", &socket).stdin(Stdio::piped()).stdout(log).stderr(errors);
        let nspawn = command
            .spawn()
            .map_err(|source| Error::Spawn { program: "systemd-nspawn".into(), source })?;
        let mut container =
            Self { nspawn, leader: Pid::from_raw(0), notify, ready: false, console };
        container.receive("the container's PID 1", Duration::from_secs(15), |it| {
            it.leader.as_raw() != 0
        })?;
        Ok(container)
    }

    /// PID 1 of the node, as the host counts.
    pub(crate) fn leader(&self) -> Pid {
        self.leader
    }

    /// Waits until systemd in the node has no more jobs of its start-up.
    pub(crate) fn wait_ready(&mut self, limit: Duration) -> Result<()> {
        self.receive("the end of the node's start-up", limit, |it| it.ready)
    }

    /// Waits for the container to end by itself.
    pub(crate) fn wait_end(&mut self, limit: Duration) -> Result<()> {
        let nspawn = &mut self.nspawn;
        wait_for("the container to end", limit, || {
            nspawn.try_wait().map_err(|source| Error::Spawn { program: "wait".into(), source })
        })?;
        Ok(())
    }

    /// Ends it as a power cut does: nothing inside gets to know.
    pub(crate) fn cut_power(&mut self) -> Result<()> {
        if self.leader.as_raw() != 0 {
            // With PID 1 goes everything in its PID namespace.
            let _ = kill(self.leader, Signal::SIGKILL);
            if self.wait_end(Duration::from_secs(5)).is_ok() {
                return Ok(());
            }
        }
        let pid = pid_of(&self.nspawn);
        let failed = |e: nix::Error| Error::Signal {
            signal: "SIGKILL",
            pid: pid.as_raw(),
            source: e.into(),
        };
        kill(pid, Signal::SIGKILL).map_err(failed)?;
        self.wait_end(Duration::from_secs(5))
    }

    /// The end of what was printed on the console.
    pub(crate) fn console(&self) -> String {
        let text = fs::read(&self.console).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<_> = text.lines().collect();
        lines[lines.len().saturating_sub(30)..].join("\n")
    }

    fn receive(&mut self, what: &str, limit: Duration, done: impl Fn(&Self) -> bool) -> Result<()> {
        let start = Instant::now();
        let mut buffer = [0; 4096];
        while !done(self) {
            if let Ok(length) = self.notify.recv(&mut buffer) {
                self.note(&String::from_utf8_lossy(&buffer[..length]));
            } else if let Ok(Some(status)) = self.nspawn.try_wait() {
                return Err(Error::ContainerEnded {
                    status: status.to_string(),
                    console: self.console(),
                });
            }
            if start.elapsed() >= limit {
                return Err(Error::Timeout { what: what.to_owned(), after: start.elapsed() });
            }
        }
        Ok(())
    }

    fn note(&mut self, message: &str) {
        for line in message.lines() {
            match line.split_once('=') {
                Some(("X_NSPAWN_LEADER_PID", pid)) => {
                    self.leader = Pid::from_raw(pid.parse().unwrap_or(0));
                }
                Some(("READY", "1")) => self.ready = true,
                _ => {}
            }
        }
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        if matches!(self.nspawn.try_wait(), Ok(None)) {
            let _ = self.cut_power();
        }
    }
}

fn command(boot: &Boot<'_>) -> Result<Command> {
    let mut command = Command::new("unshare");
    command.args(["--mount", "--propagation", "private"]);
    command.arg(super::scripts().join("start-node.sh")).args([boot.rootfs, boot.disk]);
    command.args(cgroups::paths()?).arg("--");
    command.arg(format!("--network-namespace-path={}", boot.netns.display()));
    command.arg(format!("--hostname={}", boot.node.hostname));
    for (from, to) in &boot.node.binds {
        let from = from.canonicalize().map_err(Error::file("find", from))?;
        command.arg(format!("--bind-ro={}:{}", from.display(), to.display()));
    }
    for (path, size) in &boot.node.small {
        command.arg(format!("--tmpfs={}:mode=0755,size={size}", path.display()));
    }
    Ok(command)
}
