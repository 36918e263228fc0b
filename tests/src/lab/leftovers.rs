//! What a case that came to a bad end may have left, and taking it away.

use std::fs;

use super::{
    Lab, cgroups,
    command::wait_for,
    error::{Error, Result},
    netns::{self, NODE, PEER},
};

impl Lab {
    /// Takes away what an earlier run left: one that was killed had no time to do it.
    pub(crate) fn sweep(&self) -> Result<()> {
        cgroups::remove()?;
        netns::remove(NODE)?;
        netns::remove(PEER)?;
        match fs::remove_dir_all(self.state()) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                Err(Error::file("remove", self.state())(e))
            }
            _ => Ok(()),
        }
    }

    /// Checks that nothing of a case is left.
    ///
    /// # Errors
    /// [`Error::Leftovers`] with what there is.
    pub fn check_clean(&self) -> Result<()> {
        let mut left = Vec::new();
        // A killed process may take a moment to be gone.
        let gone = wait_for("the end of the case", std::time::Duration::from_secs(2), || {
            left = self.leftovers()?;
            Ok(left.is_empty().then_some(()))
        });
        match gone {
            Err(Error::Timeout { .. }) => Err(Error::Leftovers(left)),
            other => other,
        }
    }

    fn leftovers(&self) -> Result<Vec<String>> {
        let mut left: Vec<_> =
            cgroups::existing()?.iter().map(|path| format!("cgroup {}", path.display())).collect();
        left.extend(
            [NODE, PEER]
                .iter()
                .filter(|name| netns::exists(name))
                .map(|name| format!("netns {name}")),
        );
        if self.state().exists() {
            left.push(format!("directory {}", self.state().display()));
        }
        let state = self.state().to_string_lossy();
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
