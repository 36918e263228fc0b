//! Parts of a suite that cannot run on this host.

use std::{
    env,
    fs::OpenOptions,
    io::{self, Write as _},
    panic::resume_unwind,
    path::Path,
    process::Command,
};

/// Payload of the unwinding that ends a case which cannot run; the harness takes the case for an ignored one.
#[derive(Debug)]
pub struct LeftOut(pub String);

fn is_set(name: &str, wanted: &str) -> bool {
    env::var_os(name).is_some_and(|value| value == wanted)
}

/// Returns whether everything has to run: `REQUIRE_LAB=1`, which `make check` sets unless `LAB=off`.
fn is_everything_required() -> bool {
    is_set("REQUIRE_LAB", "1")
}

/// Returns whether the lab is left out although it might run: `LAB=off`.
pub fn is_lab_off() -> bool {
    is_set("LAB", "off") && !is_everything_required()
}

/// Reports a part that is left out: on stderr, and as a line of the file `$NOT_TESTED`, the source of `make check`'s last line.
///
/// # Panics
/// When the file cannot be written.
fn tell(part: &str) {
    // Straight to the descriptor: the test harness captures what eprintln! prints.
    let _ = io::stderr().write_fmt(format_args!("NOT TESTED: {part}\n"));
    if let Some(file) = env::var_os("NOT_TESTED") {
        let line = format!("{part}\n");
        let file = OpenOptions::new().create(true).append(true).open(file);
        let written = file.and_then(|mut file| file.write_all(line.as_bytes()));
        assert!(written.is_ok(), "$NOT_TESTED: {written:?}");
    }
}

/// Ends a case here, before a part that needs the lab, root or a program of the host. The case counts as ignored.
///
/// # Panics
/// If `REQUIRE_LAB=1`.
pub fn part(reason: &str) -> ! {
    assert!(!is_everything_required(), "cannot run: {reason} (REQUIRE_LAB=1)");
    tell(reason);
    resume_unwind(Box::new(LeftOut(reason.to_owned())))
}

/// Ends a case that needs what only the environment can name. It counts as ignored, and is no part that the suite lacks.
pub fn extra(reason: &str) -> ! {
    resume_unwind(Box::new(LeftOut(reason.to_owned())))
}

/// Ends a case that needs root, as [`part`] does, where an ordinary user runs it.
pub fn unless_root(need: &str) {
    if !nix::unistd::geteuid().is_root() {
        part(&format!("{need} needs root"));
    }
}

/// Ends a case that needs a program, as [`part`] does, where the host lacks it. `package` is Debian's.
pub fn unless_installed(program: &str, package: &str) {
    let is_there = match Path::new(program).is_absolute() {
        true => Path::new(program).exists(),
        false => Command::new(program).arg("--version").output().is_ok(),
    };
    if !is_there {
        part(&format!("{program} is not installed (Debian: {package})"));
    }
}
