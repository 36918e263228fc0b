//! The virtual machines' lab.

use std::{
    fs,
    path::Path,
    process::Command,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use super::{
    VirtualMachine, VmCase,
    emulator::{Emulator, Policy, Programs},
};
use crate::{
    lab::{
        PREPARE,
        command::{Output, run},
        error::{Error, Result},
        netns,
        peer::Peer,
        place::{Kind, Place, remove},
        require, run_case, scripts, watchdog,
    },
    program,
    tree::Built,
};

/// Bound on a case; past it the machine is killed, and the case fails.
const CASE: Duration = Duration::from_secs(2400);

/// The name of this part if `LAB=off` skips it.
const MACHINES: &str = "cases in virtual machines";

/// The emulator and image prepared by this process.
static PREPARED: Mutex<Option<Emulator>> = Mutex::new(None);

/// A place for one machine, held by one test of one process at a time. There is one place a core, since a machine keeps one
/// busy.
#[derive(Debug)]
pub struct Machines {
    emulator: Emulator,
    place: Place,
}

impl Machines {
    /// Waits for a place, and prepares the image with the files of `make install`. Under `LAB=off` the case
    /// ends here, as one that did not run.
    ///
    /// # Errors
    /// [`Error::Unavailable`] where none can run.
    pub fn open() -> Result<Self> {
        Self::with(Policy::None, Programs::Developers)
    }

    /// Takes the image in which SELinux's policy is enforced; see [`Machines::open`].
    ///
    /// # Errors
    /// [`Error::Unavailable`] where none can run.
    pub fn enforcing() -> Result<Self> {
        Self::with(Policy::Enforced, Programs::Developers)
    }

    /// Takes the image in which the programs are as nodes have them, small and optimised, and nmstate's service is beside them:
    /// for benchmarks. The cache keeps one image of each policy, so the next suite builds its own again. See [`Machines::open`].
    ///
    /// # Errors
    /// [`Error::Unavailable`] where none can run.
    pub fn of_nodes() -> Result<Self> {
        Self::with(Policy::None, Programs::Nodes)
    }

    fn with(policy: Policy, programs: Programs) -> Result<Self> {
        require(MACHINES)?;
        let place = Place::wait(Kind::Machine)?;
        place.begin()?;
        let mut prepared = PREPARED.lock().unwrap_or_else(PoisonError::into_inner);
        let emulator = match &*prepared {
            Some(emulator) if (emulator.policy, emulator.programs) == (policy, programs) => {
                emulator.clone()
            }
            _ => prepared.insert(prepare(&place, policy, programs)?).clone(),
        };
        drop(prepared);
        place.sweep()?;
        Ok(Self { emulator, place })
    }

    /// Runs a case: `test` gets the machine switched off. On failure its journal and console go to stderr; leftovers are an
    /// error.
    pub fn run<E: From<Error>>(
        &self,
        machine: &VirtualMachine,
        peer: &Peer,
        test: impl FnOnce(&mut VmCase<'_>) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        self.place.begin()?;
        let case = VmCase::new(&self.place, self.emulator.clone(), machine, peer)?;
        let namespace = self.place.peer();
        let watchdog = watchdog::start(CASE, move || netns::end_processes(&namespace));
        run_case(&self.place, case, watchdog, test, VmCase::report)
    }
}

fn prepare(place: &Place, policy: Policy, programs: Programs) -> Result<Emulator> {
    let installed = place.state().join("installed");
    let built = match programs {
        Programs::Developers => Built::programs(),
        Programs::Nodes => Built::of_nodes(),
    };
    let built = built.and_then(|built| built.install(&installed));
    built.map_err(Error::file("install into", &installed))?;
    if programs == Programs::Nodes {
        install(&program::nmstatectl_of_node(), &installed.join("usr/bin/nmstatectl"))?;
    }
    let mut prepare = Command::new(scripts().join("prepare-machines"));
    prepare.arg(&installed).args((policy == Policy::Enforced).then_some("selinux"));
    let paths = run(&mut prepare, PREPARE)
        .and_then(Output::success)
        .map_err(|e| Error::Unavailable(e.to_string()))?;
    remove(&installed)?;
    let (tree, image) = paths.split_once('\n').unwrap_or_default();
    Ok(Emulator { tree: tree.into(), image: image.into(), policy, programs })
}

fn install(from: &Path, to: &Path) -> Result<()> {
    fs::copy(from, to).map_err(Error::file("copy", from))?;
    Ok(())
}
