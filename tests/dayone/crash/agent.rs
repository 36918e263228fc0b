//! The agent on a root directory: as the program of a node, and as one process that recovers thousands of times.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio},
};

use tests::{crash::Fault, program};

/// `dayone` with these arguments on `root`.
pub(super) fn command(arguments: &[&str], root: &Path) -> Command {
    let mut command = service(program::dayone());
    command.args(arguments).arg("--root").arg(root);
    command
}

/// Runs `dayone recover`. The inner error is an end other than success.
pub(super) fn recover(root: &Path) -> Result<Result<(), String>, Fault> {
    let output = run(&["recover"], root)?;
    Ok(match output.status.code() {
        Some(0) => Ok(()),
        code => {
            let said = String::from_utf8_lossy(&output.stderr);
            Err(format!("recover ends with {code:?}: {}", said.trim()))
        }
    })
}

/// Whether the status says that the node's document is in force; its value as it stands.
pub(super) fn in_force(root: &Path) -> Result<serde_json::Value, Fault> {
    let output = run(&["status", "--json"], root)?;
    let status: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    Ok(status["in-force"].clone())
}

fn run(arguments: &[&str], root: &Path) -> Result<Output, Fault> {
    let mut command = command(arguments, root);
    command.output().map_err(|source| Fault::Run { program: format!("{command:?}"), source })
}

/// A process that recovers one root directory after the other.
pub(super) struct Agent {
    process: Child,
    roots: ChildStdin,
    ends: BufReader<ChildStdout>,
}

impl Agent {
    pub(super) fn start() -> Result<Self, Fault> {
        let mut command = service(program::recover_roots());
        let failed = |source| Fault::Run { program: "recover-roots".to_owned(), source };
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = piped.spawn().map_err(failed)?;
        match (process.stdin.take(), process.stdout.take()) {
            (Some(roots), Some(ends)) => Ok(Self { process, roots, ends: BufReader::new(ends) }),
            _ => Err(failed(std::io::ErrorKind::BrokenPipe.into())),
        }
    }

    /// Recovers `root`. The inner error is an end other than success.
    pub(super) fn recover(&mut self, root: &Path) -> Result<Result<(), String>, Fault> {
        let mut end = String::new();
        let answered =
            writeln!(self.roots, "{}", root.display()).and_then(|()| self.ends.read_line(&mut end));
        Ok(match (answered, end.trim_end()) {
            (Ok(_), "0") => Ok(()),
            (Ok(1..), code) => Err(format!("recover ends with {code}")),
            // A panic: its message is on stderr.
            (Ok(0) | Err(_), _) => {
                *self = Self::start()?;
                Err("recover ends without an exit code".to_owned())
            }
        })
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A program of the agent's as a service of systemd: as one it tells the boot to wait.
fn service(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.env("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/nonexistent");
    // Its log would be in the host's journal.
    command.env("JOURNAL_STREAM", "0:0").env("DAYONE_LOG", "error");
    command
}
