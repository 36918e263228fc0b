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
    let (done, outcome) = if let Some(done) = arguments.live.run(&paths, &log) {
        (done, "the system keeps the profiles that it has")
    } else if arguments.release {
        (boot::release(&paths, &log), "interfaces stay as the initramfs has them")
    } else if arguments.persist {
        (boot::persist(&paths, &log), "the running system may lack profiles")
    } else {
        (boot::prepare(&paths, &log), "the boot goes on with the initramfs's own network")
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
