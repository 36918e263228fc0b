//! Each form of output, golden: from the canonical documents, from one document, and from a source with roles and boot MAC
//! addresses. Every other kind of source gives what its documents give.
//!
//! `tests/fixtures/targets/expected/<input>/<case>` has the exit code, standard error and the files of `-o OUT`, each after a line
//! with its path. `BLESS=1` rewrites them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use nmgen::source::Stage;
use tests::{
    program::{self, Exits as _},
    skip,
};

use crate::sources::{SOURCES, Told};

/// Names of inputs, and their paths from `tests/fixtures`. The cases of the first one have every option.
const INPUTS: [(&str, &str); 3] = [
    ("documents", "sources/hosts"),
    ("one-document", "demo/bond-vlan.yml"),
    ("install-config", "targets/input/install-config.yaml"),
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
    "hosts",
];

/// The targets that a source's documents alone decide: no role and no boot MAC address is in them.
const OF_DOCUMENTS: [&str; 6] =
    ["ignition", "nmstateconfig", "kargs", "initrd", "keyfiles", "hosts"];

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
    ("hosts", "hosts"),
];

fn nmgen(arguments: &str, output: &Path, input: &str) -> Output {
    Command::new(program::nmgen())
        .current_dir(program::fixtures())
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
    let stderr = output.err();
    assert!(output.stdout.is_empty());
    let code = output.status.code().unwrap();
    let mut found = files(place.path());
    assert_eq!(code == 0, !found.is_empty(), "{arguments} {input}: {stderr}");
    found.insert("log".into(), format!("exit code {code}\n{stderr}").into_bytes());
    found
}

/// The objects of a cluster's repository.
const OBJECTS: [&str; 5] = [
    "machine-config --role worker",
    "nodepool-config --role worker",
    "policy",
    "bmh-secret",
    "nmstateconfig",
];

/// Nothing new is found in what is written: only a document for the running node is asked for br-ex.
#[tests::case]
fn each_object_that_is_written_is_clean_alone_and_beside_the_others() {
    let mut written = BTreeMap::new();
    for document in tests::documents::fixtures() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        fs::create_dir_all(at("hosts")).unwrap();
        fs::create_dir_all(at("objects")).unwrap();
        fs::write(at("hosts/worker-0.yml"), &document.text).unwrap();
        let findings = |path: &Path, options: &[&str]| {
            let mut check = Command::new(program::nmgen());
            let check = check.args(["check", "--format", "json"]).args(options);
            let output = check.arg(path).output().unwrap();
            let found = output.json();
            let rules = found["findings"].as_array().unwrap().iter();
            let rules = rules.map(|finding| finding["rule"].as_str().unwrap().to_owned());
            let rules = rules.filter(|rule| rule != "bridge-missing").collect();
            output.status.success().then_some(rules)
        };
        let hosts = at("hosts");
        // Objects are for both stages.
        let own: [Option<BTreeSet<String>>; 2] =
            [&[][..], &["--for", "node"]].map(|options| findings(&hosts, options));
        let [Some(own), Some(on_node)] = own else { continue };
        let own: BTreeSet<String> = own.union(&on_node).cloned().collect();
        let new = |path: &Path| {
            let found = findings(path, &[])
                .unwrap_or_else(|| unreachable!("{}: errors in {path:?}", document.name));
            found.difference(&own).cloned().collect::<Vec<String>>()
        };
        for arguments in OBJECTS {
            let kind = arguments.split(' ').next().unwrap();
            let object = at("objects").join(kind).with_extension("yaml");
            if nmgen(arguments, &object, hosts.to_str().unwrap()).status.success() {
                assert_eq!(new(&object), Vec::<String>::new(), "{} {kind}", document.name);
                *written.entry(kind).or_insert(0) += 1;
            }
        }
        fs::copy(at("hosts/worker-0.yml"), at("objects/worker-0.yml")).unwrap();
        assert_eq!(new(&at("objects")), Vec::<String>::new(), "{}", document.name);
    }
    assert_eq!(written.len(), OBJECTS.len(), "{written:?}");
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

/// The golden form of a run: the log, and each file after a line with its path.
fn golden(arguments: &str, input: &str) -> Vec<u8> {
    let mut found = run(arguments, input);
    let mut golden = found.remove(Path::new("log")).unwrap();
    for (path, content) in found {
        golden.extend(format!("# {}\n", path.display()).into_bytes());
        golden.extend(content);
    }
    golden
}

#[tests::case]
fn every_target_gives_what_is_expected() {
    let directory = program::fixtures().join("targets/expected");
    let mut faults = Vec::new();
    for (input_name, input) in INPUTS {
        let has_options = input_name == INPUTS[0].0;
        for (case, arguments) in
            CASES.iter().filter(|(case, _)| has_options || PLAIN.contains(case))
        {
            let path = directory.join(input_name).join(case);
            let found = golden(arguments, input);
            if std::env::var_os("BLESS").is_some() {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(&path, &found).unwrap();
            }
            if fs::read(&path).ok().as_ref() != Some(&found) {
                let text = String::from_utf8_lossy(&found);
                faults.push(format!("{input_name}, {case}:\n{text}"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    let cases = INPUTS.len() * PLAIN.len() + CASES.len() - PLAIN.len();
    assert_eq!(files(&directory).len(), cases, "files without a case");
}

#[tests::case]
fn every_source_gives_what_its_documents_give() {
    for target in OF_DOCUMENTS {
        let arguments = format!("{target} --host master-0 --host worker-0");
        let written = |source: &str| {
            let mut found = run(&arguments, &format!("sources/{source}"));
            let log = found.remove(Path::new("log")).unwrap();
            (found, String::from_utf8(log).unwrap())
        };
        let (expected, _) = written("hosts");
        for Told { source, stage, .. } in SOURCES {
            let (found, log) = written(source);
            assert_eq!(found, expected, "{target} {source}");
            // A document of the running node has no br-ex, which a MachineConfig is for.
            let is_silent = log == "exit code 0\n";
            assert!(is_silent || *stage == Stage::Node, "{target} {source}: {log}");
        }
    }
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
        let input = program::fixtures().join(format!("targets/input/hosts/worker-{index}.yml"));
        assert_eq!(gunzip(&packed), fs::read(input).unwrap());
    }
}

/// Debian's program, not nmgen's library.
fn gunzip(packed: &[u8]) -> Vec<u8> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    std::io::Write::write_all(&mut file, packed).unwrap();
    let output =
        Command::new("gzip").args(["-dc"]).stdin(file.reopen().unwrap()).output().unwrap().exits(0);
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
        let input = program::fixtures().join(format!("targets/input/hosts/worker-{index}.yml"));
        let document: serde_yaml::Value =
            serde_yaml::from_str(&fs::read_to_string(input).unwrap()).unwrap();
        assert_eq!(object["spec"]["config"], document);
    }
}

#[tests::case]
fn cpio_lists_and_unpacks_the_archive_which_is_always_the_same() {
    let hosts = program::fixtures().join("targets/input/hosts");
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
    let listed = cpio("-tv").exits(0);
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
    cpio("-idm").exits(0);
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
        .current_dir(program::fixtures())
        .args([
            "generate",
            "--br-ex",
            "--to",
            "machine-config",
            "targets/input/install-config.yaml",
        ])
        .output()
        .unwrap();
    let text = output.out();
    let objects = text.split("---\n").skip(1).map(|object| {
        let object: serde_yaml::Value = serde_yaml::from_str(object).unwrap();
        object["metadata"]["name"].as_str().unwrap().to_owned()
    });
    let names: Vec<String> = objects.collect();
    assert_eq!(names, ["10-br-ex-master", "10-br-ex-worker"]);
}
