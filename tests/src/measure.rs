//! The cost of a program: CPU time and peak memory, as counted by the kernel; times of several runs.

use std::io;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use wait4::Wait4;

/// The cost of one process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cost {
    /// Wall-clock time.
    pub wall: Duration,
    /// CPU time in user and kernel mode.
    pub cpu: Duration,
    /// Peak resident memory in bytes.
    pub peak_memory: u64,
    /// The exit code; `None` when a signal ended it.
    pub exit_code: Option<i32>,
}

/// Runs a command to its end, in its directory, with its output thrown away.
///
/// Through GNU time, a small process: the kernel counts the parent's memory into a program's peak (`exec_mmap` keeps `maxrss`),
/// and a suite with many cases is larger than the measured program.
///
/// # Errors
/// When it cannot be started or waited for, or GNU time is missing.
pub fn run(command: &mut Command) -> io::Result<Cost> {
    let report = tempfile::NamedTempFile::new()?;
    let mut timed = Command::new("/usr/bin/time");
    timed.args(["--quiet", "--format=%M", "--output"]).arg(report.path());
    timed.arg(command.get_program()).args(command.get_args());
    if let Some(directory) = command.get_current_dir() {
        timed.current_dir(directory);
    }
    timed.stdout(Stdio::null()).stderr(Stdio::null());
    let start = Instant::now();
    let used = timed.spawn()?.wait4()?;
    let wall = start.elapsed();
    let kibibytes = std::fs::read_to_string(report.path())?.trim().parse::<u64>();
    Ok(Cost {
        wall,
        cpu: used.rusage.utime + used.rusage.stime,
        peak_memory: kibibytes.map_err(io::Error::other)? << 10,
        exit_code: used.status.code(),
    })
}

/// The shortest of several runs: disturbances only add time.
pub fn least(runs: &[Duration]) -> Duration {
    runs.iter().min().copied().unwrap_or_default()
}

/// Milliseconds, to print.
pub fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
