//! Runs the same work for every host on all cores, with a progress line for long runs.

use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Starting threads takes longer than working on this few hosts.
const FEW: usize = 16;
/// A thread takes and hands back at most this many items at once: each hand-over wakes another thread.
const MAX_BLOCK: usize = 32;
/// The progress line appears after this time.
const PATIENCE: Duration = Duration::from_secs(1);

/// The results in the order of `items`.
pub(crate) fn each<'i, T: Sync, R: Send>(
    items: &'i [T],
    work: impl Fn(&'i T) -> R + Sync,
) -> Vec<R> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    if items.len() <= FEW || threads == 1 {
        return items.iter().map(work).collect();
    }
    let block = (items.len() / (threads * 8)).clamp(1, MAX_BLOCK);
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    let mut blocks: Vec<(usize, Vec<R>)> = Vec::new();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let (sender, next, work) = (sender.clone(), &next, &work);
            scope.spawn(move || {
                loop {
                    let first = next.fetch_add(block, Ordering::Relaxed);
                    let Some(rest) = items.get(first..).filter(|rest| !rest.is_empty()) else {
                        break;
                    };
                    let done: Vec<R> = rest.iter().take(block).map(work).collect();
                    // The receiver outlives the threads.
                    let _ = sender.send((first, done));
                }
            });
        }
        drop(sender);
        let mut progress = Progress::new(items.len());
        for (first, done) in receiver {
            progress.more(done.len());
            blocks.push((first, done));
        }
        progress.end();
    });
    blocks.sort_unstable_by_key(|(first, _)| *first);
    blocks.into_iter().flat_map(|(_, done)| done).collect()
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

    fn more(&mut self, count: usize) {
        self.done += count;
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
