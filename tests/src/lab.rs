//! The lab: a node with real systemd, NetworkManager and Open vSwitch in a container, and a peer that is its gateway.
//!
//! [`Node::run`] takes a [`Peer`] and the steps of the case; [`Machines::run`] takes a [`VirtualMachine`] as well. See
//! `tests/README.md`.

mod case;
mod cgroups;
mod command;
mod computer;
mod container;
mod disk;
mod error;
mod field;
mod fleet;
mod frames;
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
    io::Write,
    path::{Path, PathBuf},
    process::Command,
    sync::{Mutex, PoisonError, mpsc::Sender},
    time::Duration,
};

pub(crate) use self::command::{run, wait_every};
use self::place::{Kind, Place};
pub use self::{
    case::Case,
    command::Output,
    error::{Error, Result},
    field::{Field, MTU_TARGET, Release, Topology, mtu_target},
    fleet::Fleet,
    frames::FrameSender,
    gateway::{Gateway, Lease},
    inside::{Entry, Inside, Unit},
    node::{Nic, Node},
    peer::{Fault, Peer},
    vm::{Authenticator, Lldp, Machines, VirtualMachine, VmCase, WithoutKvm, kvm},
};
use crate::skip;

/// Name of this part where `LAB=off` leaves it out.
const CONTAINERS: &str = "cases in containers";
/// Bound on a query of the host.
const CAN_RUN: Duration = Duration::from_secs(10);
/// Bound on the preparation; the lab may have to be built first.
const PREPARE: Duration = Duration::from_secs(1800);
/// Bound on a case; past it the node is killed, and the case fails.
const CASE: Duration = Duration::from_secs(600);
/// The root file system prepared by this process.
static PREPARED: Mutex<Option<PathBuf>> = Mutex::new(None);

/// A place for one container, held by one case of one process at a time. There are three places a core.
#[derive(Debug)]
pub struct Lab {
    rootfs: PathBuf,
    place: Place,
}

impl Lab {
    /// Waits for a place and prepares the root file system. Under `LAB=off` the case ends here, as one that did not run.
    ///
    /// # Errors
    /// [`Error::Unavailable`] where it cannot run.
    pub fn open() -> Result<Self> {
        require(CONTAINERS)?;
        Self::at(Place::wait(Kind::Container)?)
    }

    /// [`Self::open`] at the place of this name.
    ///
    /// # Errors
    /// [`Error::Unavailable`] where it cannot run.
    pub fn open_named(name: &str) -> Result<Self> {
        require(CONTAINERS)?;
        Self::at(Place::wait_named(Kind::Container, name)?)
    }

    fn at(place: Place) -> Result<Self> {
        let mut prepared = PREPARED.lock().unwrap_or_else(PoisonError::into_inner);
        let rootfs = match &*prepared {
            Some(rootfs) => rootfs.clone(),
            None => prepared.insert(prepare(&[])?).clone(),
        };
        drop(prepared);
        place.sweep()?;
        Ok(Self { rootfs, place })
    }

    /// The name of the place, for [`Self::open_named`].
    pub fn name(&self) -> &str {
        self.place.name()
    }

    /// Sets up a node, switched off, and its peer.
    pub fn case(&self, node: Node, peer: &Peer) -> Result<Case<'_>> {
        self.place.begin()?;
        Case::new(self, node, peer)
    }

    /// Runs a case: `test` gets the node switched off. On failure the node's journal goes to stderr. Leftovers of the case are an
    /// error.
    pub fn run<E: From<Error>>(
        &self,
        node: Node,
        peer: &Peer,
        test: impl FnOnce(&mut Case<'_>) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        self.run_within(CASE, node, peer, test)
    }

    /// Runs a case as [`Self::run`] does, with another bound.
    pub fn run_within<E: From<Error>>(
        &self,
        limit: Duration,
        node: Node,
        peer: &Peer,
        test: impl FnOnce(&mut Case<'_>) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let case = self.case(node, peer)?;
        let name = self.place.name().to_owned();
        let watchdog = watchdog::start(limit, move || cgroups::kill(&name));
        run_case(&self.place, case, watchdog, test, Case::report)
    }

    /// Runs a case with up to five nodes at one peer, which are switched off at first. As [`Self::run`] does in all else.
    ///
    /// # Errors
    /// Those of `test`, and leftovers of a node.
    pub fn run_fleet<E: From<Error>>(
        &self,
        nodes: Vec<Node>,
        peer: &Peer,
        test: impl FnOnce(&mut Fleet<'_>) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        self.place.begin()?;
        let mut places = self.place.members();
        places.truncate(nodes.len());
        places.iter().try_for_each(Place::begin)?;
        let names: Vec<String> = places.iter().map(|place| place.name().to_owned()).collect();
        let watchdog =
            watchdog::start(CASE, move || names.iter().try_for_each(|name| cgroups::kill(name)));
        let fleet = Fleet::new(self, &places, nodes, peer)?;
        run_case(&self.place, fleet, watchdog, test, Fleet::report)?;
        Ok(places.iter().try_for_each(Place::check_clean)?)
    }

    /// Checks that nothing of a case is left at this place.
    ///
    /// # Errors
    /// [`Error::Leftovers`] with a list of them.
    pub fn check_clean(&self) -> Result<()> {
        self.place.check_clean()
    }

    /// The root file system that a node's disk lies over.
    #[must_use]
    pub fn root_file_system(&self) -> &Path {
        &self.rootfs
    }

    /// The root file system for a node; those with systemd 252, podman and OVN are built on first use.
    pub(crate) fn rootfs(&self, node: &Node) -> Result<PathBuf> {
        match node.flavour {
            Some(flavour) => prepare(&[flavour]),
            None => Ok(self.rootfs.clone()),
        }
    }

    pub(crate) fn place(&self) -> &Place {
        &self.place
    }
}

impl Node {
    /// Runs a case of this node alone, as [`Lab::run`] does, in a lab that is open for it.
    ///
    /// # Errors
    /// Those of `test` and of [`Lab::open`], and leftovers of the case.
    pub fn run<E: From<Error>>(
        self,
        peer: &Peer,
        test: impl FnOnce(&mut Case<'_>) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        Lab::open()?.run(self, peer, test)
    }
}

/// The root file system, built if it is not cached.
fn prepare(arguments: &[&str]) -> Result<PathBuf> {
    let mut command = Command::new(scripts().join("prepare"));
    run(command.args(arguments), PREPARE)
        .and_then(Output::success)
        .map(Into::into)
        .map_err(|e| Error::Unavailable(e.to_string()))
}

/// Runs `test` under its watchdog. On failure the text of `report` goes to stderr; leftovers are an error.
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

/// Ends the case under `LAB=off`, and where the lab cannot run, as a part of the suite named `cases`.
fn require(cases: &str) -> Result<()> {
    if skip::is_lab_off() {
        skip::part(&format!("{cases} (LAB=off)"));
    }
    let can_run = run(&mut Command::new(scripts().join("can-run")), CAN_RUN)?;
    if !can_run.status.success() {
        skip::part(&format!("{cases}: the lab cannot run: {}", can_run.stdout.trim()));
    }
    Ok(())
}

/// The directory of the lab's scripts.
pub(crate) fn scripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("lab")
}
