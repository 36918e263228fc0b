//! Time without an answer, seen by its peer, or by a pod.

use std::{
    io::{self, BufRead, BufReader},
    process::{Child, ChildStdout, Command, Stdio},
    sync::mpsc::{self, Receiver},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use crate::lab::Error;

/// Seconds between two echo requests; the least outage that can be told.
const INTERVAL: &str = "0.005";
/// The bound of the first answer, and of the first one after the work.
const ANSWER: Duration = Duration::from_secs(30);

/// For each of these pings, to which an interval is added: the longest time between two answers, from before `work` to the first
/// answer after it.
///
/// # Errors
/// Those of `work`, and of ping.
///
/// # Panics
/// When one has no answer before, or none within 30 s after it.
pub fn outages<const PINGS: usize>(
    pings: [Command; PINGS],
    work: impl FnOnce() -> Result<(), Error>,
) -> Result<[Duration; PINGS], Error> {
    let started: Result<Vec<Ping>, Error> = pings.into_iter().map(Ping::start).collect();
    let mut pings = started?;
    pings.iter_mut().for_each(Ping::wait);
    let worked = work();
    let end = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut longest = [Duration::ZERO; PINGS];
    for (ping, longest) in pings.iter_mut().zip(&mut longest) {
        while worked.is_ok() && ping.seen.last().is_some_and(|last| *last <= end) {
            ping.wait();
        }
        ping.process.kill().and_then(|()| ping.process.wait()).map_err(failed)?;
        let silences = ping.seen.windows(2).map(|pair| pair[1].saturating_sub(pair[0]));
        *longest = silences.max().unwrap_or_default();
    }
    worked?;
    Ok(longest)
}

/// Echo requests that are under way.
struct Ping {
    process: Child,
    answers: Receiver<Duration>,
    seen: Vec<Duration>,
}

impl Ping {
    fn start(mut command: Command) -> Result<Self, Error> {
        command.args(["-n", "-D", "-i", INTERVAL]).stdout(Stdio::piped());
        let mut process = command.spawn().map_err(failed)?;
        let answers = answers(process.stdout.take());
        Ok(Self { process, answers, seen: Vec::new() })
    }

    /// Waits for the next answer.
    fn wait(&mut self) {
        let answer = self.answers.recv_timeout(ANSWER).expect("an answer to an echo request");
        self.seen.push(answer);
    }
}

fn failed(source: io::Error) -> Error {
    Error::file("run", std::path::Path::new("ping"))(source)
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
