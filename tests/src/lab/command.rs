//! Programs on the host, each with a bound on its time.

use std::{
    fmt,
    io::Write,
    ops::RangeInclusive,
    os::unix::process::ExitStatusExt as _,
    process::{Command, ExitStatus, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};

use super::error::{Error, Result};

/// Interval of the few waits without an event.
pub(crate) const POLL: Duration = Duration::from_millis(20);

/// The result of a program.
#[derive(Debug, Clone)]
pub struct Output {
    /// Its exit status.
    pub status: ExitStatus,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
    /// Its run time.
    pub took: Duration,
    command: String,
}

impl Output {
    /// The result of a program inside a virtual machine; `exit` as a shell counts it.
    pub(crate) fn remote(
        command: String,
        exit: u8,
        [stdout, stderr]: [String; 2],
        took: Duration,
    ) -> Self {
        let status = ExitStatus::from_raw(i32::from(exit) << 8);
        Self { status, stdout, stderr, took, command }
    }

    /// Returns itself, if the program ended with this exit code.
    ///
    /// # Panics
    /// With all that it wrote, if not.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.status.code(), Some(code), "{self}");
        self
    }

    /// Returns itself, if the standard output has this text.
    ///
    /// # Panics
    /// With all that it wrote, if not.
    #[track_caller]
    pub fn says(self, text: &str) -> Self {
        assert!(self.stdout.contains(text), "{text} in {self}");
        self
    }

    /// Returns itself, if the standard error has this text.
    ///
    /// # Panics
    /// With all that it wrote, if not.
    #[track_caller]
    pub fn reports(self, text: &str) -> Self {
        assert!(self.stderr.contains(text), "{text} in {self}");
        self
    }

    /// The standard output as JSON.
    ///
    /// # Panics
    /// With all that the program wrote, if it is none.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        let json = serde_json::from_str(&self.stdout);
        assert!(json.is_ok(), "{self}");
        json.unwrap_or_default()
    }

    /// The standard output without surrounding white space, if the program succeeded.
    ///
    /// # Errors
    /// [`Error::Failed`] if it did not.
    pub fn success(self) -> Result<String> {
        if self.status.success() {
            return Ok(self.stdout.trim().to_owned());
        }
        Err(Error::Failed {
            command: self.command,
            status: self.status.to_string(),
            stderr: [self.stdout, self.stderr].concat(),
        })
    }
}

impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}\n{}{}", self.command, self.status, self.stdout, self.stderr)
    }
}

/// Runs `command` to its end, or kills it when `limit` is over.
pub(crate) fn run(command: &mut Command, limit: Duration) -> Result<Output> {
    run_with_input(command, limit, "")
}

/// Runs `command` like [`run`], with `input` (at most what a pipe holds) on its standard input.
pub(crate) fn run_with_input(
    command: &mut Command,
    limit: Duration,
    input: &str,
) -> Result<Output> {
    let line = line_of(command);
    let start = Instant::now();
    command.stdin(if input.is_empty() { Stdio::null() } else { Stdio::piped() });
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|source| Error::Spawn { program: line.clone(), source })?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program that does not read its input reports the reason itself.
        let _ = stdin.write_all(input.as_bytes());
    }
    let pid = pid_of(&child);
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(child.wait_with_output()));
    match receiver.recv_timeout(limit) {
        Ok(Ok(output)) => Ok(Output {
            status: output.status,
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            took: start.elapsed(),
            command: line,
        }),
        Ok(Err(source)) => Err(Error::Spawn { program: line, source }),
        Err(_) => {
            // The waiting thread has not reaped it, so the id is still its own.
            let _ = kill(pid, Signal::SIGKILL);
            Err(Error::Timeout { what: format!("the end of `{line}`"), after: limit })
        }
    }
}

/// Runs a program that is expected to succeed at once.
pub(crate) fn quick(program: &str, arguments: &[&str]) -> Result<String> {
    run(Command::new(program).args(arguments), Duration::from_secs(10))?.success()
}

/// Calls `probe` until it returns a value; for state without events.
pub(crate) fn wait_for<T>(
    what: &str,
    limit: Duration,
    probe: impl FnMut() -> Result<Option<T>>,
) -> Result<T> {
    wait_every(POLL..=POLL, what, limit, probe)
}

/// Calls an expensive `probe` until it returns a value: the interval doubles from its start to its end.
pub(crate) fn wait_every<T>(
    interval: RangeInclusive<Duration>,
    what: &str,
    limit: Duration,
    mut probe: impl FnMut() -> Result<Option<T>>,
) -> Result<T> {
    let start = Instant::now();
    let (mut pause, longest) = interval.into_inner();
    loop {
        if let Some(value) = probe()? {
            return Ok(value);
        }
        if start.elapsed() >= limit {
            return Err(Error::Timeout { what: what.to_owned(), after: start.elapsed() });
        }
        thread::sleep(pause);
        pause = longest.min(2 * pause);
    }
}

/// The process id as `nix` has it.
pub(crate) fn pid_of(child: &std::process::Child) -> Pid {
    // Process ids fit: PID_MAX_LIMIT is 2^22.
    Pid::from_raw(i32::try_from(child.id()).unwrap_or(i32::MAX))
}

fn line_of(command: &Command) -> String {
    let mut line = command.get_program().to_string_lossy().into_owned();
    for argument in command.get_args() {
        line.push(' ');
        line.push_str(&argument.to_string_lossy());
    }
    line
}
