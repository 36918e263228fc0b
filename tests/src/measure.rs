//! What a program cost: CPU time and peak memory as the kernel counted them.

use std::io;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use wait4::Wait4;

/// The cost of one process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cost {
    /// From start to end.
    pub wall: Duration,
    /// In user and kernel mode.
    pub cpu: Duration,
    /// Peak resident memory in bytes.
    pub peak_memory: u64,
    /// The exit code; `None` when a signal ended it.
    pub exit_code: Option<i32>,
}

/// Runs a command to its end with its output thrown away.
///
/// # Errors
/// When it cannot be started or waited for.
pub fn run(command: &mut Command) -> io::Result<Cost> {
    let start = Instant::now();
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let used = child.wait4()?;
    Ok(Cost {
        wall: start.elapsed(),
        cpu: used.rusage.utime + used.rusage.stime,
        peak_memory: used.rusage.maxrss,
        exit_code: used.status.code(),
    })
}
