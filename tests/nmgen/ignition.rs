//! The real Ignition accepts and applies the configs of the target `ignition`.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use tests::{
    program::{self, Exits as _},
    skip,
};

/// Debian's package keeps the program for the initramfs here, off the path.
const IGNITION: &str = "/usr/lib/dracut/modules.d/30ignition/ignition";

/// A host name, alternative names (a link file), a bond, a VLAN, and text that needs escapes.
const DOCUMENT: &str = r#"
hostname: {config: worker-7.example.org}
interfaces:
- name: eno1
  type: ethernet
  mac-address: 52:54:00:00:07:01
  alt-names: [{name: uplink}]
  description: "50% \"quoted\", über\tall"
  ipv4: {enabled: true, dhcp: false, address: [{ip: 192.0.2.17, prefix-length: 24}]}
- name: bond0
  type: bond
  link-aggregation: {mode: active-backup, port: [eno2, eno3]}
"#;

fn generate(to: &[&str], output: &Path, input: &Path) {
    let status = Command::new(program::nmgen())
        .args(["generate", "--to"])
        .args(to)
        .arg("-o")
        .args([output, input])
        .status();
    assert!(status.unwrap().success());
}

/// Has Ignition write `config.ign` into `root`, both in `place`.
fn apply(place: &Path) {
    // Its name selects what the program does.
    let program = place.join("ignition-apply");
    symlink(IGNITION, &program).unwrap();
    Command::new(program)
        .args(["--offline", "--root"])
        .args([place.join("root"), place.join("config.ign")])
        .output()
        .unwrap()
        .exits(0);
}

#[tests::case]
fn ignition_validate_accepts_every_config() {
    skip::unless_installed(IGNITION, "ignition");
    let place = tempfile::tempdir().unwrap();
    let document = place.path().join("document.yml");
    fs::write(&document, DOCUMENT).unwrap();
    let fixtures = program::fixtures();
    let inputs = [
        document,
        fixtures.join("demo/br-ex.yml"),
        fixtures.join("targets/input/hosts"),
        fixtures.join("targets/input/install-config.yaml"),
    ];
    let mut configs = Vec::new();
    for (index, input) in inputs.iter().enumerate() {
        for version in ["3.2.0", "3.3.0"] {
            let output = place.path().join(format!("{index}-{version}"));
            generate(&["ignition", "--ignition-version", version], &output, input);
            if output.is_dir() {
                configs.extend(fs::read_dir(&output).unwrap().map(|entry| entry.unwrap().path()));
            } else {
                configs.push(output);
            }
        }
    }
    assert_eq!(configs.len(), 2 * (1 + 1 + 3 + 2));
    for config in configs {
        let output = Command::new("ignition-validate").arg(&config).output().unwrap().exits(0);
        assert!(output.stderr.is_empty() && output.stdout.is_empty(), "{output:?}");
    }
}

/// `ignition-apply` is the same program: its files stage without SELinux labels, for which an empty root
/// has no policy.
#[tests::case]
fn ignition_applies_it_with_the_right_modes_and_contents() {
    skip::unless_installed(IGNITION, "ignition");
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    fs::write(at("document.yml"), DOCUMENT).unwrap();
    generate(&["ignition"], &at("config.ign"), &at("document.yml"));
    generate(&["keyfiles"], &at("keyfiles"), &at("document.yml"));
    // Existing files are replaced.
    let connections = at("root/etc/NetworkManager/system-connections");
    fs::create_dir_all(&connections).unwrap();
    fs::write(connections.join("eno1.nmconnection"), "old").unwrap();
    apply(place.path());
    let mut expected = Vec::new();
    for entry in fs::read_dir(at("keyfiles")).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        if entry.path().is_file() {
            expected.push((connections.join(name), entry.path(), 0o600));
        }
    }
    for path in ["etc/hostname", "etc/systemd/network/70-eno1.link"] {
        expected.push((at("root").join(path), at("keyfiles").join(path), 0o644));
    }
    assert_eq!(expected.len(), 4 + 2);
    for (applied, generated, mode) in &expected {
        assert_eq!(fs::read(applied).unwrap(), fs::read(generated).unwrap(), "{applied:?}");
        assert_eq!(applied.metadata().unwrap().permissions().mode() & 0o7777, *mode, "{applied:?}");
    }
    assert_eq!(count(&at("root")), expected.len(), "nothing else");
}

/// The documents that a MachineConfig brings to its nodes are, byte for byte, those that `--to hosts` writes.
#[tests::case]
fn ignition_writes_the_derived_documents_of_a_machine_config() {
    skip::unless_installed(IGNITION, "ignition");
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    let installation = program::root().join("examples/cluster/install-config.yaml");
    generate(&["machine-config", "--br-ex"], &at("machine-config.yaml"), &installation);
    generate(&["hosts", "--br-ex"], &at("hosts"), &installation);
    let text = fs::read_to_string(at("machine-config.yaml")).unwrap();
    let machine_config: serde_yaml::Value = serde_yaml::from_str(&text).unwrap();
    let config = serde_json::to_string(&machine_config["spec"]["config"]).unwrap();
    fs::write(at("config.ign"), config).unwrap();
    fs::create_dir(at("root")).unwrap();
    apply(place.path());
    for host in ["master-0.yml", "master-1.yml", "master-2.yml"] {
        let written = at("root").join("etc/nmstate/openshift").join(host);
        assert_eq!(fs::read(written).unwrap(), fs::read(at("hosts").join(host)).unwrap());
    }
    assert_eq!(count(&at("root")), 3, "nothing else");
}

fn count(directory: &PathBuf) -> usize {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| if path.is_dir() { count(&path) } else { 1 }).sum()
}
