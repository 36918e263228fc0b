//! The lab: a node with real systemd, NetworkManager and Open vSwitch in a container, and a peer that is its gateway.
//!
//! [`Lab::run`] takes a [`Node`], a [`Peer`] and what is to happen; [`Machines::run`] a [`VirtualMachine`]. See
//! `tests/README.md`.

mod case;
mod cgroups;
mod command;
mod container;
mod disk;
mod error;
mod gateway;
mod inside;
mod listener;
mod netns;
mod node;
mod peer;
mod place;
mod units;
mod vm;
mod watchdog;

use std::{
    env,
    io::Write,
    path::{Path, PathBuf},
    process::Command,
    sync::mpsc::Sender,
    time::Duration,
};

use nix::unistd::Uid;

pub use self::{
    case::Case,
    command::Output,
    error::{Error, Result},
    gateway::{Gateway, Lease},
    inside::{Entry, Inside, Unit},
    node::{Nic, Node},
    peer::{Fault, Peer},
    vm::{Machines, VirtualMachine, VmCase},
};
use self::{command::run, place::Place};

/// The containers' place: of cgroups with fixed names there can be one.
const PLACE: &str = "dayone-lab";
/// The lab may have to be built first.
const PREPARE: Duration = Duration::from_secs(1800);
/// How long a case may take; one that is over its time loses its node, and fails by that.
const CASE: Duration = Duration::from_secs(240);
/// The containers' lab, held by one test of one process at a time.
#[derive(Debug)]
pub struct Lab {
    rootfs: PathBuf,
    place: Place,
}

impl Lab {
    /// Waits for its turn and prepares the lab. `None`, with the reason on stderr, where it cannot run.
    ///
    /// # Errors
    /// [`Error::Unavailable`] where it cannot run although `REQUIRE_LAB=1` is set.
    pub fn open() -> Result<Option<Self>> {
        if_available(Self::try_open)
    }

    fn try_open() -> Result<Self> {
        let place = Place::wait(&[PLACE.to_owned()], true)?;
        let prepare = scripts().join("prepare");
        let rootfs = run(&mut Command::new(&prepare), PREPARE)
            .and_then(Output::success)
            .map_err(|e| Error::Unavailable(e.to_string()))?;
        place.sweep()?;
        Ok(Self { rootfs: rootfs.into(), place })
    }

    /// Sets up a node, switched off, and its peer.
    pub fn case(&self, node: Node, peer: &Peer) -> Result<Case<'_>> {
        self.place.begin()?;
        Case::new(self, node, peer)
    }

    /// Runs a case: `test` gets the node switched off. On failure the node's journal goes to stderr; afterwards nothing may be left.
    pub fn run<E: From<Error>>(
        &self,
        node: Node,
        peer: &Peer,
        test: impl FnOnce(&mut Case<'_>) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let case = self.case(node, peer)?;
        let watchdog = watchdog::start(CASE, cgroups::kill);
        run_case(&self.place, case, watchdog, test, Case::report)
    }

    /// Checks that nothing of a case is left.
    ///
    /// # Errors
    /// [`Error::Leftovers`] with what there is.
    pub fn check_clean(&self) -> Result<()> {
        self.place.check_clean()
    }

    pub(crate) fn rootfs(&self) -> &Path {
        &self.rootfs
    }

    pub(crate) fn place(&self) -> &Place {
        &self.place
    }
}

/// Runs `test` under its watchdog. On failure what `report` tells goes to stderr; afterwards nothing may be left.
fn run_case<C, E: From<Error>>(
    place: &Place,
    mut case: C,
    watchdog: Sender<()>,
    test: impl FnOnce(&mut C) -> std::result::Result<(), E>,
    report: impl FnOnce(&C) -> String,
) -> std::result::Result<(), E> {
    let result = test(&mut case);
    drop(watchdog);
    if result.is_err() {
        let _ = std::io::stderr().write_all(report(&case).as_bytes());
    }
    drop(case);
    result?;
    Ok(place.check_clean()?)
}

/// `None`, with the reason on stderr, where a lab cannot run; an error where it has to.
fn if_available<T>(open: impl FnOnce() -> Result<T>) -> Result<Option<T>> {
    let root = if Uid::effective().is_root() {
        Ok(())
    } else {
        Err(Error::Unavailable("it needs root".into()))
    };
    let reason = match root.and_then(|()| open()) {
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

/// The directory of the lab's scripts.
pub(crate) fn scripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("lab")
}
