//! Named network namespaces.

use std::{fs::File, io, path::PathBuf, process::Command, thread};

use nix::{
    sched::{CloneFlags, setns},
    sys::signal::{Signal, kill},
    unistd::Pid,
};

use super::{
    command::quick,
    error::{Error, Result},
};

/// A named network namespace; removed on drop.
#[derive(Debug)]
pub(crate) struct Netns {
    name: String,
}

impl Netns {
    pub(crate) fn create(name: String) -> Result<Self> {
        quick("ip", &["netns", "add", &name])?;
        let netns = Self { name };
        netns.ip(&["link", "set", "lo", "up"])?;
        Ok(netns)
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn path(&self) -> PathBuf {
        path_of(&self.name)
    }

    /// `ip` inside, with the words of `arguments`.
    pub(crate) fn ip(&self, arguments: &[&str]) -> Result<String> {
        quick("ip", &[&["-n", self.name.as_str()], arguments].concat())
    }

    /// A program inside; `nsenter`, because `ip netns exec` also replaces /sys.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new("nsenter");
        command.arg(format!("--net={}", self.path().display())).arg(program);
        command
    }

    /// Runs `work` inside, on a separate thread: its sockets stay in the namespace.
    pub(crate) fn within<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        let handle = File::open(self.path()).map_err(self.failed())?;
        thread::spawn(move || {
            setns(handle, CloneFlags::CLONE_NEWNET).map_err(io::Error::from)?;
            Ok(work())
        })
        .join()
        .unwrap_or_else(|_| Err(io::Error::other("the thread panicked")))
        .map_err(self.failed())
    }

    /// Returns the error of what failed inside.
    pub(crate) fn failed(&self) -> impl Fn(io::Error) -> Error {
        move |source| Error::Namespace { name: self.name.clone(), source }
    }
}

impl Drop for Netns {
    fn drop(&mut self) {
        let _ = remove(&self.name);
    }
}

/// Whether the namespace exists.
pub(crate) fn exists(name: &str) -> bool {
    path_of(name).exists()
}

/// Removes it, if it exists.
pub(crate) fn remove(name: &str) -> Result<()> {
    if exists(name) {
        // Processes of a killed run.
        end_processes(name)?;
        quick("ip", &["netns", "del", name])?;
    }
    Ok(())
}

/// Kills the processes in it; by the namespace's name they belong to the lab.
pub(crate) fn end_processes(name: &str) -> Result<()> {
    for pid in quick("ip", &["netns", "pids", name])?.split_whitespace() {
        if let Ok(pid) = pid.parse() {
            let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
        }
    }
    Ok(())
}

fn path_of(name: &str) -> PathBuf {
    PathBuf::from("/run/netns").join(name)
}
