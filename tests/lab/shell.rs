//! A shell in a node of the lab.

use std::{
    env,
    io::Write,
    path::{Path, PathBuf},
    process::ExitCode,
    time::{Duration, Instant},
};

use nix::{
    errno::Errno,
    sys::{
        signal::{Signal, kill},
        wait::{WaitPidFlag, WaitStatus, waitpid},
    },
    unistd::Pid,
};
use tests::lab::{Case, Error, Lab, Nic, Node, Peer};

/// Bound on the wait for the end of the start-up; 2 s is usual.
const START: Duration = Duration::from_secs(20);

/// Bound on a shutdown: systemd's own for a unit that does not stop, and some more.
const END: Duration = Duration::from_secs(120);

/// Jobs and journal of a start-up that does not end.
const SHOWN: &str = "systemctl list-jobs --no-pager --no-legend; \
                     journalctl --boot --no-pager --output=short-monotonic --lines=30";

const HELP: &str = "\
usage: tests/lab/shell [--program PATH]... [--tree DIR]... [--peer] [-- COMMAND...]

Boots worker-0 with the cards eno1 (static, 192.0.2.10) and eno2 (unplugged), and
runs a shell in it. The gateway is 192.0.2.1 with DNS and DHCP, the API
198.51.100.10:6443 (api.lab.test). Everything is gone after the shell. A start-up
that does not end within 20 s is told with the journal's end, and the shell comes all
the same; after `systemctl reboot` it comes again.

  --program PATH   put a program into the node's /usr/bin
  --tree DIR       lay the files below DIR over the node's /
  --peer           the shell is in the peer's network namespace, on the host
  -- COMMAND...    run this instead of a shell
";

const STATIC: &str = "\
[connection]
id=eno1
type=ethernet
interface-name=eno1

[ipv4]
method=manual
address1=192.0.2.10/24,192.0.2.1
dns=192.0.2.1;

[ipv6]
method=manual
address1=2001:db8::10/64,2001:db8::1
";

struct Arguments {
    programs: Vec<PathBuf>,
    trees: Vec<PathBuf>,
    peer: bool,
    command: Vec<String>,
}

fn main() -> ExitCode {
    let Some(arguments) = parse(env::args().skip(1)) else {
        let _ = std::io::stderr().write_all(HELP.as_bytes());
        return ExitCode::from(2);
    };
    match shell(&arguments) {
        Ok(code) => code,
        Err(e) => {
            let _ = writeln!(std::io::stderr(), "lab-shell: {e:?}");
            ExitCode::FAILURE
        }
    }
}

fn parse(mut words: impl Iterator<Item = String>) -> Option<Arguments> {
    let mut arguments =
        Arguments { programs: vec![], trees: vec![], peer: false, command: vec!["bash".into()] };
    while let Some(word) = words.next() {
        match word.as_str() {
            "--program" => arguments.programs.push(words.next()?.into()),
            "--tree" => arguments.trees.push(words.next()?.into()),
            "--peer" => arguments.peer = true,
            "--" => arguments.command = words.by_ref().collect(),
            _ => return None,
        }
    }
    (!arguments.command.is_empty()).then_some(arguments)
}

fn shell(arguments: &Arguments) -> Result<ExitCode, Error> {
    let lab = Lab::open()?;
    let mut node = Node::new("worker-0")
        .nic(Nic::new("eno1", "52:54:00:00:00:01"))
        .nic(Nic::new("eno2", "52:54:00:00:00:02").without_carrier())
        .keyfile("eno1", STATIC);
    node = arguments.trees.iter().fold(node, Node::tree);
    node =
        arguments.programs.iter().fold(node, |node, path: &PathBuf| node.program(Path::new(path)));
    let mut case = lab.case(node, &Peer::new().dhcp().router_advertisements())?;
    case.power_on()?;
    let status = loop {
        started(&mut case)?;
        let status = run(&case, arguments)?;
        if arguments.peer || !goes_down(&case) {
            break status;
        }
        say("the node goes down");
        if !case.follow(END)? {
            say("it has powered itself off");
            break status;
        }
    };
    drop(case);
    lab.check_clean()?;
    Ok(ExitCode::from(status))
}

/// The shell is wanted most where the start-up does not end: a document that does not hold keeps its unit at work, and kubelet
/// waits.
fn started(case: &mut Case<'_>) -> Result<(), Error> {
    let start = Instant::now();
    match case.wait_started(START) {
        Ok(()) => say(&format!("booted in {:.1} s", start.elapsed().as_secs_f32())),
        Err(Error::Timeout { .. }) => {
            say(&format!(
                "the start-up has not ended in {} s; jobs, and the journal's end:",
                START.as_secs()
            ));
            let shown = case.inside()?.run(&["sh", "-c", SHOWN])?;
            let _ = std::io::stderr().write_all(shown.stdout.as_bytes());
            say("`journalctl --boot --follow` goes on");
        }
        Err(other) => return Err(other),
    }
    Ok(())
}

/// Runs the shell to its end. A shutdown stops every process of the node for a moment, and nsenter, which then stops itself, would
/// never see that its shell is gone: the node's PID 1 waits for that.
fn run(case: &Case<'_>, arguments: &Arguments) -> Result<u8, Error> {
    let (program, words) = (&arguments.command[0], &arguments.command[1..]);
    let mut command = if arguments.peer {
        case.peer().command(program)
    } else {
        case.inside()?.command(program)?
    };
    let failed = |source| Error::Spawn { program: program.clone(), source };
    let child = command.args(words).spawn().map_err(failed)?;
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap_or(i32::MAX));
    loop {
        match waitpid(pid, Some(WaitPidFlag::WUNTRACED)) {
            Ok(WaitStatus::Exited(_, code)) => return Ok(u8::try_from(code).unwrap_or(1)),
            Ok(WaitStatus::Signaled(..)) => return Ok(1),
            Ok(WaitStatus::Stopped(..)) => {
                kill(pid, Signal::SIGCONT).map_err(|source| failed(source.into()))?;
            }
            Ok(_) | Err(Errno::EINTR) => {}
            Err(source) => return Err(failed(source.into())),
        }
    }
}

/// Whether the shell ended with the node, and not because its user left.
fn goes_down(case: &Case<'_>) -> bool {
    let state = case.inside().and_then(|inside| inside.run(&["systemctl", "is-system-running"]));
    let up = ["initializing", "starting", "running", "degraded", "maintenance"];
    !state.is_ok_and(|output| up.contains(&output.stdout.trim()))
}

fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "lab-shell: {text}");
}
