//! Actions and observations inside a running node.

use std::{
    fs,
    io::{BufRead, BufReader},
    ops::RangeInclusive,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use nix::unistd::Pid;
use serde_json::{Map, Value};

use super::{
    command::{Output, POLL, run_with_input, wait_every},
    error::{Error, Result},
    vm::GuestAgent,
};

/// The inside of a running node.
#[derive(Debug, Clone)]
pub struct Inside {
    way: Way,
}

/// The way of commands into a node.
#[derive(Debug, Clone)]
enum Way {
    /// The namespaces of a container's PID 1.
    Namespaces(Pid),
    /// The agent in a virtual machine.
    Agent(GuestAgent),
}

/// State of a unit, from systemd.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    /// `active`, `inactive`, `activating`, `failed` …
    pub active_state: String,
    /// `running`, `exited`, `auto-restart` …
    pub sub_state: String,
    /// `success`, `exit-code`, `timeout` …
    pub result: String,
    /// Exit status of the main process; also 0 while it runs.
    pub exit_status: i32,
    /// Start of its main process, on the host's monotonic clock; `None` if it never started.
    pub exec_start: Option<Duration>,
    /// Time when the unit became active, on the same clock.
    pub active_enter: Option<Duration>,
}

/// One entry of the journal.
#[derive(Debug, Clone)]
pub struct Entry(Map<String, Value>);

impl Entry {
    /// A field, such as `MESSAGE_ID`. Binary fields read as absent.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(Value::as_str)
    }

    /// The message.
    pub fn message(&self) -> &str {
        self.field("MESSAGE").unwrap_or_default()
    }

    /// Time since the kernel's start.
    pub fn moment(&self) -> Option<Duration> {
        let microseconds = self.field("__MONOTONIC_TIMESTAMP")?.parse().ok()?;
        Some(Duration::from_micros(microseconds))
    }

    fn parse(line: &str) -> Result<Self> {
        serde_json::from_str(line)
            .map(Self)
            .map_err(|e| Error::Output { program: "journalctl", problem: e.to_string() })
    }
}

impl Inside {
    pub(crate) fn container(leader: Pid) -> Self {
        Self { way: Way::Namespaces(leader) }
    }

    pub(crate) fn virtual_machine(agent: GuestAgent) -> Self {
        Self { way: Way::Agent(agent) }
    }

    /// A command in a container, as root, with a login's environment and nothing of the host's.
    ///
    /// # Errors
    /// [`Error::OnlyInContainers`]: a program in a virtual machine is not a process of the host.
    pub fn command(&self, program: &str) -> Result<Command> {
        let Way::Namespaces(leader) = self.way else { return Err(Error::OnlyInContainers) };
        let mut command = Command::new("nsenter");
        command
            .env_clear()
            .env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
            .envs([("HOME", "/root"), ("LANG", "C.UTF-8"), ("TERM", "linux")])
            .arg(format!("--target={leader}"))
            .args(["--mount", "--uts", "--ipc", "--net", "--pid", "--cgroup", "--root", "--wd"])
            .arg("--")
            .arg(program);
        Ok(command)
    }

    /// Runs a command to its end, for at most 30 s, or five minutes in a virtual machine, where printing a long journal takes that
    /// much longer.
    ///
    /// # Errors
    /// If it cannot be started or takes longer. The exit status is in the [`Output`].
    pub fn run(&self, command: &[&str]) -> Result<Output> {
        let limit = match self.way {
            Way::Namespaces(_) => 30,
            Way::Agent(_) => 300,
        };
        self.run_within(command, Duration::from_secs(limit))
    }

    /// Runs a command to its end, within another bound.
    pub fn run_within(&self, command: &[&str], limit: Duration) -> Result<Output> {
        self.run_with_input(command, limit, "")
    }

    fn run_with_input(&self, command: &[&str], limit: Duration, input: &str) -> Result<Output> {
        let (program, arguments) = command.split_first().unwrap_or((&"true", &[]));
        match &self.way {
            Way::Namespaces(_) => {
                run_with_input(self.command(program)?.args(arguments), limit, input)
            }
            Way::Agent(agent) => agent.run(program, arguments, limit, input),
        }
    }

    /// Output of a shell command that must succeed.
    pub fn sh(&self, command: &str) -> Result<String> {
        self.run(&["sh", "-euc", command])?.success()
    }

    /// Content of a file, `None` if it does not exist.
    pub fn read(&self, path: &str) -> Result<Option<String>> {
        let output =
            self.run(&["sh", "-c", "[ -e \"$0\" ] || exit 66; exec cat -- \"$0\"", path])?;
        if output.status.code() == Some(66) {
            return Ok(None);
        }
        // Not with success(), which trims.
        if output.status.success() { Ok(Some(output.stdout)) } else { output.success().map(Some) }
    }

    /// Writes a small file (at most 64 KiB), mode 0644 if it is new.
    pub fn write(&self, path: &str, content: &str) -> Result<()> {
        let command = ["sh", "-euc", "mkdir -p -- \"${0%/*}\"; cat >\"$0\"", path];
        self.run_with_input(&command, Duration::from_secs(10), content)?.success()?;
        Ok(())
    }

    /// State of a unit.
    pub fn unit(&self, name: &str) -> Result<Unit> {
        let properties = "--property=ActiveState,SubState,Result,ExecMainStatus,\
                          ExecMainStartTimestampMonotonic,ActiveEnterTimestampMonotonic";
        let text = self.run(&["systemctl", "show", properties, name])?.success()?;
        let value = |key: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
            line.unwrap_or_default().to_owned()
        };
        // systemd prints 0 for never.
        let time = |key| value(key).parse().ok().filter(|t| *t != 0).map(Duration::from_micros);
        Ok(Unit {
            active_state: value("ActiveState"),
            sub_state: value("SubState"),
            result: value("Result"),
            exit_status: value("ExecMainStatus").parse().unwrap_or_default(),
            exec_start: time("ExecMainStartTimestampMonotonic"),
            active_enter: time("ActiveEnterTimestampMonotonic"),
        })
    }

    /// Interval of queries without an event. Each takes processor time: a third of a core in a container if they follow each other
    /// at [`POLL`], and in a virtual machine the machine's own.
    fn poll(&self) -> RangeInclusive<Duration> {
        match self.way {
            Way::Namespaces(_) => POLL..=Duration::from_millis(200),
            Way::Agent(_) => Duration::from_secs(1)..=Duration::from_secs(1),
        }
    }

    /// Waits until a unit is in this active state, such as `failed`.
    pub fn wait_unit(&self, name: &str, active_state: &str, limit: Duration) -> Result<Unit> {
        wait_every(self.poll(), &format!("{name} to be {active_state}"), limit, || {
            Ok(Some(self.unit(name)?).filter(|unit| unit.active_state == active_state))
        })
    }

    /// Waits until a shell command succeeds and returns its output.
    pub fn wait_sh(&self, command: &str, limit: Duration) -> Result<String> {
        wait_every(self.poll(), &format!("`{command}` to succeed in the node"), limit, || {
            let output = self.run(&["sh", "-euc", command])?;
            Ok(output.status.success().then(|| output.stdout.trim().to_owned()))
        })
    }

    /// Kills a unit's processes with SIGKILL.
    pub fn kill(&self, unit: &str) -> Result<()> {
        self.run(&["systemctl", "kill", "--signal=KILL", unit])?.success()?;
        Ok(())
    }

    /// A container's root directory, as the host sees it.
    ///
    /// # Errors
    /// [`Error::OnlyInContainers`].
    pub fn root(&self) -> Result<PathBuf> {
        let Way::Namespaces(leader) = self.way else { return Err(Error::OnlyInContainers) };
        Ok(format!("/proc/{leader}/root").into())
    }

    /// The host's id of a unit's main process.
    ///
    /// # Errors
    /// [`Error::OnlyInContainers`], or if the unit has none.
    pub fn process(&self, unit: &str) -> Result<u32> {
        let Way::Namespaces(leader) = self.way else { return Err(Error::OnlyInContainers) };
        let inner = self.sh(&format!("systemctl show --property=MainPID --value {unit}"))?;
        let namespace = |pid: &str| fs::read_link(format!("/proc/{pid}/ns/pid")).ok();
        let node = namespace(&leader.to_string());
        let is_it = |pid: &&str| {
            let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
            let ids = status.lines().find_map(|line| line.strip_prefix("NSpid:"));
            ids.and_then(|ids| ids.split_whitespace().last()) == Some(inner.trim())
                && namespace(pid) == node
        };
        let all = fs::read_dir("/proc").map_err(Error::file("list", Path::new("/proc")))?;
        let names = all.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
        let found = names.filter(|name| name.parse::<u32>().is_ok()).find(|name| is_it(&&**name));
        let problem = format!("{unit} has no main process");
        let missing = || Error::Output { program: "systemctl", problem };
        found.and_then(|pid| pid.parse().ok()).ok_or_else(missing)
    }

    /// This boot's entries that match journalctl's arguments (`FIELD=value`, `--unit=`).
    pub fn journal(&self, matches: &[&str]) -> Result<Vec<Entry>> {
        let command = ["journalctl", "--boot", "--output=json", "--no-pager", "--quiet", "--all"];
        let output = self.run(&[&command, matches].concat())?;
        // Without a match journalctl prints nothing and fails.
        output.stdout.lines().map(Entry::parse).collect()
    }

    /// The last lines of this boot's journal, or why there are none: what a wait in vain shows.
    fn end_of_journal(&self) -> String {
        const END: &str = "journalctl --boot --no-pager --output=short-monotonic --lines=200";
        self.sh(END).unwrap_or_else(|e| e.to_string())
    }

    /// Waits as [`Self::wait_journal`] does, for an entry whose message has this text.
    pub fn wait_message(&self, matches: &[&str], limit: Duration, text: &str) -> Result<Entry> {
        self.wait_journal(matches, limit, |entry| entry.message().contains(text))
    }

    /// Waits for an entry, past or future, that matches and satisfies `wanted`; in a container it returns as soon as the entry is
    /// written.
    pub fn wait_journal(
        &self,
        matches: &[&str],
        limit: Duration,
        wanted: impl Fn(&Entry) -> bool,
    ) -> Result<Entry> {
        let what = format!("a journal entry with {}", matches.join(" "));
        if matches!(self.way, Way::Agent(_)) {
            return wait_every(self.poll(), &what, limit, || {
                Ok(self.journal(matches)?.into_iter().find(&wanted))
            });
        }
        let start = Instant::now();
        let mut follow = self
            .command("journalctl")?
            .args(["--boot", "--follow", "--lines=all", "--output=json", "--quiet", "--all"])
            .args(matches)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|source| Error::Spawn { program: "journalctl".into(), source })?;
        let (sender, lines) = mpsc::channel();
        if let Some(output) = follow.stdout.take() {
            thread::spawn(move || {
                let all = BufReader::new(output).lines().map_while(std::result::Result::ok);
                for line in all {
                    if sender.send(line).is_err() {
                        break;
                    }
                }
            });
        }
        let found = loop {
            match lines.recv_timeout(limit.saturating_sub(start.elapsed())) {
                Ok(line) => match Entry::parse(&line) {
                    Ok(entry) if wanted(&entry) => break Ok(entry),
                    Ok(_) => {}
                    Err(e) => break Err(e),
                },
                Err(_) => {
                    let after = start.elapsed();
                    break Err(Error::Timeout {
                        what: format!("{what}\n{}", self.end_of_journal()),
                        after,
                    });
                }
            }
        };
        // The program behind nsenter is in the node's PID namespace and ends with its pipe or with the node.
        let _ = follow.kill();
        let _ = follow.wait();
        found
    }
}
