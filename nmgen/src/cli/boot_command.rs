//! `nmgen boot`.

use super::arguments::BootArguments;
use super::done::Done;
use crate::boot::{self, Fault, Level, Log, Paths};
use crate::format::chain;

/// Messages go to the kernel log and to standard error, one line each.
pub(super) fn run(arguments: &BootArguments) -> Done {
    let paths = Paths::new(&arguments.root);
    Log::open(&paths).say_panics();
    let log = Log::open(&paths);
    let (done, outcome) = match arguments.persist {
        false => (boot::prepare(&paths, &log), "the boot goes on with the initramfs's own network"),
        true => (boot::persist(&paths, &log), "the running system may lack profiles"),
    };
    match done {
        Ok(()) => Done::Success,
        Err(fault) => {
            log.say(Level::Error, &format!("{}; {outcome}", chain(&fault)));
            verdict(&fault)
        }
    }
}

fn verdict(fault: &Fault) -> Done {
    if fault.is_input() { Done::InputWrong } else { Done::Failed }
}
