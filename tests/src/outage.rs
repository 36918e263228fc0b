//! Echo requests without an answer, of a peer or of a pod, while something changes.

use std::{
    io::{self, BufRead, BufReader},
    net::Ipv4Addr,
    process::{Child, ChildStdout, Command, Stdio},
    sync::mpsc::{self, Receiver},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use crate::lab::Error;

/// The program of the echo requests. ping sends one in 10 ms only while it has no answer.
pub const FPING: &str = "/usr/bin/fping";
/// The bound of the first answer, and of the first one after the work.
const ANSWER: Duration = Duration::from_secs(30);

/// What a thousand echo requests a second notice of some work.
#[derive(Debug, Clone, Copy, Default)]
pub struct Outage {
    /// Requests without an answer, from before the work to the first answer after it.
    pub lost: usize,
    /// The longest time between two answers.
    pub longest: Duration,
}

/// Sends echo requests beside `work`, each by a command that runs its arguments where the requests begin, to an address.
///
/// # Errors
/// Those of `work`, and of fping.
///
/// # Panics
/// When one has no answer before, or none within 30 s after it.
pub fn outages<const PINGS: usize>(
    pings: [(Command, Ipv4Addr); PINGS],
    work: impl FnOnce() -> Result<(), Error>,
) -> Result<[Outage; PINGS], Error> {
    let started: Result<Vec<Ping>, Error> = pings.into_iter().map(Ping::start).collect();
    let mut pings = started?;
    pings.iter_mut().for_each(Ping::wait);
    let worked = work();
    let end = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut outages = [Outage::default(); PINGS];
    for (ping, outage) in pings.iter_mut().zip(&mut outages) {
        while worked.is_ok() && ping.seen.last().is_some_and(|last| last.at <= end) {
            ping.wait();
        }
        ping.process.kill().and_then(|()| ping.process.wait()).map_err(failed)?;
        *outage = outage_of(&ping.seen);
    }
    worked?;
    Ok(outages)
}

/// An answer to an echo request.
#[derive(Clone, Copy)]
struct Answer {
    /// Its time since 1970.
    at: Duration,
    /// The number of the request. Answers may overtake each other.
    number: usize,
}

fn outage_of(answers: &[Answer]) -> Outage {
    let numbers = || answers.iter().map(|answer| answer.number);
    let sent = numbers().max().zip(numbers().min()).map_or(0, |(last, first)| last + 1 - first);
    let pairs = answers.windows(2).map(|pair| pair[1].at.saturating_sub(pair[0].at));
    Outage { lost: sent - answers.len(), longest: pairs.max().unwrap_or_default() }
}

/// Echo requests that are under way.
struct Ping {
    process: Child,
    answers: Receiver<Answer>,
    seen: Vec<Answer>,
}

impl Ping {
    fn start((mut command, address): (Command, Ipv4Addr)) -> Result<Self, Error> {
        // One each millisecond; one without an answer within 2 s is lost.
        let options = ["-D", "--loop", "--period=1", "--interval=0", "--timeout=2000"];
        command.arg(FPING).args(options).arg(address.to_string()).stdout(Stdio::piped());
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
    Error::file("run", std::path::Path::new(FPING))(source)
}

/// Reads fping's answers: lines of the form `[1700000000.12345] 192.0.2.1 : [0], 64 bytes, 0.05 ms …`, fping(8).
fn answers(output: Option<ChildStdout>) -> Receiver<Answer> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        for line in output.into_iter().flat_map(|stdout| BufReader::new(stdout).lines()) {
            let Ok(line) = line else { break };
            if let Some(answer) = answer(&line)
                && sender.send(answer).is_err()
            {
                break;
            }
        }
    });
    receiver
}

fn answer(line: &str) -> Option<Answer> {
    let (stamp, rest) = line.strip_prefix('[')?.split_once("] ")?;
    let (number, size) = rest.split_once(" : [")?.1.split_once("], ")?;
    let at = Duration::from_secs_f64(stamp.parse().ok()?);
    size.contains(" bytes, ").then_some(Answer { at, number: number.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_without_an_answer_are_lost() {
        let line = |ms: u32, number: u32, answer: &str| {
            format!("[1700000000.{ms:03}] 192.0.2.1 : [{number}], {answer} (0.05 avg, 0% loss)")
        };
        let answers = [(0, 7), (1, 8), (2, 10), (3, 9), (10, 16), (11, 17)];
        let seen = answers.map(|(ms, number)| answer(&line(ms, number, "64 bytes, 0.05 ms")));
        let outage = outage_of(&seen.map(|answer| answer.expect("an answer")));
        assert_eq!(outage.lost, 5);
        assert_eq!(outage.longest.as_secs_f64().mul_add(1e3, 0.5) as u64, 7);
        assert!(answer(&line(12, 18, "timed out")).is_none());
    }
}
