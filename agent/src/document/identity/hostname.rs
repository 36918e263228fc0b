//! The host name, and the event of its change.

use std::io;

use nmgen::node::HostName;
use thiserror::Error;
use tokio::io::Interest;

use crate::{
    client::event_fd,
    paths::{PathError, Paths, cannot},
};

/// Why the host name cannot be read, set or awaited.
#[derive(Debug, Error)]
pub(crate) enum HostNameError {
    #[error("cannot ask the kernel for the host name")]
    Kernel { source: io::Error },
    #[error(transparent)]
    Path(#[from] PathError),
    #[error("cannot restore the host name {name}")]
    PutBack { name: String, source: nix::Error },
}

/// The host name now. Under a foreign root: that tree's `/proc`, else its `/etc/hostname`.
pub(crate) fn current(paths: &Paths) -> Result<HostName, HostNameError> {
    if paths.is_system() {
        let name = ::hostname::get().map_err(|source| HostNameError::Kernel { source })?;
        return Ok(HostName::new(&name.to_string_lossy()));
    }
    for path in [paths.kernel_hostname(), paths.under("/etc/hostname")] {
        match std::fs::read_to_string(&path) {
            Ok(text) => return Ok(HostName::new(&text)),
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(cannot("read", &path)(error).into()),
        }
    }
    Ok(HostName::new(""))
}

/// Restores the running host name. Does nothing on a foreign root, which has none.
pub(crate) fn put_back(paths: &Paths, name: &str) -> Result<(), HostNameError> {
    if !paths.is_system() || current(paths)?.as_str() == name {
        return Ok(());
    }
    tracing::info!(name, "the host name comes back");
    nix::unistd::sethostname(name)
        .map_err(|source| HostNameError::PutBack { name: name.to_owned(), source })
}

/// Returns when the kernel's host name is no longer `old`. Every program that sets it (hostnamed,
/// NetworkManager, a script) does so through the kernel, which wakes pollers of its sysctl
/// (`proc_sys_poll`, Linux 3.3); so the wait needs no bus.
pub(crate) async fn wait_for_change(
    paths: &Paths,
    old: &HostName,
) -> Result<HostName, HostNameError> {
    let path = paths.kernel_hostname();
    let watch = cannot("watch", &path);
    loop {
        // Opened before the name is read: a change in between is reported as an event.
        let file = std::fs::File::open(&path).map_err(watch)?;
        // A poll reports changes since the last read of the open file.
        io::read_to_string(&file).map_err(cannot("read", &path))?;
        let now = current(paths)?;
        if now != *old {
            return Ok(now);
        }
        let fd = event_fd::watch(file, Interest::PRIORITY | Interest::ERROR).map_err(watch)?;
        let _ready = fd.ready(Interest::PRIORITY | Interest::ERROR).await.map_err(watch)?;
    }
}

#[cfg(test)]
mod tests {
    use super::{HostNameError, current};
    use crate::paths::Paths;

    #[test]
    fn a_tree_without_a_name_has_none_and_one_that_cannot_be_read_is_an_error()
    -> Result<(), Box<dyn std::error::Error>> {
        let root = tempfile::tempdir()?;
        let paths = Paths::new(root.path());
        assert_eq!(current(&paths)?.as_str(), "");
        let file = paths.under("/etc/hostname");
        std::fs::create_dir_all(&file)?;
        assert!(matches!(current(&paths), Err(HostNameError::Path(_))));
        std::fs::remove_dir(&file)?;
        std::fs::write(&file, "worker-0\n")?;
        assert_eq!(current(&paths)?.as_str(), "worker-0");
        Ok(())
    }
}
