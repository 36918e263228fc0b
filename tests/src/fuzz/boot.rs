//! `nmgen boot`: the kernel command line, and behind it the files of the hosts directory; with a file in a directory of its own
//! they are a live root's tree of assisted-service.

use std::panic;

use nmgen::cli;

use super::parts;
use crate::keyfile;
use crate::machine::{EARLY, LIVE, Machine, RUNNING};

pub(super) fn run(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else { return };
    let (line, files) = parts::split(text);
    let is_live = files.iter().any(|(name, _)| name.contains('/'));
    let machine = if is_live { Machine::live() } else { Machine::new() };
    let machine = machine.card("ens3", "52:54:00:00:00:01").card("ens4", "52:54:00:00:00:02");
    let line = line.replace('\n', " ");
    // The last one counts, outside of the line's quotes: nothing is waited for.
    let quote = if line.matches('"').count() % 2 == 0 { "" } else { "\"" };
    machine.write("proc/cmdline", &format!("{line}{quote} nmgen.timeout=0\n"));
    let directory = if is_live { "etc/assisted/network" } else { "etc/nmgen" };
    for (name, text) in files {
        // A file that stands where another one needs a directory is left out.
        let _ = machine.try_write(&format!("{directory}/{name}"), text.as_bytes());
    }
    boot(&machine, if is_live { &["--live"] } else { &[] });
    if !is_live {
        boot(&machine, &["--persist"]);
    }
    for (directory, text) in
        [EARLY, LIVE, RUNNING].map(|directory| (directory, machine.files(directory)))
    {
        for (name, text) in text {
            assert!(name.ends_with(".nmconnection"), "{directory}/{name}");
            keyfile::parse(&text);
        }
    }
}

/// One step, in this process.
pub(super) fn boot(machine: &Machine, step: &[&str]) {
    // The program sets a hook for panics of its own.
    let hook = panic::take_hook();
    let root = machine.path("").display().to_string();
    let arguments = ["nmgen", "boot", "--root", &root].into_iter().chain(step.iter().copied());
    cli::main(arguments.map(Into::into));
    panic::set_hook(hook);
}
