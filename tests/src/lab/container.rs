//! One boot of a node: systemd-nspawn and its container.

use std::{
    fs::{self, File},
    net::Shutdown,
    os::unix::net::UnixDatagram,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::mpsc::{self, Receiver, Sender},
    thread,
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
    place::Place,
};

/// Parameters of a boot.
pub(crate) struct Boot<'a> {
    pub(crate) node: &'a Node,
    pub(crate) rootfs: &'a Path,
    pub(crate) disk: &'a Path,
    pub(crate) place: &'a Place,
    pub(crate) netns: &'a Path,
}

/// A running container; killed on drop.
#[derive(Debug)]
pub(crate) struct Container {
    nspawn: Child,
    leader: Pid,
    notifications: Notifications,
    ready: bool,
    console: PathBuf,
}

/// systemd-nspawn's messages by sd_notify(3). They are read for as long as this exists: with some ten unread messages nspawn and
/// the node's PID 1 block.
#[derive(Debug)]
struct Notifications {
    socket: UnixDatagram,
    received: Receiver<Notification>,
}

/// The messages in use.
#[derive(Debug, Clone, Copy)]
enum Notification {
    /// The host's process id of the node's PID 1.
    Leader(Pid),
    /// Every job of the node's start-up has run.
    Ready,
}

impl Container {
    /// Starts the container and returns when its PID 1 exists.
    pub(crate) fn start(boot: &Boot<'_>) -> Result<Self> {
        let state = boot.place.state();
        let socket = state.join("notify");
        let notifications = Notifications::bind(&socket)?;
        let console = state.join("console");
        let log = File::options()
            .create(true)
            .append(true)
            .open(&console)
            .map_err(Error::file("open", &console))?;
        let errors = log.try_clone().map_err(Error::file("duplicate", &console))?;
        let mut command = command(boot)?;
        // The script kills the node when this end of its standard input closes.
        command.env("NOTIFY_SOCKET", &socket).stdin(Stdio::piped()).stdout(log).stderr(errors);
        let nspawn = command
            .spawn()
            .map_err(|source| Error::Spawn { program: "systemd-nspawn".into(), source })?;
        let mut container =
            Self { nspawn, leader: Pid::from_raw(0), notifications, ready: false, console };
        container.receive("the container's PID 1", Duration::from_secs(15), |container| {
            container.leader.as_raw() != 0
        })?;
        Ok(container)
    }

    /// The host's process id of the node's PID 1.
    pub(crate) fn leader(&self) -> Pid {
        self.leader
    }

    /// Waits until systemd in the node has no more jobs of its start-up.
    pub(crate) fn wait_ready(&mut self, limit: Duration) -> Result<()> {
        self.receive("the end of the node's start-up", limit, |container| container.ready)
    }

    /// Waits for the container to end by itself. True if the node asked for a reboot, which nspawn leaves to its caller with
    /// `--keep-unit`.
    pub(crate) fn wait_end(&mut self, limit: Duration) -> Result<bool> {
        const REBOOT: i32 = 133;
        let nspawn = &mut self.nspawn;
        let status = wait_for("the container to end", limit, || {
            nspawn.try_wait().map_err(|source| Error::Spawn { program: "wait".into(), source })
        })?;
        Ok(status.code() == Some(REBOOT))
    }

    /// Ends it like a power cut: nothing inside is notified.
    pub(crate) fn cut_power(&mut self) -> Result<()> {
        if self.leader.as_raw() != 0 {
            // The kernel kills everything in the PID namespace with its PID 1.
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
        self.wait_end(Duration::from_secs(5)).map(drop)
    }

    /// The end of the console's output.
    pub(crate) fn console(&self) -> String {
        let text = fs::read(&self.console).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<_> = text.lines().collect();
        lines[lines.len().saturating_sub(30)..].join("\n")
    }

    fn receive(&mut self, what: &str, limit: Duration, done: impl Fn(&Self) -> bool) -> Result<()> {
        let start = Instant::now();
        while !done(self) {
            // A container that has ended sends no more messages.
            match self.notifications.received.recv_timeout(Duration::from_millis(100)) {
                Ok(Notification::Leader(pid)) => self.leader = pid,
                Ok(Notification::Ready) => self.ready = true,
                Err(_) => {
                    if let Ok(Some(status)) = self.nspawn.try_wait() {
                        let status = status.to_string();
                        return Err(Error::ContainerEnded { status, console: self.console() });
                    }
                }
            }
            if start.elapsed() >= limit {
                return Err(Error::Timeout { what: what.to_owned(), after: start.elapsed() });
            }
        }
        Ok(())
    }
}

impl Notifications {
    fn bind(path: &Path) -> Result<Self> {
        let _ = fs::remove_file(path);
        let socket = UnixDatagram::bind(path).map_err(Error::file("bind", path))?;
        let reader = socket.try_clone().map_err(Error::file("duplicate", path))?;
        let (sender, received) = mpsc::channel();
        thread::spawn(move || read_all(&reader, &sender));
        Ok(Self { socket, received })
    }
}

impl Drop for Notifications {
    fn drop(&mut self) {
        // Ends the reader.
        let _ = self.socket.shutdown(Shutdown::Both);
    }
}

/// Reads until the socket is shut down, which reads as an empty message.
fn read_all(socket: &UnixDatagram, sender: &Sender<Notification>) {
    let mut buffer = [0; 4096];
    while let Ok(length @ 1..) = socket.recv(&mut buffer) {
        for line in String::from_utf8_lossy(&buffer[..length]).lines() {
            let notification = match line.split_once('=') {
                Some(("X_NSPAWN_LEADER_PID", pid)) => {
                    pid.parse().ok().map(|pid| Notification::Leader(Pid::from_raw(pid)))
                }
                Some(("READY", "1")) => Some(Notification::Ready),
                _ => None,
            };
            // The socket is emptied even if nobody waits any more.
            let _ = notification.map(|notification| sender.send(notification));
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
    command.args(cgroups::paths(boot.place.name())?).arg("--");
    command.arg(format!("--machine={}", boot.place.name()));
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
