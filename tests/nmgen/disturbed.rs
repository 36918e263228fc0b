//! Every command that writes, disturbed at random moments and by a full disk: the next run leaves what an undisturbed one leaves,
//! and what others have there.

#![allow(clippy::print_stdout, reason = "the seed is for whoever repeats a run")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use proptest::prelude::Rng as _;
use proptest::test_runner::{RngAlgorithm, TestRng};
use tests::machine::{DEFAULT_PROFILE, EARLY, Machine};
use tests::{fleet, program, skip};

/// What a process can write.
#[derive(Clone, Copy)]
enum Space {
    Enough,
    /// So many blocks of 512 bytes in a file.
    InAFile(u32),
    /// So many KiB on the whole disk, beside what is there.
    OnTheDisk(u32),
}

/// Runs a command in a copy of its directory on a disk with so much space, and takes over what it leaves: directory, KiB, command.
const ON_A_DISK: &str = r#"
place=$1 space=$2 disk=$(mktemp -d); shift 2
trap 'umount "$disk"; rmdir "$disk"' EXIT
set -e
mount -t tmpfs -o mode=0700 tmpfs "$disk"
cp -a "$place/." "$disk"
cd "$disk"
mount -o "remount,size=$(($(df --output=used -k . | tail -n 1) + space))k" "$disk"
code=0; "$@" || code=$?
find "$place" -mindepth 1 -delete
cp -a . "$place"
cd /
exit $code
"#;

/// A command that writes, in a directory that is made ready for it.
struct Writer {
    /// Its words; the first one is the program.
    command: &'static [&'static str],
    prepare: fn(&Path),
    /// Directories with files of others.
    shared: &'static [&'static str],
    /// The file that it replaces: the old one or the new one is there, at any moment.
    replaced: Option<&'static str>,
    /// What comes before the next run.
    again: fn(&Path),
}

const WRITERS: &[Writer] = &[
    Writer {
        command: &["nmgen", "generate", "-o", "out", "agent-config.yaml"],
        prepare: hosts,
        shared: &["out", "out/worker-3"],
        replaced: None,
        again: |_| {},
    },
    Writer {
        command: &[
            "nmgen",
            "generate",
            "--to",
            "machine-config",
            "--role",
            "worker",
            "-o",
            "out",
            "agent-config.yaml",
        ],
        prepare: hosts,
        shared: &["out"],
        replaced: None,
        again: |_| {},
    },
    of_a_file(&["nmgen", "generate", "--to", "initrd", "-o", "out/a", "agent-config.yaml"]),
    of_a_file(&["nmgen", "generate", "--to", "bmh-secret", "-o", "out/a", "agent-config.yaml"]),
    Writer {
        command: &["nmgen", "boot", "--root", "root"],
        prepare: early,
        shared: &["root/run/NetworkManager/system-connections"],
        replaced: None,
        again: |_| {},
    },
    Writer {
        command: &["nmgen", "boot", "--persist", "--root", "root"],
        prepare: booted,
        shared: &["root/sysroot/etc/NetworkManager/system-connections"],
        replaced: None,
        // Without space the profiles are for this boot alone.
        again: next_boot,
    },
    Writer {
        command: &["nmgen", "boot", "--live", "--root", "root"],
        prepare: live,
        shared: &["root/etc/NetworkManager/system-connections"],
        replaced: None,
        again: |_| {},
    },
    Writer { prepare: node, ..of_a_file(&["dayone", "--root", "root", "collect", "-o", "out/a"]) },
];

const fn of_a_file(command: &'static [&'static str]) -> Writer {
    Writer { command, prepare: hosts, shared: &["out"], replaced: Some("out/a"), again: |_| {} }
}

const DOCUMENT: &str = "interfaces:\n- {name: ens3, type: ethernet, state: up}\n";

/// Names that are not the programs' own, however alike.
const OF_OTHERS: &[&str] =
    &[".others.7", "a.nmgen", ".a.nmgen", "other.nmconnection", ".dayone", "a~"];

fn hosts(place: &Path) {
    let document = |_| "interfaces:\n- {name: eno1, type: ethernet, state: up}\n".to_owned();
    let config = fleet::agent_config_of(30, document);
    fs::write(place.join("agent-config.yaml"), config).unwrap();
}

fn machine(place: &Path, machine: &Machine) {
    let copied = Command::new("cp").arg("-a").args([machine.path(""), place.join("root")]).status();
    assert!(copied.unwrap().success());
}

fn early(place: &Path) {
    machine(place, &Machine::with_card().host("cluster", DOCUMENT));
}

fn booted(place: &Path) {
    let booted = Machine::with_card().host("cluster", DOCUMENT);
    booted.boot();
    machine(place, &booted);
}

fn next_boot(place: &Path) {
    let root = place.join("root");
    fs::remove_dir_all(root.join("run")).unwrap();
    let profiles = root.join(EARLY);
    fs::create_dir_all(&profiles).unwrap();
    fs::write(profiles.join("default_connection.nmconnection"), DEFAULT_PROFILE).unwrap();
    let booted = Command::new(program::nmgen()).args(["boot", "--root"]).arg(&root).status();
    assert!(booted.unwrap().success());
}

fn live(place: &Path) {
    let live = Machine::live().card("ens3", "52:54:00:00:00:01");
    machine(place, &live.host("cluster", DOCUMENT));
}

fn node(place: &Path) {
    early(place);
    let documents = place.join("root/etc/nmstate/openshift");
    fs::create_dir_all(&documents).unwrap();
    fs::write(documents.join("worker-0.yml"), DOCUMENT).unwrap();
}

impl Writer {
    fn place(&self) -> tempfile::TempDir {
        let place = tempfile::tempdir().unwrap();
        (self.prepare)(place.path());
        for directory in self.shared {
            let directory = place.path().join(directory);
            fs::create_dir_all(&directory).unwrap();
            OF_OTHERS.iter().for_each(|name| fs::write(directory.join(name), "others'").unwrap());
        }
        self.replaced
            .into_iter()
            .for_each(|path| fs::write(place.path().join(path), "old").unwrap());
        place
    }

    fn run(&self, place: &Path, space: Space) -> Command {
        let program =
            if self.command[0] == "dayone" { program::dayone() } else { program::nmgen() };
        let mut command = match space {
            Space::Enough => Command::new(program),
            Space::InAFile(blocks) => {
                let mut shell = Command::new("sh");
                shell
                    .args(["-c", &format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"")]);
                shell.arg(program);
                shell
            }
            Space::OnTheDisk(space) => {
                let mut namespace = Command::new("unshare");
                namespace.args([
                    "--mount",
                    "--propagation",
                    "private",
                    "sh",
                    "-c",
                    ON_A_DISK,
                    "sh",
                ]);
                namespace.arg(place).arg(space.to_string()).arg(program);
                namespace
            }
        };
        command.args(&self.command[1..]).current_dir(place);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// Returns what an undisturbed run leaves, and how long it takes.
    fn undisturbed(&self) -> (BTreeMap<String, u32>, Duration) {
        let place = self.place();
        let start = Instant::now();
        let status = self.run(place.path(), Space::Enough).status().unwrap();
        assert!(status.success(), "{:?}: {status}", self.command);
        let length = start.elapsed();
        // A second run may have more than the first one, such as a mark that it was there.
        (self.again)(place.path());
        assert!(self.run(place.path(), Space::Enough).status().unwrap().success());
        (tree(place.path()), length)
    }

    /// The faults of a place after a disturbance, and after the next run.
    fn faults(&self, place: &Path, expected: &BTreeMap<String, u32>, what: &str) -> Vec<String> {
        let mut faults = Vec::new();
        let mut fault =
            |text: String| faults.push(format!("{}, {what}: {text}", self.command.join(" ")));
        let text = self.replaced.map(|path| fs::read(place.join(path)).unwrap_or_default());
        if let Some(text) = text.filter(|text| text.len() < 100 && text != b"old") {
            fault(format!("neither the old file nor the new one: {}", text.escape_ascii()));
        }
        (self.again)(place);
        if !self.run(place, Space::Enough).status().unwrap().success() {
            fault("the next run fails".to_owned());
        }
        let found = tree(place);
        let (left, gone): (Vec<_>, Vec<_>) = (
            found.keys().filter(|path| !expected.contains_key(*path)).collect(),
            expected.keys().filter(|path| !found.contains_key(*path)).collect(),
        );
        if !left.is_empty() || !gone.is_empty() {
            fault(format!("{left:?} is left, {gone:?} is gone"));
        }
        for directory in self.shared {
            for name in OF_OTHERS {
                let text = fs::read_to_string(place.join(directory).join(name)).unwrap_or_default();
                if text != "others'" {
                    fault(format!("{directory}/{name} has changed"));
                }
            }
        }
        faults
    }
}

/// Every path below, with its mode.
fn tree(directory: &Path) -> BTreeMap<String, u32> {
    let mut found = BTreeMap::new();
    let mut open = vec![directory.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            let metadata = fs::symlink_metadata(&path).unwrap();
            let name = path.strip_prefix(directory).unwrap().to_string_lossy().into_owned();
            found.insert(name, metadata.permissions().mode() & 0o7777);
            if metadata.is_dir() {
                open.push(path);
            }
        }
    }
    found
}

#[tests::case]
fn a_disturbed_write_leaves_nothing_behind_the_next_run() {
    let asked = std::env::var("SEED").ok().and_then(|seed| seed.parse().ok());
    let seed: u64 = asked.unwrap_or(1);
    println!("SEED={seed}");
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let mut random = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut faults = Vec::new();
    for writer in WRITERS {
        let (expected, length) = writer.undisturbed();
        let place = writer.place();
        for turn in 0..6 {
            let signal = if turn % 2 == 0 { Signal::SIGKILL } else { Signal::SIGTERM };
            let mut call = writer.run(place.path(), Space::Enough).spawn().unwrap();
            std::thread::sleep(Duration::from_secs_f64(
                length.as_secs_f64() * f64::from(random.next_u32() % 1000) / 1000.0,
            ));
            kill(Pid::from_raw(call.id().try_into().unwrap()), signal).unwrap();
            call.wait().unwrap();
        }
        faults.extend(writer.faults(place.path(), &expected, "killed"));
        let place = writer.place();
        for blocks in [0, 1, 4, 64] {
            writer.run(place.path(), Space::InAFile(blocks)).status().unwrap();
        }
        faults.extend(writer.faults(place.path(), &expected, "with a limit of a file's size"));
    }
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}

#[tests::case]
fn a_full_disk_leaves_nothing_behind_the_next_run() {
    skip::unless_root("mounts a disk of its own");
    let mut faults = Vec::new();
    for writer in WRITERS {
        let (expected, _) = writer.undisturbed();
        let place = writer.place();
        if !writer.run(place.path(), Space::OnTheDisk(16 << 10)).status().unwrap().success() {
            skip::part("no disk can be mounted here");
        }
        let place = writer.place();
        for space in [0, 4, 16, 64] {
            writer.run(place.path(), Space::OnTheDisk(space)).status().unwrap();
        }
        faults.extend(writer.faults(place.path(), &expected, "on a full disk"));
    }
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}
