//! The cgroups that a container runs in.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use super::{
    command::wait_for,
    error::{Error, Result},
};

const NAME: &str = "dayone-lab";

/// Our cgroup in the unified hierarchy and, on a host that has both, in systemd's own: nspawn uses the one or the other.
pub(crate) fn paths() -> Result<Vec<PathBuf>> {
    let table = Path::new("/proc/self/mounts");
    let mounts = fs::read_to_string(table).map_err(Error::file("read", table))?;
    let ours = mounts.lines().filter_map(|line| {
        let words: Vec<_> = line.split(' ').collect();
        let [_, path, kind, options, ..] = words.as_slice() else { return None };
        let systemd = *kind == "cgroup" && options.split(',').any(|o| o == "name=systemd");
        (*kind == "cgroup2" || systemd).then(|| Path::new(path).join(NAME))
    });
    Ok(ours.collect())
}

/// Those that exist.
pub(crate) fn existing() -> Result<Vec<PathBuf>> {
    Ok(paths()?.into_iter().filter(|path| path.exists()).collect())
}

/// Kills what runs in them.
pub(crate) fn kill() -> Result<()> {
    for path in existing()? {
        // Absent in systemd's own hierarchy, whose processes are the same.
        let _ = fs::write(path.join("cgroup.kill"), "1");
    }
    Ok(())
}

/// Kills what runs in them and removes them.
pub(crate) fn remove() -> Result<()> {
    kill()?;
    for path in existing()? {
        // A killed process leaves its cgroup only when it is reaped, and nothing tells.
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
