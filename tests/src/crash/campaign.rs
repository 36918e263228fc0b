//! The states of a recording, each held to an invariant.

use std::{
    collections::{BTreeMap, HashSet},
    fmt::Write as _,
    num::NonZero,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use super::{
    Fault,
    operations::Recording,
    states::{State, States},
};

/// A way to hold a state to an invariant: each thread has its own.
pub trait Judge: Sized {
    /// Carries the recovery out on a state. Returns the broken rule.
    ///
    /// # Errors
    /// If the state cannot be tried.
    fn judge(&mut self, state: &State, shared: &Shared) -> Result<Option<String>, Fault>;
}

/// Outcomes that a thread has met.
#[derive(Debug, Default)]
pub struct Shared(Mutex<HashSet<u64>>);

impl Shared {
    /// Whether a tree is met for the first time.
    pub fn is_new(&self, digest: u64) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(digest)
    }
}

/// The result.
#[derive(Debug, Default)]
pub struct Report {
    /// Number of states.
    pub states: usize,
    /// Each broken rule with the shortest sequence of operations.
    pub violations: BTreeMap<String, String>,
}

impl Report {
    /// The violations in words.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (rule, sequence) in &self.violations {
            let _ = writeln!(text, "{rule}, after\n{sequence}");
        }
        text
    }
}

/// Tries `number` states of `recording`, more if the simple ones are more, fewer if there are no more.
///
/// # Errors
/// If a state cannot be tried.
pub fn run<J: Judge>(
    recording: &Recording,
    number: usize,
    judge: impl Fn() -> Result<J, Fault> + Sync,
) -> Result<Report, Fault> {
    let maker = States::new(recording);
    let states = maker.all(number);
    let shared = Shared::default();
    let mut report = Report { states: states.len(), violations: BTreeMap::new() };
    for (index, rule) in violations(&states, usize::MAX, &shared, &judge)? {
        if report.violations.contains_key(&rule) {
            continue;
        }
        let mut judge = judge()?;
        let again = std::cell::RefCell::new(&mut judge);
        let is_violated = |state: &State| {
            let judged = again.borrow_mut().judge(state, &shared);
            judged.is_ok_and(|broken| broken.as_ref() == Some(&rule))
        };
        let shortest = maker.shortest(&states[index], is_violated);
        report.violations.insert(rule, maker.explain(&shortest));
    }
    Ok(report)
}

/// Whether a simple state of `recording`, a faulty program's, breaks a rule: the first that does ends the search.
///
/// # Errors
/// If a state cannot be tried.
pub fn is_noticed<J: Judge>(
    recording: &Recording,
    judge: impl Fn() -> Result<J, Fault> + Sync,
) -> Result<bool, Fault> {
    let states = States::new(recording).all(0);
    Ok(!violations(&states, 1, &Shared::default(), &judge)?.is_empty())
}

/// The states that break a rule, by their index, until `enough` are found.
fn violations<J: Judge>(
    states: &[State],
    enough: usize,
    shared: &Shared,
    judge: &(impl Fn() -> Result<J, Fault> + Sync),
) -> Result<Vec<(usize, String)>, Fault> {
    let next = AtomicUsize::new(0);
    let found: Mutex<Vec<(usize, String)>> = Mutex::default();
    let work = || -> Result<(), Fault> {
        let mut judge = judge()?;
        while let Some((index, state)) = take(&next, states) {
            if let Some(rule) = judge.judge(state, shared)? {
                let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
                found.push((index, rule));
                if found.len() >= enough {
                    next.store(states.len(), Ordering::Relaxed);
                }
            }
        }
        Ok(())
    };
    let threads = thread::available_parallelism().map_or(2, NonZero::get);
    thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|thread| match thread.join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        })
    })?;
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.sort_unstable();
    Ok(found)
}

fn take<'s>(next: &AtomicUsize, states: &'s [State]) -> Option<(usize, &'s State)> {
    let index = next.fetch_add(1, Ordering::Relaxed);
    states.get(index).map(|state| (index, state))
}
