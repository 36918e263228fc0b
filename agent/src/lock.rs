//! One run at a time: a lock on `/run/dayone/lock`; the file names its holder.

use std::{
    fs::File,
    io,
    os::unix::fs::{FileExt as _, OpenOptionsExt as _},
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
    warn::OrWarn as _,
};

/// Why this run does not get the lock.
#[derive(Debug, Error)]
pub(crate) enum LockError {
    #[error(transparent)]
    Directory(#[from] FileError),
    #[error(transparent)]
    Path(#[from] PathError),
    #[error("{holder} holds the lock and did not finish within {:.0} s", .bound.as_secs_f64())]
    Taken { holder: String, bound: Duration },
}

/// A holder whose name is not known.
const ANOTHER: &str = "another dayone";

/// Returns the holder's name in the lock file.
fn holder(file: &File) -> String {
    let mut bytes = [0; 64];
    let read = file.read_at(&mut bytes, 0).unwrap_or(0);
    let text = String::from_utf8_lossy(&bytes[..read]).trim().to_owned();
    // The holder has locked the file but not yet written its name.
    if text.is_empty() { ANOTHER.to_owned() } else { text }
}

/// The run at work: the process that the lock file names, if it is alive. A read that fails, as of a user
/// who is not root, counts as a run: only evidence says that none is alive.
pub(super) fn at_work(paths: &Paths) -> Option<String> {
    if let Some(facts) = paths.collected() {
        return facts.at_work.clone();
    }
    let file = match File::open(paths.lock()) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        Err(_) => return Some(ANOTHER.to_owned()),
    };
    let holder = holder(&file);
    let process = holder.split_once("(process ")?.1.trim_end_matches(')');
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
        self.file.set_len(0).or_warn_of("the lock file keeps the name of this run");
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
            let holder = holder(&file);
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
    let text = format!("dayone {command} (process {})\n", std::process::id());
    let signed = locked.set_len(0).and_then(|()| locked.write_all_at(text.as_bytes(), 0));
    signed.map_err(cannot("write", &path))?;
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
