//! A shell in a node of the lab.

use std::{
    env,
    io::Write,
    path::{Path, PathBuf},
    process::ExitCode,
};

use tests::lab::{Error, Lab, Nic, Node, Peer};

const HELP: &str = "\
usage: tests/lab/shell [--program PATH]... [--tree DIR]... [--peer] [-- COMMAND...]

Boots worker-0 with the cards eno1 (static, 192.0.2.10) and eno2 (unplugged), and
runs a shell in it. The gateway is 192.0.2.1 with DNS and DHCP, the API
198.51.100.10:6443 (api.lab.test). Everything is gone after the shell.

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
    let took = case.boot()?;
    let _ = writeln!(std::io::stderr(), "lab-shell: booted in {:.1} s", took.as_secs_f32());
    let (program, words) = (&arguments.command[0], &arguments.command[1..]);
    let mut command = if arguments.peer {
        case.peer().command(program)
    } else {
        case.inside()?.command(program)?
    };
    let status = command
        .args(words)
        .status()
        .map_err(|source| Error::Spawn { program: program.clone(), source })?;
    drop(case);
    lab.check_clean()?;
    Ok(ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)))
}
