//! The cgroups of a container.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use super::{
    command::wait_for,
    error::{Error, Result},
};

/// The cgroup `name` in the unified hierarchy and, on a host with both, in systemd's own: nspawn uses one of them.
pub(crate) fn paths(name: &str) -> Result<Vec<PathBuf>> {
    let table = Path::new("/proc/self/mounts");
    let mounts = fs::read_to_string(table).map_err(Error::file("read", table))?;
    let ours = mounts.lines().filter_map(|line| {
        let words: Vec<_> = line.split(' ').collect();
        let [_, path, kind, options, ..] = words.as_slice() else { return None };
        let systemd = *kind == "cgroup" && options.split(',').any(|o| o == "name=systemd");
        (*kind == "cgroup2" || systemd).then(|| Path::new(path).join(name))
    });
    Ok(ours.collect())
}

/// The existing paths.
pub(crate) fn existing(name: &str) -> Result<Vec<PathBuf>> {
    Ok(paths(name)?.into_iter().filter(|path| path.exists()).collect())
}

/// Kills the processes in the cgroup.
pub(crate) fn kill(name: &str) -> Result<()> {
    for path in existing(name)? {
        // Absent in systemd's own hierarchy, whose processes are the same.
        let _ = fs::write(path.join("cgroup.kill"), "1");
    }
    Ok(())
}

/// Kills the processes in the cgroup and removes it.
pub(crate) fn remove(name: &str) -> Result<()> {
    kill(name)?;
    for path in existing(name)? {
        // A killed process leaves its cgroup only when it is reaped, and no event reports that.
        wait_for(&format!("cgroup {} to empty", path.display()), Duration::from_secs(10), || {
            match remove_tree(&path) {
                Ok(()) => Ok(Some(())),
                Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Some(())),
                Err(e) if e.kind() == io::ErrorKind::ResourceBusy => Ok(None),
                Err(e) => Err(Error::file("remove", &path)(e)),
            }
        })?;
    }
    Ok(())
}

fn remove_tree(path: &Path) -> io::Result<()> {
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            remove_tree(&entry.path())?;
        }
    }
    fs::remove_dir(path)
}
