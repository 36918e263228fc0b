//! One run at a time: a lock on `/run/dayone/lock`; the file names its holder.

use std::{
    fmt,
    fs::File,
    io,
    os::unix::fs::{FileExt as _, OpenOptionsExt as _},
    path::Path,
    time::Duration,
};

use nix::{
    errno::Errno,
    fcntl::{Flock, FlockArg},
};
use thiserror::Error;

use crate::{
    durable::FileError,
    paths::{PathError, Paths, cannot},
    status::create_runtime_dir,
};

/// Why this run does not get the lock.
#[derive(Debug, Error)]
pub(crate) enum LockError {
    #[error(transparent)]
    Directory(#[from] FileError),
    #[error(transparent)]
    Path(#[from] PathError),
    #[error("{holder} holds the lock and did not finish within {:.0} s", .bound.as_secs_f64())]
    Taken { holder: Holder, bound: Duration },
}

/// The holder, read from the lock file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Holder(String);

impl Holder {
    fn of(command: &str) -> Self {
        Self(format!("dayone {command} (process {})", std::process::id()))
    }

    fn read(file: &File) -> Self {
        let mut bytes = [0; 64];
        let read = file.read_at(&mut bytes, 0).unwrap_or(0);
        let text = String::from_utf8_lossy(&bytes[..read]).trim().to_owned();
        // The holder has locked the file but not yet written its name.
        Self(if text.is_empty() { "another dayone".to_owned() } else { text })
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The run at work: the process that the lock file names, if it is alive. A read that fails, as of a user
/// who is not root, counts as a run: only evidence says that none is alive.
pub(super) fn at_work(paths: &Paths) -> Option<Holder> {
    if let Some(facts) = paths.collected() {
        return facts.at_work.clone().map(Holder);
    }
    let file = match File::open(paths.lock()) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        Err(_) => return Some(Holder("another dayone".to_owned())),
    };
    let holder = Holder::read(&file);
    let process = holder.0.split_once("(process ")?.1.trim_end_matches(')');
    let comm = paths.under("/proc").join(process).join("comm");
    std::fs::read_to_string(comm).is_ok_and(|name| name.trim() == "dayone").then_some(holder)
}

/// The held lock; released on drop, and by the kernel when the process ends in any way.
#[derive(Debug)]
pub(super) struct Lock {
    file: Flock<File>,
}

impl Lock {
    /// Takes the holder's name out of the file: its work is over, though the process goes on.
    pub(super) fn unsign(&self) {
        if let Err(error) = self.file.set_len(0) {
            tracing::warn!("the lock file keeps the name of this run: {error}");
        }
    }
}

/// Waits for the lock for at most `bound`; `say` reports the current holder.
pub(super) async fn take(
    paths: &Paths,
    command: &str,
    bound: Duration,
    say: impl FnOnce(&str),
) -> Result<Lock, LockError> {
    let path = paths.lock();
    path.parent().map_or(Ok(()), create_runtime_dir)?;
    let file = File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(&path)
        .map_err(cannot("open", &path))?;
    let refused = cannot("lock", &path);
    let locked = match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
        Ok(locked) => locked,
        Err((file, Errno::EWOULDBLOCK)) => {
            let holder = Holder::read(&file);
            say(&format!("waiting for {holder} (up to {} s)", bound.as_secs()));
            // The kernel has no event for a released lock: a thread blocks until the process ends.
            let wait = tokio::task::spawn_blocking(|| blocking(file));
            match tokio::time::timeout(bound, wait).await {
                Ok(Ok(locked)) => locked.map_err(io::Error::from).map_err(refused)?,
                Ok(Err(error)) => return Err(refused(io::Error::other(error)).into()),
                Err(_) => return Err(LockError::Taken { holder, bound }),
            }
        }
        Err((_, errno)) => return Err(refused(errno.into()).into()),
    };
    sign(&locked, &path, command)?;
    Ok(Lock { file: locked })
}

fn blocking(mut file: File) -> Result<Flock<File>, Errno> {
    loop {
        match Flock::lock(file, FlockArg::LockExclusive) {
            Ok(locked) => return Ok(locked),
            Err((again, Errno::EINTR)) => file = again,
            Err((_, errno)) => return Err(errno),
        }
    }
}

/// Writes the holder into the lock file.
fn sign(file: &File, path: &Path, command: &str) -> Result<(), LockError> {
    let text = format!("{}\n", Holder::of(command));
    let written = file.set_len(0).and_then(|()| file.write_all_at(text.as_bytes(), 0));
    Ok(written.map_err(cannot("write", path))?)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    const SOON: Duration = Duration::from_secs(10);

    #[tokio::test]
    async fn the_second_is_told_whose_turn_it_is_and_waits()
    -> Result<(), Box<dyn std::error::Error>> {
        let root = tempfile::tempdir()?;
        let paths = Paths::new(root.path());
        let first = take(&paths, "apply", SOON, |_| {}).await?;
        let said = RefCell::new(String::new());
        let second = take(&paths, "rollback", SOON, |text| text.clone_into(&mut said.borrow_mut()));
        let release = async {
            tokio::task::yield_now().await;
            drop(first);
        };
        let (second, ()) = tokio::join!(second, release);
        let me = std::process::id();
        assert_eq!(*said.borrow(), format!("waiting for dayone apply (process {me}) (up to 10 s)"));
        drop(second?);
        Ok(())
    }

    #[tokio::test]
    async fn the_bound_names_the_process() -> Result<(), Box<dyn std::error::Error>> {
        let root = tempfile::tempdir()?;
        let paths = Paths::new(root.path());
        let _first = take(&paths, "apply", SOON, |_| {}).await?;
        let Err(error) = take(&paths, "apply", Duration::from_millis(20), |_| {}).await else {
            return Err("two turns at once".into());
        };
        let me = std::process::id();
        let expected =
            format!("dayone apply (process {me}) holds the lock and did not finish within 0 s");
        assert_eq!(error.to_string(), expected);
        Ok(())
    }
}
