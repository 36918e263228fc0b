//! Places: names on the host reserved for one case, and the removal of an aborted case's leftovers under them.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use nix::{
    errno::Errno,
    fcntl::{Flock, FlockArg},
    sys::stat::{Mode, umask},
};

use super::{
    cgroups,
    command::wait_for,
    disk,
    error::{Error, Result},
    netns,
};

/// A tmpfs on every Linux, usable as overlayfs's upper layer.
const MEMORY: &str = "/dev/shm";
/// Bound on the wait for earlier cases.
const TURN: Duration = Duration::from_secs(2400);

/// The kind of node at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A container, in a cgroup of the place's name.
    Container,
    /// A virtual machine.
    Machine,
}

impl Kind {
    /// The places on this host: two containers a core, since a case in a container waits most of its time, and one machine
    /// a core, since a machine keeps one busy.
    fn names(self) -> Vec<String> {
        let (prefix, a_core) = match self {
            Self::Container => ("dayone-container", 2),
            Self::Machine => ("dayone-machine", 1),
        };
        let cores = thread::available_parallelism().map_or(1, usize::from);
        (0..cores * a_core).map(|number| format!("{prefix}{number}")).collect()
    }
}

/// Unique names on the host, held by one case of one process at a time.
#[derive(Debug)]
pub(crate) struct Place {
    name: String,
    state: PathBuf,
    kind: Kind,
    /// `None` for a place that belongs to another one.
    _lock: Option<Flock<File>>,
}

/// The most nodes that one case has besides its first place's.
pub(crate) const MEMBERS: usize = 5;

impl Place {
    /// Waits for a free place.
    pub(crate) fn wait(kind: Kind) -> Result<Self> {
        Self::wait_for_one(kind, &kind.names())
    }

    /// Waits for the place of this name.
    pub(crate) fn wait_named(kind: Kind, name: &str) -> Result<Self> {
        Self::wait_for_one(kind, &[name.to_owned()])
    }

    fn wait_for_one(kind: Kind, names: &[String]) -> Result<Self> {
        // Services of a node run as other users, and go through the directories of its disk. Every case begins with a place.
        umask(Mode::S_IWGRP | Mode::S_IWOTH);
        let taken = wait_for("a place in the lab", TURN, || {
            for name in names {
                if let Some(lock) = try_lock(&Path::new(MEMORY).join(format!("{name}.lock")))? {
                    let state = Path::new(MEMORY).join(name);
                    return Ok(Some(Self { name: name.clone(), state, kind, _lock: Some(lock) }));
                }
            }
            Ok(None)
        });
        match taken {
            Err(Error::Timeout { after, .. }) => Err(Error::Busy(after)),
            other => other,
        }
    }

    /// Places of several nodes of one case, which are this one's holder's; at most [`MEMBERS`].
    pub(crate) fn members(&self) -> Vec<Self> {
        let name = |number| format!("{}-{number}", self.name);
        let member = |name: String| Self {
            state: Path::new(MEMORY).join(&name),
            name,
            kind: self.kind,
            _lock: None,
        };
        (0..MEMBERS).map(name).map(member).collect()
    }

    /// The name; a container's cgroup has the same.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The directory of a case's state.
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

    /// Removes leftovers of an aborted run and makes an empty state directory.
    pub(crate) fn begin(&self) -> Result<()> {
        self.sweep()?;
        fs::create_dir_all(&self.state).map_err(Error::file("create", &self.state))
    }

    /// Removes leftovers of an aborted run, which could not clean up.
    pub(crate) fn sweep(&self) -> Result<()> {
        self.members().iter().try_for_each(Self::sweep_own)?;
        self.sweep_own()
    }

    fn sweep_own(&self) -> Result<()> {
        if self.kind == Kind::Container {
            cgroups::remove(&self.name)?;
        }
        netns::remove(&self.node())?;
        netns::remove(&self.peer())?;
        disk::unmount(&self.state)?;
        remove(&self.state)
    }

    /// Checks that nothing of a case is left.
    ///
    /// # Errors
    /// [`Error::Leftovers`] with a list of them.
    pub(crate) fn check_clean(&self) -> Result<()> {
        let mut left = Vec::new();
        // A killed process may take a moment to end.
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
        let cgroups = match self.kind {
            Kind::Container => cgroups::existing(&self.name)?,
            Kind::Machine => Vec::new(),
        };
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
        // With the slash, since another place's name may begin with this one's.
        let state = format!("{}/", self.state.display());
        let mounts = fs::read_to_string("/proc/self/mounts")
            .map_err(Error::file("read", "/proc/self/mounts"))?;
        left.extend(
            mounts.lines().filter(|line| line.contains(&state)).map(|line| format!("mount {line}")),
        );
        left.extend(processes(&state));
        Ok(left)
    }
}

/// Removes a directory tree, if it exists.
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
