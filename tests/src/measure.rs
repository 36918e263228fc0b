//! The cost of a program: CPU time and peak memory, as counted by the kernel; times of several runs.

use std::fmt;
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

/// The times of one way to do a work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Times {
    /// In the order of the runs.
    runs: Vec<Duration>,
}

/// Runs several ways to do one work by turns, and says what to compare: a load that comes and goes meets all of them.
///
/// # Errors
/// The first of a run.
pub fn by_turns<const WAYS: usize, E>(
    runs: usize,
    ways: [&mut dyn FnMut() -> Result<Duration, E>; WAYS],
) -> Result<[Times; WAYS], E> {
    let mut all = std::array::from_fn(|_| Times { runs: Vec::with_capacity(runs) });
    let mut ways = ways;
    for _ in 0..runs {
        for (way, times) in ways.iter_mut().zip(&mut all) {
            times.runs.push(way()?);
        }
    }
    Ok(all)
}

impl Times {
    /// The times of these runs.
    #[must_use]
    pub const fn of(runs: Vec<Duration>) -> Self {
        Self { runs }
    }

    /// The median.
    pub fn median(&self) -> Duration {
        Duration::from_secs_f64(quantile(self.runs.iter().map(Duration::as_secs_f64), 0.5))
    }

    /// Half of the runs lie in a range of this width around the median, as a share of it.
    pub fn spread(&self) -> f64 {
        let seconds = || self.runs.iter().map(Duration::as_secs_f64);
        (quantile(seconds(), 0.75) - quantile(seconds(), 0.25)) / self.median().as_secs_f64()
    }

    /// The median of the ratios, each of two runs of the same turn.
    pub fn over(&self, peer: &Self) -> f64 {
        let pairs = self.runs.iter().zip(&peer.runs);
        quantile(pairs.map(|(own, peer)| own.as_secs_f64() / peer.as_secs_f64()), 0.5)
    }

    /// The median of the differences in seconds, each of two runs of the same turn.
    pub fn more_than(&self, peer: &Self) -> f64 {
        let pairs = self.runs.iter().zip(&peer.runs);
        quantile(pairs.map(|(own, peer)| own.as_secs_f64() - peer.as_secs_f64()), 0.5)
    }
}

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (median, spread) = (millis(self.median()), self.spread() * 100.0);
        write!(f, "{median:>7.1} ms, half of the runs within {spread:.0} %")
    }
}

/// The spread of a peer above which the host is too busy: ratios of two such runs differ by more than a tenth (1.45 and 1.67,
/// with 25 %).
const NOISE: f64 = 0.2;

/// A sentence if the host is too noisy to believe its ratios; the peer's spread is no fault of the measured program.
pub fn noise(peer: &Times) -> Option<String> {
    let spread = peer.spread();
    (spread > NOISE).then(|| {
        format!("the host is too noisy: half of the peer's runs lie within {:.0} %", spread * 100.0)
    })
}

/// The value below which this share of the others lies, linear between the two nearest ones.
pub fn quantile(values: impl Iterator<Item = f64>, share: f64) -> f64 {
    let mut values: Vec<_> = values.collect();
    values.sort_by(f64::total_cmp);
    let place = share * values.len().saturating_sub(1) as f64;
    let at = |index: f64| values.get(index as usize).copied().unwrap_or_default();
    at(place.floor()) + (at(place.ceil()) - at(place.floor())) * place.fract()
}

/// Milliseconds, to print.
pub fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

#[cfg(test)]
mod tests {
    use std::{convert::Infallible, time::Duration};

    use super::{by_turns, noise};

    #[test]
    fn ratios_are_those_of_a_turn() -> Result<(), Infallible> {
        // A load of the first turns makes both twice as slow.
        let (mut own, mut peer) =
            ([30, 60, 30, 15, 15].into_iter(), [20, 40, 20, 10, 10].into_iter());
        let mut own = || Ok(Duration::from_millis(own.next().unwrap_or_default()));
        let mut peer = || Ok(Duration::from_millis(peer.next().unwrap_or_default()));
        let [own, peer] = by_turns::<2, Infallible>(5, [&mut own, &mut peer])?;
        assert_eq!(own.median(), Duration::from_millis(30));
        assert!((own.over(&peer) - 1.5).abs() < 1e-9, "{}", own.over(&peer));
        assert!((own.more_than(&peer) - 0.01).abs() < 1e-9, "{}", own.more_than(&peer));
        assert!((peer.spread() - 0.5).abs() < 1e-9, "{}", peer.spread());
        assert!(noise(&peer).is_some());
        Ok(())
    }
}
