//! The harness of the suites: cargo's own, but for a case that finds while it runs that it cannot; that one is ignored, not passed.

use std::{
    any::Any,
    env,
    fmt::Debug,
    io::{self, Write as _},
    process::ExitCode,
    sync::{Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

use clap::Parser;
pub use inventory;
use libtest_mimic::{Arguments, Completion, Failed, Trial};

use crate::skip::LeftOut;

/// A function with the attribute [`case`](macro@crate::case).
#[derive(Debug)]
pub struct Case {
    /// Its path, as `module_path!()` has it.
    pub path: &'static str,
    /// Runs it to its end.
    pub run: fn() -> Result<(), String>,
}

inventory::collect!(Case);

/// Adds a function to the suite; for the attribute [`case`](macro@crate::case).
#[macro_export]
macro_rules! register {
    ($name:ident) => {
        $crate::suite::inventory::submit! { $crate::suite::Case {
            path: concat!(module_path!(), "::", stringify!($name)),
            run: || $crate::suite::Ended::failure($name()),
        } }
    };
}

/// The value that a case returns.
pub trait Ended {
    /// The text of its error.
    ///
    /// # Errors
    /// The case's own.
    fn failure(self) -> Result<(), String>;
}

impl Ended for () {
    fn failure(self) -> Result<(), String> {
        Ok(())
    }
}

impl<E: Debug> Ended for Result<(), E> {
    fn failure(self) -> Result<(), String> {
        self.map_err(|error| format!("Error: {error:?}"))
    }
}

/// The command line of cargo's own harness, where any number of filters chooses cases.
#[derive(Debug, Parser)]
struct Options {
    #[command(flatten)]
    arguments: Arguments,
    /// Further filters
    further: Vec<String>,
}

impl Options {
    /// A single filter stays the harness's, which counts what it leaves out. Whole names run in the order in which they are given.
    fn chosen(&mut self, mut trials: Vec<Trial>) -> Vec<Trial> {
        if !self.further.is_empty() {
            self.further.splice(0..0, self.arguments.filter.take());
            let exact = self.arguments.exact;
            let is_named = |name: &str, filter: &String| {
                if exact { name == filter } else { name.contains(filter) }
            };
            trials.retain(|trial| self.further.iter().any(|filter| is_named(trial.name(), filter)));
            if exact {
                trials.sort_by_key(|trial| {
                    self.further.iter().position(|filter| filter == trial.name())
                });
            }
        }
        trials
    }
}

/// Runs the cases of this program that the command line chooses.
pub fn run() -> ExitCode {
    let mut options = Options::parse();
    let threads = env::var("RUST_TEST_THREADS").ok().and_then(|text| text.parse().ok());
    options.arguments.test_threads = options.arguments.test_threads.or(threads);
    let mut trials: Vec<Trial> = inventory::iter::<Case>.into_iter().map(trial).collect();
    trials.sort_by(|one, other| one.name().cmp(other.name()));
    let trials = options.chosen(trials);
    let conclusion = libtest_mimic::run(&options.arguments, trials);
    if let Some(line) = slowest(&mut TIMES.lock().unwrap_or_else(PoisonError::into_inner)) {
        let _ = io::stderr().write_all(line.as_bytes());
    }
    conclusion.exit_code()
}

/// The time of each case that ran, waits for its place in the lab included.
static TIMES: Mutex<Vec<(Duration, &str)>> = Mutex::new(Vec::new());

/// The number of cases in [`slowest`].
const SHOWN: usize = 8;
/// The shortest time there.
const LONG: Duration = Duration::from_secs(5);

/// The cases that took longest, which a suite gets shorter by.
fn slowest(times: &mut [(Duration, &str)]) -> Option<String> {
    times.sort_unstable_by(|one, other| other.cmp(one));
    let long = times.iter().take_while(|(time, _)| *time >= LONG).take(SHOWN);
    let long: Vec<String> =
        long.map(|(time, name)| format!("{name} {} s", time.as_secs())).collect();
    (!long.is_empty()).then(|| format!("the slowest cases: {}\n", long.join(", ")))
}

/// A case by its path within the suite.
fn trial(case: &'static Case) -> Trial {
    let name = case.path.split_once("::").map_or(case.path, |(_, name)| name);
    Trial::ignorable_test(name, || completed(name, case.run))
}

/// Runs a case in a thread with its name, which a panic's message begins with.
fn completed(name: &'static str, run: fn() -> Result<(), String>) -> Result<Completion, Failed> {
    let start = Instant::now();
    let thread = thread::Builder::new().name(name.to_owned()).spawn(run)?;
    let ended = thread.join();
    TIMES.lock().unwrap_or_else(PoisonError::into_inner).push((start.elapsed(), name));
    match ended {
        Ok(ended) => ended.map(|()| Completion::Completed).map_err(Failed::from),
        Err(panic) => match panic.downcast::<LeftOut>() {
            Ok(left_out) => Ok(Completion::ignored_with(left_out.0)),
            Err(panic) => Err(Failed::from(message(&*panic))),
        },
    }
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("it panicked")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::resume_unwind;

    #[test]
    fn the_slowest_cases_come_first_and_short_ones_not_at_all() {
        let time = |seconds, name| (Duration::from_secs(seconds), name);
        assert_eq!(slowest(&mut [time(4, "one")]), None);
        let told = slowest(&mut [time(5, "one"), time(70, "two"), time(4, "three")]);
        assert_eq!(told.as_deref(), Some("the slowest cases: two 70 s, one 5 s\n"));
        let mut many = [time(9, "any"); 20];
        assert_eq!(slowest(&mut many).map(|text| text.matches("any").count()), Some(SHOWN));
    }

    #[test]
    fn a_case_passes_fails_or_did_not_run() {
        assert!(matches!(completed("case", || Ok(())), Ok(Completion::Completed)));
        let left_out = || resume_unwind(Box::new(LeftOut("no lab".to_owned())));
        let reason = Some("no lab".to_owned());
        assert!(
            matches!(completed("case", left_out), Ok(Completion::Ignored { reason: it }) if it == reason)
        );
        let message = |run: fn() -> Result<(), String>| {
            completed("case", run).err()?.message().map(str::to_owned)
        };
        assert_eq!(message(|| Err("Error: 1".to_owned())).as_deref(), Some("Error: 1"));
        assert_eq!(message(|| resume_unwind(Box::new("2"))).as_deref(), Some("2"));
        assert_eq!(message(|| resume_unwind(Box::new("3".to_owned()))).as_deref(), Some("3"));
        assert_eq!(message(|| resume_unwind(Box::new(4))).as_deref(), Some("it panicked"));
    }
}
