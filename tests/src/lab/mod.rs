//! The lab: a node with real systemd, NetworkManager and Open vSwitch in a container, and a peer that is its gateway.
//!
//! [`Lab::run`] takes a [`Node`], a [`Peer`] and what is to happen; see `tests/README.md`.

mod case;
mod cgroups;
mod command;
mod container;
mod disk;
mod error;
mod gateway;
mod inside;
mod leftovers;
mod listener;
mod netns;
mod node;
mod peer;
mod units;
mod watchdog;

use std::{
    env,
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use nix::{
    fcntl::{Flock, FlockArg},
    unistd::Uid,
};

use self::command::{run, wait_for};
pub use self::{
    case::Case,
    command::Output,
    error::{Error, Result},
    gateway::{Gateway, Lease},
    inside::{Entry, Inside, Unit},
    node::{Nic, Node},
    peer::{Fault, Peer},
};

/// Where the state of a case is: a tmpfs on every Linux, which overlayfs takes as its upper layer.
const STATE: &str = "/dev/shm/dayone-lab";
const LOCK: &str = "/dev/shm/dayone-lab.lock";
/// The lab may have to be built first.
const PREPARE: Duration = Duration::from_secs(1800);
/// How long a case may take; one that is over its time loses its node, and fails by that.
const CASE: Duration = Duration::from_secs(240);
/// How long the cases before this one may take.
const TURN: Duration = Duration::from_secs(1200);

/// The lab, held by one test of one process at a time.
#[derive(Debug)]
pub struct Lab {
    rootfs: PathBuf,
    state: PathBuf,
    _lock: Flock<File>,
}

impl Lab {
    /// Waits for its turn and prepares the lab. `None`, with the reason on stderr, where it cannot run.
    ///
    /// # Errors
    /// [`Error::Unavailable`] where it cannot run although `REQUIRE_LAB=1` is set.
    pub fn open() -> Result<Option<Self>> {
        let reason = match Self::try_open() {
            Ok(lab) => return Ok(Some(lab)),
            Err(Error::Unavailable(reason)) => reason,
            Err(e) => return Err(e),
        };
        if env::var_os("REQUIRE_LAB").is_some_and(|value| value == "1") {
            return Err(Error::Unavailable(reason));
        }
        // Directly, since a test's own output is hidden when it passes.
        let _ = writeln!(std::io::stderr(), "NOT RUN: the lab is not available: {reason}");
        Ok(None)
    }

    fn try_open() -> Result<Self> {
        if !Uid::effective().is_root() {
            return Err(Error::Unavailable("it needs root".into()));
        }
        let lock = lock()?;
        let prepare = scripts().join("prepare");
        let rootfs = run(&mut Command::new(&prepare), PREPARE)
            .and_then(Output::success)
            .map_err(|e| Error::Unavailable(e.to_string()))?;
        let lab = Self { rootfs: rootfs.into(), state: STATE.into(), _lock: lock };
        lab.sweep()?;
        Ok(lab)
    }

    /// Sets up a node, switched off, and its peer.
    pub fn case(&self, node: Node, peer: &Peer) -> Result<Case<'_>> {
        self.sweep()?;
        fs::create_dir_all(&self.state).map_err(Error::file("create", &self.state))?;
        Case::new(self, node, peer)
    }

    /// Runs a case: `test` gets the node switched off. On failure the node's journal goes to stderr; afterwards nothing may be left.
    pub fn run<E: From<Error>>(
        &self,
        node: Node,
        peer: &Peer,
        test: impl FnOnce(&mut Case<'_>) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let mut case = self.case(node, peer)?;
        let watchdog = watchdog::start(CASE);
        let result = test(&mut case);
        drop(watchdog);
        if result.is_err() {
            let _ = std::io::stderr().write_all(case.report().as_bytes());
        }
        drop(case);
        result?;
        Ok(self.check_clean()?)
    }

    pub(crate) fn rootfs(&self) -> &Path {
        &self.rootfs
    }

    pub(crate) fn state(&self) -> &Path {
        &self.state
    }
}

/// The directory of the lab's scripts.
pub(crate) fn scripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("lab")
}

fn lock() -> Result<Flock<File>> {
    let open = || File::options().create(true).truncate(false).write(true).open(LOCK);
    let mut file = Some(open().map_err(Error::file("open", LOCK))?);
    let turn = wait_for("the lab", TURN, || {
        let Some(unlocked) = file.take() else { return Ok(None) };
        match Flock::lock(unlocked, FlockArg::LockExclusiveNonblock) {
            Ok(lock) => Ok(Some(lock)),
            Err((unlocked, nix::errno::Errno::EWOULDBLOCK)) => {
                file = Some(unlocked);
                Ok(None)
            }
            Err((_, e)) => Err(Error::file("lock", LOCK)(e.into())),
        }
    });
    if let Err(Error::Timeout { after, .. }) = turn { Err(Error::Busy(after)) } else { turn }
}
