//! `generate -o` writes what the library converts, only below its target, for its owner only, and leaves no temporary files.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Output};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tempfile::TempDir;
use tests::{
    crash::{
        Fault,
        campaign::{self, Judge, Shared},
        operations::Recording,
        states::State,
        trace::Trace,
        tree::Tree,
    },
    documents, fleet,
    program::{self, Exits as _},
    skip,
};

const DOCUMENT: &str = "\
hostname: {config: worker-0}
interfaces:
- {name: eth0, type: ethernet, state: up, mac-address: 52:54:00:12:34:01, alt-names: [{name: uplink}]}
- {name: eth1, type: ethernet, state: up}
";
const FILES: [&str; 4] =
    ["eth0.nmconnection", "eth1.nmconnection", "etc/hostname", "etc/systemd/network/70-eth0.link"];

/// A directory with the document, and beside it files that must not change.
struct Place {
    directory: TempDir,
}

impl Place {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("state.yml"), DOCUMENT).unwrap();
        fs::create_dir(directory.path().join("elsewhere")).unwrap();
        fs::write(directory.path().join("elsewhere/file"), "untouched").unwrap();
        Self { directory }
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.directory.path().join(name)
    }

    fn generate(&self) -> Output {
        program::nmgen_in(self.directory.path(), &["generate", "-o", "target", "state.yml"])
    }

    fn assert_elsewhere_untouched(&self) {
        let found = tree(&self.path("elsewhere"));
        assert_eq!(found.keys().collect::<Vec<_>>(), ["file"]);
        assert_eq!(fs::read_to_string(self.path("elsewhere/file")).unwrap(), "untouched");
    }
}

/// Every file and directory below, with its mode; links are not followed.
fn tree(directory: &Path) -> BTreeMap<String, u32> {
    let mut found = BTreeMap::new();
    let mut open = vec![directory.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            let metadata = fs::symlink_metadata(&path).unwrap();
            let name = path.strip_prefix(directory).unwrap().to_str().unwrap().to_owned();
            found.insert(name, metadata.permissions().mode() & 0o7777);
            if metadata.is_dir() {
                open.push(path);
            }
        }
    }
    found
}

#[tests::case]
fn every_fixture_is_written_as_this_host_converts_it() {
    let place = tempfile::tempdir().unwrap();
    let (hosts, target) = (place.path().join("hosts"), place.path().join("target"));
    fs::create_dir(&hosts).unwrap();
    let mut expected = BTreeMap::new();
    for (number, mut document) in documents::fixtures().into_iter().enumerate() {
        // No two hosts have one MAC address.
        document.text =
            document.text.replace("52:54:00:12:34:", &format!("52:54:00:13:{number:02x}:"));
        let converted = document.convert();
        // Some have settings that no profile can carry.
        if converted.has_errors() {
            continue;
        }
        fs::write(hosts.join(&document.name), &document.text).unwrap();
        let host = document.name.trim_end_matches(".yml");
        for (file, text) in documents::files(&converted) {
            expected.insert(format!("{host}/{}", file.path()), text);
        }
    }
    // One call: an emulator of another architecture takes half a second for each.
    let mut command = Command::new(program::nmgen());
    command.args(["generate", "-o"]).args([&target, &hosts]).output().unwrap().exits(0);
    let paths = tree(&target).into_keys().filter(|path| target.join(path).is_file());
    let written = paths.map(|path| {
        let text = fs::read_to_string(target.join(&path)).unwrap();
        (path, text)
    });
    assert_eq!(written.collect::<BTreeMap<_, _>>(), expected);
    assert!(expected.len() > 50, "{} files", expected.len());
}

#[tests::case]
fn files_and_directories_are_for_their_owner_only() {
    let place = Place::new();
    place.generate().exits(0);
    let found = tree(&place.path("target"));
    let files: Vec<&String> =
        found.iter().filter(|(_, mode)| **mode == 0o600).map(|f| f.0).collect();
    let mut expected = FILES;
    expected.sort_unstable();
    assert_eq!(files, expected);
    let directories: Vec<&String> =
        found.iter().filter(|(_, mode)| **mode == 0o700).map(|f| f.0).collect();
    assert_eq!(directories, ["etc", "etc/systemd", "etc/systemd/network"]);
    assert_eq!(found.len(), files.len() + directories.len(), "nothing else, no temporary file");
    let target = fs::metadata(place.path("target")).unwrap();
    assert_eq!(target.permissions().mode() & 0o7777, 0o700);
}

#[tests::case]
fn a_second_run_replaces_the_files_and_leaves_nothing_behind() {
    let place = Place::new();
    place.generate().exits(0);
    let first = tree(&place.path("target"));
    fs::write(place.path("target/eth1.nmconnection"), "old").unwrap();
    fs::set_permissions(place.path("target/eth1.nmconnection"), fs::Permissions::from_mode(0o644))
        .unwrap();
    place.generate().exits(0);
    assert_eq!(tree(&place.path("target")), first);
    assert_ne!(fs::read_to_string(place.path("target/eth1.nmconnection")).unwrap(), "old");
}

#[tests::case]
fn a_link_in_place_of_a_file_is_replaced_and_not_followed() {
    for file in FILES {
        let place = Place::new();
        let path = place.path("target").join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(place.path("elsewhere/file"), &path).unwrap();
        assert!(place.generate().status.success(), "{file}");
        assert!(fs::symlink_metadata(&path).unwrap().is_file(), "{file}");
        place.assert_elsewhere_untouched();
    }
}

#[tests::case]
fn a_link_in_place_of_a_directory_is_refused() {
    for directory in ["", "etc", "etc/systemd", "etc/systemd/network"] {
        let place = Place::new();
        let path = place.path("target").join(directory);
        let path: std::path::PathBuf = path.components().collect();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(place.path("elsewhere"), &path).unwrap();
        let output = place.generate();
        assert_eq!(output.status.code(), Some(1), "{directory}");
        let message = output.err();
        assert!(message.contains("symbolic links in a target are not followed"), "{message}");
        place.assert_elsewhere_untouched();
        let left = tree(&place.directory.path().join("."));
        let is_ours = |name: &&String| name.contains("nmconnection") || name.ends_with("hostname");
        assert_eq!(left.keys().find(is_ours), None, "nothing is written in part: {left:?}");
    }
}

#[tests::case]
fn a_directory_in_place_of_a_file_leaves_no_temporary_file() {
    let place = Place::new();
    fs::create_dir_all(place.path("target/eth1.nmconnection/full")).unwrap();
    place.generate().exits(1);
    let found = tree(&place.path("target"));
    let temporary = found.keys().find(|name| name.rsplit('/').next().unwrap().starts_with('.'));
    assert_eq!(temporary, None, "{found:?}");
}

/// The form of the output decides nothing: the reader gets what standard output would.
#[tests::case]
fn a_fifo_gets_the_text_and_stays_a_fifo() {
    let place = Place::new();
    let fifo = place.path("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let source = program::root().join("examples/cluster/install-config.yaml");
    let source = source.to_str().unwrap();
    let generate = |arguments: &[&str]| {
        program::nmgen_in(place.path(""), &[&["generate"], arguments].concat())
    };
    let config = ["--br-ex", "--to", "machine-config", source];
    let policies = [&["-o", "openshift/", "--policies", "fifo"][..], &config].concat();
    let calls: [(&[&str], &[&str]); 3] = [
        (&["-o", "fifo", "--to", "ignition", "state.yml"], &["--to", "ignition", "state.yml"]),
        (&["-o", "fifo", "state.yml"], &["state.yml"]),
        (&policies, &["--br-ex", "--to", "policy", source]),
    ];
    for (into, expected) in calls {
        let reader = std::thread::spawn({
            let fifo = fifo.clone();
            move || fs::read_to_string(fifo).unwrap()
        });
        let output = generate(into);
        assert!(output.status.success(), "{into:?}: {output:?}");
        // Before the reader, which would wait for ever.
        assert!(fs::symlink_metadata(&fifo).unwrap().file_type().is_fifo(), "{into:?}");
        assert_eq!(output.stdout, b"", "{into:?}");
        let expected = String::from_utf8(generate(expected).stdout).unwrap();
        assert!(!expected.is_empty());
        assert_eq!(reader.join().unwrap(), expected, "{into:?}");
    }
    assert!(place.path("openshift/10-br-ex-master.yaml").is_file());
}

/// `/dev/stdout` is such a link; a file behind it gets the text where the shell's other commands write.
#[tests::case]
fn a_link_to_standard_output_stays_one_whatever_is_behind_it() {
    let place = Place::new();
    symlink("/proc/self/fd/1", place.path("stdout")).unwrap();
    let run = |script: &str| {
        let mut shell = Command::new("sh");
        shell.current_dir(place.path("")).args(["-c", script]).arg(program::nmgen());
        let output = shell.output().unwrap();
        assert!(output.status.success(), "{script}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let text = run("exec \"$0\" generate --to ignition state.yml");
    let piped = run("exec \"$0\" generate --to ignition -o stdout state.yml");
    assert_eq!(piped, text);
    run("{ echo first; \"$0\" generate --to ignition -o stdout state.yml && echo last; } > file");
    let file = fs::read_to_string(place.path("file")).unwrap();
    assert_eq!(file, format!("first\n{text}last\n"));
    // Another descriptor's file keeps the text that it has.
    symlink("/proc/self/fd/3", place.path("other")).unwrap();
    run("exec \"$0\" generate --to ignition -o other state.yml 3>> file");
    let file = fs::read_to_string(place.path("file")).unwrap();
    assert_eq!(file, format!("first\n{text}last\n{text}"));
    for link in ["stdout", "other"] {
        assert!(fs::symlink_metadata(place.path(link)).unwrap().is_symlink(), "{link}");
    }
}

/// A killed call leaves a file with its process id in the name, and a later process may get the same id.
#[tests::case]
fn temporary_files_of_a_killed_call_are_in_nobodys_way() {
    let place = Place::new();
    fs::create_dir(place.path("target")).unwrap();
    // `exec` keeps the shell's process id.
    let script =
        "touch target/.eth0.nmconnection.$$.nmgen && exec \"$0\" generate -o target state.yml";
    let mut shell = Command::new("sh");
    shell.current_dir(place.path("")).args(["-c", script]).arg(program::nmgen());
    assert!(shell.status().unwrap().success());
    let found = tree(&place.path("target"));
    assert!(FILES.iter().all(|name| found.contains_key(*name)), "{found:?}");
    assert!(!found.keys().any(|name| name.starts_with(".eth0")), "{found:?}");
}

/// A call is killed while its files wait for their names; the next one leaves nothing of either but the files.
#[tests::case]
fn a_killed_call_leaves_nothing_behind_the_next_one() {
    let place = tempfile::tempdir().unwrap();
    let (config, target) = (place.path().join("agent-config.yaml"), place.path().join("target"));
    fs::write(&config, fleet::agent_config(40)).unwrap();
    fs::create_dir(&target).unwrap();
    fs::write(target.join(".others.7"), "").unwrap();
    let generate = || {
        let mut command = Command::new(program::nmgen());
        command.args(["--quiet", "generate", "-o"]).args([&target, &config]);
        command
    };
    // Files go while they are counted.
    let hosts = || fs::read_dir(&target).into_iter().flatten().flatten();
    let files = || hosts().flat_map(|host| fs::read_dir(host.path()).into_iter().flatten());
    let is_hidden =
        |file: &fs::DirEntry| file.path().extension().is_some_and(|extension| extension == "nmgen");
    let hidden = || files().flatten().filter(is_hidden).count();
    let mut left = 0;
    for (signal, wanted) in [(Signal::SIGTERM, 1), (Signal::SIGKILL, 60), (Signal::SIGINT, 120)] {
        let mut call = generate().spawn().unwrap();
        let id = Pid::from_raw(call.id().try_into().unwrap());
        while hidden() < wanted && call.try_wait().unwrap().is_none() {}
        // One that has ended by itself is still there to be waited for.
        kill(id, signal).unwrap();
        call.wait().unwrap();
        left += hidden();
    }
    assert!(left > 0, "no call was killed in time");
    assert!(generate().status().unwrap().success());
    let names = |found: BTreeMap<String, u32>| found.into_keys().collect::<Vec<_>>();
    let whole = names(tree(&target));
    let hidden: Vec<&String> = whole.iter().filter(|path| path.contains("/.")).collect();
    assert!(hidden.is_empty() && whole.iter().any(|path| path == ".others.7"), "{whole:?}");
}

/// A host has up to four directories, and a process 1024 descriptors on most systems.
#[tests::case]
fn a_fleet_needs_no_descriptor_a_directory() {
    let place = tempfile::tempdir().unwrap();
    let (hosts, target) = (place.path().join("hosts"), place.path().join("target"));
    fs::create_dir(&hosts).unwrap();
    fleet::write(&hosts, 100).unwrap();
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -n 64 && exec \"$0\" generate -o \"$1\" \"$2\""]);
    shell.arg(program::nmgen()).args([&target, &hosts]).output().unwrap().exits(0);
    assert_eq!(fs::read_dir(&target).unwrap().count(), 100);
}

/// The disk after a power cut: each file is the old one or the new one, and the new one once the call has ended.
struct OldOrNew<'r> {
    recording: &'r Recording,
    new: &'r Tree,
}

impl Judge for OldOrNew<'_> {
    fn judge(&mut self, state: &State, _: &Shared) -> Result<Option<String>, Fault> {
        let left = visible(&state.tree);
        let broken = left.0.iter().find(|(path, entry)| {
            let is = |tree: &Tree| tree.0.get(*path) == Some(entry);
            !is(&self.recording.start) && !is(self.new)
        });
        if let Some((path, _)) = broken {
            return Ok(Some(format!("{path} is neither the old file nor the new one")));
        }
        let has_ended = state.at == self.recording.length();
        Ok(left
            .difference(self.new)
            .filter(|_| has_ended)
            .map(|difference| format!("at the end {difference}")))
    }
}

/// All but temporary files, which a killed call may leave.
fn visible(tree: &Tree) -> Tree {
    tree.only(|path| !path.rsplit('/').next().is_some_and(|name| name.starts_with('.')))
}

/// A few files are synced one by one, many with their file system.
#[tests::case]
fn a_power_cut_leaves_the_old_files_or_the_new_ones() -> Result<(), Fault> {
    for hosts in [1, 5] {
        let directory = tempfile::Builder::new().prefix("power-cut").tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        let (from, target) = (root.join("hosts"), root.join("target"));
        fs::create_dir(&from).unwrap();
        fleet::write(&from, hosts).unwrap();
        let mut command = Command::new(program::nmgen());
        command.args(["generate", "-o"]).args([&target, &from]);
        // Some of the files are there, with other content.
        assert!(command.status().unwrap().success());
        for (number, path) in tree(&target).into_keys().map(|path| target.join(path)).enumerate() {
            match (path.is_file(), number % 2) {
                (true, 0) => fs::remove_file(path).unwrap(),
                (true, _) => fs::write(path, "old").unwrap(),
                (false, _) => {}
            }
        }
        let place = target.to_str().unwrap();
        let read = || Tree::read(Path::new("/"), &[place]).unwrap();
        let start = read();
        let trace = Trace::attach(&command, &[])
            .unwrap_or_else(|fault| skip::part(&format!("strace: {fault}")));
        let (code, calls) = trace.finish()?;
        assert_eq!(code, Some(0));
        let of_file_systems = calls.iter().filter(|call| call.name == "syncfs").count();
        assert_eq!(of_file_systems, if hosts == 1 { 0 } else { 2 });
        let recording = Recording::new(start.clone(), &[place], &calls)?;
        assert_eq!(read().difference(&recording.end()), None, "the recording misses a call");

        let new = visible(&recording.end());
        let judge = || Ok(OldOrNew { recording: &recording, new: &new });
        let report = campaign::run(&recording, 500, judge)?;
        assert!(report.violations.is_empty(), "{}", report.text());
        assert!(report.states >= recording.length(), "only {} states", report.states);

        let is_sync = |name: &str| ["fsync", "syncfs"].contains(&name);
        let careless: Vec<_> = calls.into_iter().filter(|call| !is_sync(&call.name)).collect();
        let recording = Recording::new(start, &[place], &careless)?;
        let judge = || Ok(OldOrNew { recording: &recording, new: &new });
        assert!(
            campaign::is_noticed(&recording, judge)?,
            "nothing notices a program without syncs"
        );
    }
    Ok(())
}
