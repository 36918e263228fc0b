//! Each target for each kind of source: the whole output, golden.
//!
//! `tests/fixtures/targets/expected/<input>/<case>` has the output of `-o OUT`, a file or a directory, and the exit code with
//! standard error. `BLESS=1` rewrites them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use tests::{program, skip};

/// Names of inputs, and their paths from `tests/fixtures`.
const INPUTS: &[(&str, &str)] = &[
    ("bond-vlan", "demo/bond-vlan.yml"),
    ("hosts", "targets/input/hosts"),
    ("install-config", "targets/input/install-config.yaml"),
];

/// Every other kind of source, for the cases in [`PLAIN`].
const SOURCES: &[(&str, &str)] = &[
    ("acm-policies", "sources/acm-policies.yaml"),
    ("agent-config", "sources/agent-config.yaml"),
    ("assisted", "sources/assisted"),
    ("bare-metal-hosts", "sources/bare-metal-hosts.yaml"),
    ("cluster-instance", "sources/cluster-instance.yaml"),
    ("machine-configs", "sources/machine-configs.yaml"),
    ("network-configs", "sources/network-configs"),
    ("nmstate-configs", "sources/nmstate-configs.yaml"),
    ("node-network-states", "sources/node-network-states.yaml"),
    ("policies", "sources/policies.yaml"),
    ("site-config", "sources/site-config.yaml"),
];

/// The targets without their options.
const PLAIN: &[&str] = &[
    "ignition",
    "machine-config",
    "machine-config-br-ex",
    "policy-br-ex",
    "bmh-secret",
    "nmstateconfig",
    "kargs",
    "initrd",
    "keyfiles",
    "documents",
];

/// Names of cases, and the arguments after `--to`. Roles of the source take precedence.
const CASES: &[(&str, &str)] = &[
    ("ignition", "ignition"),
    ("ignition-3.4.0", "ignition --ignition-version 3.4.0"),
    ("machine-config", "machine-config --role worker"),
    ("machine-config-agent", "machine-config --role worker --agent"),
    (
        "machine-config-agent-config",
        "machine-config --role worker --agent-config targets/input/dayone.toml",
    ),
    ("machine-config-br-ex", "machine-config --role worker --br-ex"),
    ("nodepool-config", "nodepool-config --role worker --namespace hosted"),
    ("policy-br-ex", "policy --br-ex"),
    ("bmh-secret", "bmh-secret"),
    ("bmh-secret-namespace", "bmh-secret --namespace metal"),
    ("nmstateconfig", "nmstateconfig"),
    ("nmstateconfig-label", "nmstateconfig --namespace spoke --label infraenvs.example.org=spoke"),
    ("kargs", "kargs"),
    ("initrd", "initrd"),
    ("keyfiles", "keyfiles"),
    ("documents", "hosts"),
];

fn fixtures() -> PathBuf {
    program::root().join("tests/fixtures")
}

fn nmgen(arguments: &str, output: &Path, input: &str) -> Output {
    Command::new(program::nmgen())
        .current_dir(fixtures())
        .args(["generate", "--to"])
        .args(arguments.split(' '))
        .arg("-o")
        .arg(output)
        .arg(input)
        .output()
        .unwrap()
}

/// The results of a run: `log`, and `OUT` or the files below it.
fn run(arguments: &str, input: &str) -> BTreeMap<PathBuf, Vec<u8>> {
    let place = tempfile::tempdir().unwrap();
    let output = nmgen(arguments, &place.path().join("OUT"), input);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.stdout.is_empty());
    let code = output.status.code().unwrap();
    let mut found = files(place.path());
    assert_eq!(code == 0, !found.is_empty(), "{arguments} {input}: {stderr}");
    found.insert("log".into(), format!("exit code {code}\n{stderr}").into_bytes());
    found
}

fn files(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut pending = vec![root.to_owned()];
    while let Some(directory) = pending.pop() {
        let Ok(entries) = fs::read_dir(&directory) else { continue };
        for entry in entries.map(Result::unwrap) {
            if entry.path().is_dir() {
                pending.push(entry.path());
            } else {
                let path = entry.path().strip_prefix(root).unwrap().to_owned();
                found.insert(path, fs::read(entry.path()).unwrap());
            }
        }
    }
    found
}

#[tests::case]
fn every_target_gives_what_is_expected() {
    let mut faults = Vec::new();
    let cases = |plain: bool| CASES.iter().filter(move |(case, _)| !plain || PLAIN.contains(case));
    let all = INPUTS.iter().map(|input| (input, false));
    for ((input_name, input), is_plain) in all.chain(SOURCES.iter().map(|input| (input, true))) {
        for (case, arguments) in cases(is_plain) {
            let found = run(arguments, input);
            let directory = fixtures().join("targets/expected").join(input_name).join(case);
            if std::env::var_os("BLESS").is_some() {
                let _ = fs::remove_dir_all(&directory);
                for (path, content) in &found {
                    let path = directory.join(path);
                    fs::create_dir_all(path.parent().unwrap()).unwrap();
                    fs::write(path, content).unwrap();
                }
            }
            let expected = files(&directory);
            let paths: Vec<&PathBuf> = found.keys().collect();
            if expected.keys().collect::<Vec<_>>() != paths {
                faults.push(format!("{input_name}, {case}: {paths:?}"));
            }
            for (path, content) in &found {
                if expected.get(path).is_some_and(|expected| expected != content) {
                    let text = String::from_utf8_lossy(content);
                    faults.push(format!("{input_name}, {case}, {}:\n{text}", path.display()));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[tests::case]
fn a_machine_config_holds_the_documents_byte_for_byte() {
    let found = run("machine-config --role worker", "targets/input/hosts");
    let config: serde_yaml::Value = serde_yaml::from_slice(&found[Path::new("OUT")]).unwrap();
    let files = config["spec"]["config"]["storage"]["files"].as_sequence().unwrap();
    assert_eq!(files.len(), 3);
    for (index, file) in files.iter().enumerate() {
        let path = format!("/etc/nmstate/openshift/worker-{index}.yml");
        assert_eq!(file["path"].as_str(), Some(path.as_str()));
        assert_eq!(file["mode"].as_u64(), Some(0o644));
        let source = file["contents"]["source"].as_str().unwrap();
        let packed = STANDARD.decode(source.split_once(";base64,").unwrap().1).unwrap();
        assert_eq!(file["contents"]["compression"].as_str(), Some("gzip"));
        let input = fixtures().join(format!("targets/input/hosts/worker-{index}.yml"));
        assert_eq!(gunzip(&packed), fs::read(input).unwrap());
    }
}

/// Debian's program, not nmgen's library.
fn gunzip(packed: &[u8]) -> Vec<u8> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    std::io::Write::write_all(&mut file, packed).unwrap();
    let output = Command::new("gzip").args(["-dc"]).stdin(file.reopen().unwrap()).output().unwrap();
    assert!(output.status.success());
    output.stdout
}

#[tests::case]
fn an_nmstateconfig_holds_what_the_document_says() {
    let found = run("nmstateconfig", "targets/input/hosts");
    let text = std::str::from_utf8(&found[Path::new("OUT")]).unwrap();
    let objects: Vec<&str> = text.split("---\n").skip(1).collect();
    assert_eq!(objects.len(), 3);
    for (index, object) in objects.iter().enumerate() {
        let object: serde_yaml::Value = serde_yaml::from_str(object).unwrap();
        let input = fixtures().join(format!("targets/input/hosts/worker-{index}.yml"));
        let document: serde_yaml::Value =
            serde_yaml::from_str(&fs::read_to_string(input).unwrap()).unwrap();
        assert_eq!(object["spec"]["config"], document);
    }
}

#[tests::case]
fn cpio_lists_and_unpacks_the_archive_which_is_always_the_same() {
    let hosts = fixtures().join("targets/input/hosts");
    let archive = run("initrd", "targets/input/hosts").remove(Path::new("OUT")).unwrap();
    let copy = tempfile::tempdir().unwrap();
    for index in [2, 0, 1] {
        let name = format!("worker-{index}.yml");
        fs::copy(hosts.join(&name), copy.path().join(&name)).unwrap();
    }
    let again = run("initrd", copy.path().to_str().unwrap()).remove(Path::new("OUT")).unwrap();
    assert_eq!(archive, again);
    skip::unless_installed("cpio", "cpio");
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("archive");
    // Two archives, one after the other, as users append them.
    fs::write(&path, [&archive[..], &archive[..]].concat()).unwrap();
    let cpio = |mode: &str| {
        let input = fs::File::open(&path).unwrap();
        Command::new("cpio").arg(mode).current_dir(place.path()).stdin(input).output().unwrap()
    };
    let listed = cpio("-tv");
    assert!(listed.status.success(), "{listed:?}");
    let lines: Vec<String> = String::from_utf8(listed.stdout)
        .unwrap()
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    let size = fs::metadata(hosts.join("worker-0.yml")).unwrap().len();
    let file =
        |index| format!("-rw------- 1 root root {size} Jan 1 1970 etc/nmgen/worker-{index}.yml");
    let directory = |path| format!("drwxr-xr-x 2 root root 0 Jan 1 1970 {path}");
    assert_eq!(lines, [directory("etc"), directory("etc/nmgen"), file(0), file(1), file(2)]);
    assert!(cpio("-idm").status.success());
    assert_eq!(files(&place.path().join("etc/nmgen")), files(&hosts));
}

#[tests::case]
fn an_option_of_another_target_is_a_wrong_call() {
    for arguments in [
        "keyfiles --role worker",
        "ignition --agent",
        "kargs --ignition-version 3.3.0",
        "machine-config --namespace a",
        "bmh-secret --label a=b",
        "nmstateconfig --label a",
        "ignition --ignition-version 2.2.0",
    ] {
        let place = tempfile::tempdir().unwrap();
        let output = nmgen(arguments, &place.path().join("OUT"), "demo/bond-vlan.yml");
        assert_eq!(output.status.code(), Some(2), "{arguments}");
        assert!(!output.stderr.is_empty(), "{arguments}");
        assert!(files(place.path()).is_empty(), "{arguments}");
    }
}

#[tests::case]
fn on_standard_output_several_machine_configs_are_one_stream() {
    let output = Command::new(program::nmgen())
        .current_dir(fixtures())
        .args([
            "generate",
            "--br-ex",
            "--to",
            "machine-config",
            "targets/input/install-config.yaml",
        ])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let objects = text.split("---\n").skip(1).map(|object| {
        let object: serde_yaml::Value = serde_yaml::from_str(object).unwrap();
        object["metadata"]["name"].as_str().unwrap().to_owned()
    });
    let names: Vec<String> = objects.collect();
    assert_eq!(names, ["10-br-ex-master", "10-br-ex-worker"]);
}
