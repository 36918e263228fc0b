//! Time without an answer from a node, seen by its peer.

use std::{
    io::{self, BufRead, BufReader},
    net::IpAddr,
    process::{ChildStdout, Stdio},
    sync::mpsc::{self, Receiver},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use crate::lab::{Error, Gateway};

/// Seconds between two echo requests; the least outage that can be told.
const INTERVAL: &str = "0.005";
/// The bound of the first answer, and of the first one after the work.
const ANSWER: Duration = Duration::from_secs(30);

/// The longest time between two answers of `address` to echo requests, from before `work` to the first answer after it.
///
/// # Errors
/// Those of `work`, and of ping, which runs in the peer's namespace.
///
/// # Panics
/// When the address answers neither before nor within 30 s after it.
pub fn outage(
    peer: &Gateway,
    address: IpAddr,
    work: impl FnOnce() -> Result<(), Error>,
) -> Result<Duration, Error> {
    let failed = |source: io::Error| Error::file("run", std::path::Path::new("ping"))(source);
    let mut ping = peer.command("ping");
    ping.args(["-n", "-D", "-i", INTERVAL, &address.to_string()]);
    let mut ping = ping.stdout(Stdio::piped()).spawn().map_err(failed)?;
    let answers = answers(ping.stdout.take());
    let next = || answers.recv_timeout(ANSWER).expect("an answer to an echo request");
    let mut seen = vec![next()];
    let worked = work();
    let end = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    while worked.is_ok() && seen.last().is_some_and(|last| *last <= end) {
        seen.push(next());
    }
    ping.kill().and_then(|()| ping.wait()).map_err(failed)?;
    worked?;
    Ok(seen.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).max().unwrap_or_default())
}

/// Times of ping's answers since 1970: lines of the form `[1700000000.123456] 64 bytes from …`, ping(8).
fn answers(output: Option<ChildStdout>) -> Receiver<Duration> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        for line in output.into_iter().flat_map(|stdout| BufReader::new(stdout).lines()) {
            let Ok(line) = line else { break };
            let stamp = line.strip_prefix('[').and_then(|rest| rest.split_once("] "));
            if let Some((stamp, rest)) = stamp
                && rest.contains(" bytes from ")
                && let Ok(seconds) = stamp.parse()
                && sender.send(Duration::from_secs_f64(seconds)).is_err()
            {
                break;
            }
        }
    });
    receiver
}
