//! `ignition-snippets/`: rendered files equal nmgen's current output, and agree with their Butane sources.
//!
//! Debian has no package of Butane: nmgen makes the Ignition configs, Ignition unpacks them, and the result is compared with
//! the Butane source, key by key. Where Butane is installed, its output is compared too. `BLESS=1` rewrites the rendered files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_yaml::Value;
use tests::{
    program::{self, Exits as _},
    skip,
};

/// Debian's package keeps the program for the initramfs here, off the path.
const IGNITION: &str = "/usr/lib/dracut/modules.d/30ignition/ignition";
/// The preset file in which Ignition enables units.
const PRESETS: &str = "/etc/systemd/system-preset/20-ignition.preset";
/// Butane sources, without their ending.
const CONFIGS: [&str; 2] = ["node", "bootstrap"];

/// The files and units of a config.
#[derive(Debug, Default, PartialEq)]
struct Brought {
    /// Path to mode and text.
    files: BTreeMap<String, (u32, String)>,
    enabled: BTreeSet<String>,
}

fn directory() -> PathBuf {
    program::root().join("ignition-snippets")
}

fn read(name: &str) -> String {
    fs::read_to_string(directory().join(name)).unwrap()
}

fn generate(arguments: &[&str]) -> String {
    let mut nmgen = Command::new(program::nmgen());
    let output =
        nmgen.current_dir(directory()).args(["generate", "--to"]).args(arguments).output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The introductory comment of a snippet, and the rest of the text.
fn introduced(text: &str) -> (Vec<&str>, &str) {
    let lines: Vec<&str> = text.lines().map_while(|line| line.strip_prefix("# ")).collect();
    let length = lines.iter().map(|line| line.len() + "# \n".len()).sum();
    (lines, &text[length..])
}

/// The rendered files, by name, with their expected text.
fn rendered() -> BTreeMap<&'static str, String> {
    let role = ["machine-config", "--role", "worker", "--agent-config", "dayone.toml", "hosts"];
    let object = generate(&role);
    // Butane's `local:` takes the profile from here, and so does coreos-installer.
    let keyfile = generate(&["keyfiles", "bootstrap"]);
    let (name, keyfile) = keyfile.split_once('\n').unwrap();
    assert!(name.ends_with("/enp1s0.nmconnection"), "{name}");
    let of_node: Value = serde_yaml::from_str(&object).unwrap();
    let node = serde_json::to_string_pretty(&of_node["spec"]["config"]).unwrap() + "\n";
    let current = read("machine-config.yaml");
    let head = &current[..current.len() - introduced(&current).1.len()];
    BTreeMap::from([
        ("machine-config.yaml", format!("{head}{object}")),
        ("node.ign", node),
        ("bootstrap.ign", generate(&["ignition", "bootstrap"])),
        ("bootstrap.nmconnection", keyfile.to_owned()),
    ])
}

#[tests::case]
fn rendered_files_are_up_to_date() {
    for (name, text) in rendered() {
        if std::env::var_os("BLESS").is_some() {
            fs::write(directory().join(name), &text).unwrap();
        }
        assert_eq!(read(name), text, "{name}: BLESS=1 rewrites it");
    }
}

/// The files and units of a Butane source. An unknown key is a mistake in the source or in this function.
fn butane_source(name: &str) -> Brought {
    fn only(value: &Value, keys: &[&str]) {
        let found = value.as_mapping().unwrap().keys();
        assert_eq!(found.map(|key| key.as_str().unwrap()).collect::<Vec<_>>(), keys);
    }
    let source: Value = serde_yaml::from_str(&read(name)).unwrap();
    assert_eq!(source["variant"].as_str(), Some("fcos"), "{name}");
    // Ignition 3.2.0: nmgen's version, readable by OpenShift 4.6 and later.
    assert_eq!(source["version"].as_str(), Some("1.3.0"), "{name}");
    let units = source.get("systemd").is_some().then_some("systemd");
    only(&source, &["variant", "version", "storage"].into_iter().chain(units).collect::<Vec<_>>());
    let mut brought = Brought::default();
    only(&source["storage"], &["files"]);
    for file in source["storage"]["files"].as_sequence().unwrap() {
        only(file, &["path", "mode", "overwrite", "contents"]);
        only(&file["contents"], &["local"]);
        assert_eq!(file["overwrite"].as_bool(), Some(true));
        // An octal number in Butane, a string in serde_yaml.
        let mode = u32::from_str_radix(file["mode"].as_str().unwrap(), 8).unwrap();
        let content = (mode, read(file["contents"]["local"].as_str().unwrap()));
        let path = file["path"].as_str().unwrap().to_owned();
        assert_eq!(brought.files.insert(path, content), None, "{name}");
    }
    for unit in source.get("systemd").map_or(&[][..], |units| units["units"].as_sequence().unwrap())
    {
        only(unit, &["name", "enabled"]);
        assert_eq!(unit["enabled"].as_bool(), Some(true));
        brought.enabled.insert(unit["name"].as_str().unwrap().to_owned());
    }
    brought
}

/// Validates a config, and has Ignition write it below `root`.
fn apply(config: &Path, root: &Path) -> Brought {
    let output = Command::new("ignition-validate").arg(config).output().unwrap().exits(0);
    assert!(output.stderr.is_empty() && output.stdout.is_empty(), "{output:?}");
    let place = tempfile::tempdir().unwrap();
    symlink(IGNITION, place.path().join("ignition-apply")).unwrap();
    fs::create_dir(root).unwrap();
    let mut apply = Command::new(place.path().join("ignition-apply"));
    apply.args(["--offline", "--root"]).args([root, config]).output().unwrap().exits(0);

    let mut brought = Brought::default();
    for (path, mode) in tests::tree::files(root).unwrap() {
        let text = fs::read_to_string(root.join(&path)).unwrap();
        brought.files.insert(format!("/{}", path.display()), (mode, text));
    }
    if let Some((_, presets)) = brought.files.remove(PRESETS) {
        let unit = |line: &str| line.strip_prefix("enable ").unwrap().to_owned();
        brought.enabled = presets.lines().map(unit).collect();
    }
    brought
}

#[tests::case]
fn ignition_brings_what_the_butane_sources_say() {
    skip::unless_installed(IGNITION, "ignition");
    let place = tempfile::tempdir().unwrap();
    let has_butane = Command::new("butane").arg("--version").output().is_ok();
    for name in CONFIGS {
        let source = butane_source(&format!("{name}.bu"));
        assert!(!source.files.is_empty(), "{name}");
        let config = directory().join(format!("{name}.ign"));
        assert_eq!(apply(&config, &place.path().join(name)), source, "{name}");
        if has_butane {
            let made = place.path().join("butane.ign");
            let mut butane = Command::new("butane");
            butane.current_dir(directory()).args(["--strict", "--files-dir", ".", "--output"]);
            let status = butane.arg(&made).arg(format!("{name}.bu")).status().unwrap();
            assert!(status.success(), "butane {name}.bu");
            assert_eq!(apply(&made, &place.path().join(format!("{name}-butane"))), source);
        }
    }
    // The agent reads the written settings: it refuses unknown ones.
    let mut agent = Command::new(program::dayone());
    let output = agent.arg("--root").arg(place.path().join("node")).arg("status").output().unwrap();
    let said = output.err();
    assert!(output.status.code() != Some(2), "{said}");
}

/// The units that a config enables are this project's, and its documents are where the agent looks.
#[tests::case]
fn the_node_gets_its_documents_and_the_units_of_the_preset() {
    let node = butane_source("node.bu");
    let preset = program::root().join("systemd/usr/lib/systemd/system-preset/80-dayone.preset");
    let preset = fs::read_to_string(preset).unwrap();
    let units = preset.lines().filter_map(|line| line.strip_prefix("enable "));
    assert_eq!(node.enabled, units.map(str::to_owned).collect());
    for entry in fs::read_dir(directory().join("hosts")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let (mode, text) = &node.files[&format!("/etc/nmstate/openshift/{name}")];
        assert_eq!((*mode, text), (0o644, &read(&format!("hosts/{name}"))));
    }
}

/// The archive for the initramfs that `bootstrap.bu` describes: `nmgen boot` finds the machine in it.
#[tests::case]
fn the_bootstrap_machine_is_found_by_its_prefix() {
    skip::unless_installed("cpio", "cpio");
    let place = tempfile::tempdir().unwrap();
    let archive = place.path().join("archive");
    fs::write(&archive, generate(&["initrd", "bootstrap"])).unwrap();
    let mut cpio = Command::new("cpio");
    cpio.current_dir(place.path()).args(["--quiet", "-id"]);
    assert!(cpio.stdin(fs::File::open(&archive).unwrap()).status().unwrap().success());
    let document = place.path().join("etc/nmgen/52-54-00.yml");
    assert_eq!(fs::read_to_string(&document).unwrap(), read("bootstrap/52-54-00.yml"));
    assert_eq!(document.metadata().unwrap().permissions().mode() & 0o7777, 0o600);
}

#[tests::case]
fn three_lines_say_when_to_use_each() {
    let readme = read("README.md");
    for name in ["node.bu", "bootstrap.bu", "machine-config.yaml"] {
        let text = read(name);
        let (lines, _) = introduced(&text);
        assert_eq!(lines.len(), 3, "{name}");
        assert!(readme.contains(&format!("\n{}\n", lines.join("\n"))), "README.md: {name}");
    }
    for entry in fs::read_dir(directory()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(name == "README.md" || readme.contains(&name), "README.md: {name}");
    }
}
