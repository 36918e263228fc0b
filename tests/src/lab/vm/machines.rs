//! The virtual machines' lab.

use std::{
    process::Command,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use super::{VirtualMachine, VmCase, emulator::Emulator};
use crate::{
    lab::{
        PREPARE,
        command::{Output, run},
        error::{Error, Result},
        netns,
        peer::Peer,
        place::{Kind, Place, remove},
        run_case, scripts, unless_off, watchdog,
    },
    tree::Built,
};

/// How long a case may take; one that is over its time loses its machine, and fails by that.
const CASE: Duration = Duration::from_secs(2400);

/// Left out if `LAB=off`.
const MACHINES: &str = "cases in virtual machines (LAB=off)";

/// What this process has prepared.
static PREPARED: Mutex<Option<Emulator>> = Mutex::new(None);

/// Room for one machine, held by one test of one process at a time. There is room for as many as the host has cores: each
/// keeps one busy.
#[derive(Debug)]
pub struct Machines {
    emulator: Emulator,
    place: Place,
}

impl Machines {
    /// Waits for room, and prepares the image with what `make install` installs. `None`, with a line on
    /// stderr, if `LAB=off`.
    ///
    /// # Errors
    /// [`Error::Unavailable`] where none can run.
    pub fn open() -> Result<Option<Self>> {
        unless_off(MACHINES, Self::try_open)
    }

    fn try_open() -> Result<Self> {
        let place = Place::wait(Kind::Machine)?;
        place.begin()?;
        let mut prepared = PREPARED.lock().unwrap_or_else(PoisonError::into_inner);
        let emulator = match &*prepared {
            Some(emulator) => emulator.clone(),
            None => prepared.insert(prepare(&place)?).clone(),
        };
        drop(prepared);
        place.sweep()?;
        Ok(Self { emulator, place })
    }

    /// Runs a case: `test` gets the machine switched off. On failure its journal and console go to stderr; afterwards
    /// nothing may be left.
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

fn prepare(place: &Place) -> Result<Emulator> {
    let installed = place.state().join("installed");
    let built = Built::programs().and_then(|built| built.install(&installed));
    built.map_err(Error::file("install into", &installed))?;
    let mut prepare = Command::new(scripts().join("prepare-machines"));
    let paths = run(prepare.arg(&installed), PREPARE)
        .and_then(Output::success)
        .map_err(|e| Error::Unavailable(e.to_string()))?;
    remove(&installed)?;
    let (tree, image) = paths.split_once('\n').unwrap_or_default();
    Ok(Emulator { tree: tree.into(), image: image.into() })
}
