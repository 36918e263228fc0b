//! Runs the same work for every host on all cores, with a progress line for long runs. Where the system allows no further thread,
//! one does all of it.

use std::io::{IsTerminal, Write};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rayon::ThreadPoolBuilder;
use rayon::prelude::*;

/// Starting threads takes longer than working on this few hosts.
const FEW: usize = 16;
/// Each thread has memory of its own for each size of values; more threads gain little, since files are written by one.
const MOST_THREADS: usize = 8;
/// The progress line appears after this time.
const PATIENCE: Duration = Duration::from_secs(1);

/// The results in the order of `items`.
pub(crate) fn each<'i, T: Sync, R: Send>(
    items: &'i [T],
    work: impl Fn(&'i T) -> R + Sync + Send,
) -> Vec<R> {
    if items.len() <= FEW {
        return items.iter().map(work).collect();
    }
    let progress = Mutex::new(Progress::new(items.len()));
    let one = |item| {
        let result = work(item);
        progress.lock().unwrap_or_else(PoisonError::into_inner).one_more();
        result
    };
    let results = match has_threads() {
        true => items.par_iter().map(one).collect(),
        false => items.iter().map(one).collect(),
    };
    progress.into_inner().unwrap_or_else(PoisonError::into_inner).end();
    results
}

/// The results in the order of `items`, each of which goes with its work: its memory is its thread's again.
pub(crate) fn each_given<T: Send, R: Send>(
    items: Vec<T>,
    work: impl Fn(T) -> R + Sync + Send,
) -> Vec<R> {
    match items.len() > FEW && has_threads() {
        true => items.into_par_iter().map(work).collect(),
        false => items.into_iter().map(work).collect(),
    }
}

/// Whether there are threads, which are started here for the whole process.
fn has_threads() -> bool {
    static IS_STARTED: OnceLock<bool> = OnceLock::new();
    *IS_STARTED.get_or_init(|| {
        let threads = thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
        ThreadPoolBuilder::new().num_threads(threads).build_global().is_ok()
    })
}

/// One line on a terminal, rewritten once a second.
struct Progress {
    done: usize,
    all: usize,
    next: Instant,
    is_terminal: bool,
    is_shown: bool,
}

impl Progress {
    fn new(all: usize) -> Self {
        let is_terminal = std::io::stderr().is_terminal();
        Self { done: 0, all, next: Instant::now() + PATIENCE, is_terminal, is_shown: false }
    }

    fn one_more(&mut self) {
        self.done += 1;
        if self.is_terminal && Instant::now() >= self.next {
            let _ = write!(std::io::stderr(), "\r{} of {} hosts", self.done, self.all);
            self.next += PATIENCE;
            self.is_shown = true;
        }
    }

    fn end(&self) {
        if self.is_shown {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}
