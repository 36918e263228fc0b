//! What a lab has of the host for itself, and what a case that came to a bad end may have left of it.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    time::Duration,
};

use nix::{
    errno::Errno,
    fcntl::{Flock, FlockArg},
};

use super::{
    cgroups,
    command::wait_for,
    error::{Error, Result},
    netns,
};

/// A tmpfs on every Linux, which overlayfs takes as its upper layer.
const MEMORY: &str = "/dev/shm";
/// How long the cases before this one may take.
const TURN: Duration = Duration::from_secs(2400);

/// Names that nothing else on the host bears, held by one test of one process at a time.
#[derive(Debug)]
pub(crate) struct Place {
    name: String,
    state: PathBuf,
    containers: bool,
    _lock: Flock<File>,
}

impl Place {
    /// Waits for one of these names; `containers`: cgroups belong to it.
    pub(crate) fn wait(names: &[String], containers: bool) -> Result<Self> {
        let taken = wait_for("the lab", TURN, || {
            for name in names {
                if let Some(lock) = try_lock(&Path::new(MEMORY).join(format!("{name}.lock")))? {
                    let state = Path::new(MEMORY).join(name);
                    return Ok(Some(Self { name: name.clone(), state, containers, _lock: lock }));
                }
            }
            Ok(None)
        });
        match taken {
            Err(Error::Timeout { after, .. }) => Err(Error::Busy(after)),
            other => other,
        }
    }

    /// Where the state of a case is.
    pub(crate) fn state(&self) -> &Path {
        &self.state
    }

    /// The node's namespace.
    pub(crate) fn node(&self) -> String {
        format!("{}-node", self.name)
    }

    /// The peer's namespace.
    pub(crate) fn peer(&self) -> String {
        format!("{}-peer", self.name)
    }

    /// Takes away what an earlier run left and begins anew.
    pub(crate) fn begin(&self) -> Result<()> {
        self.sweep()?;
        fs::create_dir_all(&self.state).map_err(Error::file("create", &self.state))
    }

    /// Takes away what an earlier run left: one that was killed had no time to do it.
    pub(crate) fn sweep(&self) -> Result<()> {
        if self.containers {
            cgroups::remove()?;
        }
        netns::remove(&self.node())?;
        netns::remove(&self.peer())?;
        remove(&self.state)
    }

    /// Checks that nothing of a case is left.
    ///
    /// # Errors
    /// [`Error::Leftovers`] with what there is.
    pub(crate) fn check_clean(&self) -> Result<()> {
        let mut left = Vec::new();
        // A killed process may take a moment to be gone.
        let gone = wait_for("the end of the case", Duration::from_secs(2), || {
            left = self.leftovers()?;
            Ok(left.is_empty().then_some(()))
        });
        match gone {
            Err(Error::Timeout { .. }) => Err(Error::Leftovers(left)),
            other => other,
        }
    }

    fn leftovers(&self) -> Result<Vec<String>> {
        let cgroups = if self.containers { cgroups::existing()? } else { Vec::new() };
        let mut left: Vec<_> =
            cgroups.iter().map(|path| format!("cgroup {}", path.display())).collect();
        left.extend(
            [self.node(), self.peer()]
                .iter()
                .filter(|name| netns::exists(name))
                .map(|name| format!("netns {name}")),
        );
        if self.state.exists() {
            left.push(format!("directory {}", self.state.display()));
        }
        let state = self.state.to_string_lossy();
        let mounts = fs::read_to_string("/proc/self/mounts")
            .map_err(Error::file("read", "/proc/self/mounts"))?;
        left.extend(
            mounts
                .lines()
                .filter(|line| line.contains(&*state))
                .map(|line| format!("mount {line}")),
        );
        left.extend(processes(&state));
        Ok(left)
    }
}

/// Removes a directory and all below it, if it is there.
pub(crate) fn remove(directory: &Path) -> Result<()> {
    match fs::remove_dir_all(directory) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
            Err(Error::file("remove", directory)(e))
        }
        _ => Ok(()),
    }
}

fn try_lock(path: &Path) -> Result<Option<Flock<File>>> {
    let open = File::options().create(true).truncate(false).write(true).open(path);
    let file = open.map_err(Error::file("open", path))?;
    match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
        Ok(lock) => Ok(Some(lock)),
        Err((_, Errno::EWOULDBLOCK)) => Ok(None),
        Err((_, e)) => Err(Error::file("lock", path)(e.into())),
    }
}

/// Processes whose command line names the state directory: nspawn, its helpers and dnsmasq.
fn processes(state: &str) -> Vec<String> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let named = entries.flatten().filter_map(|entry| {
        let command = fs::read(entry.path().join("cmdline")).ok()?;
        let command = String::from_utf8_lossy(&command).replace('\0', " ");
        let name = entry.file_name().into_string().ok()?;
        command.contains(state).then(|| format!("process {name}: {command}"))
    });
    named.collect()
}
