//! The kernel's event for a change in a directory.

use std::{
    io,
    os::fd::{AsFd as _, OwnedFd},
    path::Path,
};

use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify};
use tokio::io::{Interest, unix::AsyncFd};

use super::event_fd;
use crate::paths::{PathError, cannot};

/// A watch for one change: a waiter creates it, reads the state, waits, and creates a new one.
pub(crate) struct Watch {
    inotify: AsyncFd<OwnedFd>,
}

impl Watch {
    /// Watches each directory, or its nearest ancestor that exists.
    pub(crate) fn on(directories: &[&Path]) -> io::Result<Self> {
        let inotify = Inotify::init(InitFlags::IN_NONBLOCK | InitFlags::IN_CLOEXEC)?;
        let flags = AddWatchFlags::IN_CREATE
            | AddWatchFlags::IN_CLOSE_WRITE
            | AddWatchFlags::IN_MOVED_TO
            | AddWatchFlags::IN_MOVED_FROM
            | AddWatchFlags::IN_DELETE
            | AddWatchFlags::IN_DELETE_SELF
            | AddWatchFlags::IN_MOVE_SELF
            | AddWatchFlags::IN_ATTRIB;
        for directory in directories {
            let there = directory.ancestors().find(|d| d.is_dir()).unwrap_or(Path::new("/"));
            inotify.add_watch(there, flags)?;
        }
        let fd = inotify.as_fd().try_clone_to_owned()?;
        Ok(Self { inotify: event_fd::watch(fd, Interest::READABLE)? })
    }

    /// Returns at the first change since the watch was made.
    pub(crate) async fn changed(&self) -> io::Result<()> {
        self.inotify.readable().await.map(|_| ())
    }
}

/// Returns the answer of `look`, which looks again after each change in the directory of `path`.
pub(crate) async fn until<T, E: From<PathError>>(
    path: &Path,
    mut look: impl FnMut() -> Result<Option<T>, E>,
) -> Result<T, E> {
    let directory = path.parent().unwrap_or(path);
    let failed = cannot("watch", directory);
    loop {
        let watch = Watch::on(&[directory]).map_err(failed)?;
        if let Some(answer) = look()? {
            return Ok(answer);
        }
        watch.changed().await.map_err(failed)?;
    }
}
