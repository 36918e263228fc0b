//! Load on the host.

use std::{
    env,
    hint::black_box,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

/// Keeps every core of the host busy until it is dropped.
#[derive(Debug)]
pub(super) struct Load {
    stop: Arc<AtomicBool>,
    threads: Vec<thread::JoinHandle<()>>,
}

impl Load {
    /// `None` with `LOAD=off`, for a host that is busy anyway.
    pub(super) fn start() -> Option<Self> {
        if env::var("LOAD").as_deref() == Ok("off") {
            return None;
        }
        let stop = Arc::new(AtomicBool::new(false));
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let spin = |stop: Arc<AtomicBool>| {
            move || {
                while !stop.load(Ordering::Relaxed) {
                    black_box(0_u64);
                }
            }
        };
        let threads = (0..cores).map(|_| thread::spawn(spin(Arc::clone(&stop)))).collect();
        Some(Self { stop, threads })
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}
