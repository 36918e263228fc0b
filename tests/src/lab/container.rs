//! One boot of a node: systemd-nspawn and what runs in it.

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

/// What a boot needs to know.
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

/// What systemd-nspawn says by sd_notify(3), read for as long as this exists: its PID 1 and then the node's block once some
/// ten messages wait to be read.
#[derive(Debug)]
struct Notifications {
    socket: UnixDatagram,
    received: Receiver<Notification>,
}

/// What of it is of interest.
#[derive(Debug, Clone, Copy)]
enum Notification {
    /// The node's PID 1, as the host counts.
    Leader(Pid),
    /// Every job of the node's start-up was run.
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
        // The script kills the node when this end of its standard input is gone.
        command.env("NOTIFY_SOCKET", &socket).stdin(Stdio::piped()).stdout(log).stderr(errors);
        let nspawn = command
            .spawn()
            .map_err(|source| Error::Spawn { program: "systemd-nspawn".into(), source })?;
        let mut container =
            Self { nspawn, leader: Pid::from_raw(0), notifications, ready: false, console };
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
        while !done(self) {
            // A container that has ended says nothing.
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
            // Nobody may be waiting any more; the socket is emptied all the same.
            let _ = notification.map(|it| sender.send(it));
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
