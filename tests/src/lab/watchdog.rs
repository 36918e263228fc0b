//! The bound on a whole case.

use std::{
    io::Write,
    sync::mpsc::{self, RecvTimeoutError, Sender},
    thread,
    time::Duration,
};

use super::error::Result;

/// Kills the node by `kill` after `limit`, unless the returned guard is dropped before.
pub(crate) fn start(
    limit: Duration,
    kill: impl FnOnce() -> Result<()> + Send + 'static,
) -> Sender<()> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        if receiver.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
            let text =
                format!("lab: the case is over its {} s: killing its node\n", limit.as_secs());
            let _ = std::io::stderr().write_all(text.as_bytes());
            let _ = kill();
        }
    });
    sender
}
