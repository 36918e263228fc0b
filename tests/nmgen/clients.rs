//! The programs that call nmstatectl, with their command lines, environment and ways to read: `nmgen/doc/drop-in.md`.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tests::{
    documents,
    program::{self, Exits as _},
};

/// A pipeline's image: the names of other programs lead to nmgen, and nothing but PATH is in the environment.
struct Image(tempfile::TempDir);

impl Image {
    fn new() -> Self {
        let image = tempfile::tempdir().unwrap();
        symlink(program::nmgen(), image.path().join("nmstatectl")).unwrap();
        Self(image)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn run(&self, program: &str, arguments: &[&str], input: &str) -> Output {
        let mut command = Command::new(self.path().join(program));
        command.args(arguments).env_clear().env("PATH", self.path()).current_dir("/");
        tests::program::with_input(&mut command, input).unwrap()
    }
}

/// Like Go's `struct { NetworkManager [][]string }`.
fn generated(output: &Output) -> Vec<Vec<String>> {
    type Generated = std::collections::BTreeMap<String, Vec<Vec<String>>>;
    let mut generated: Generated = serde_yaml::from_slice(&output.stdout).unwrap();
    generated.remove("NetworkManager").unwrap()
}

const WRONG: &str = "interfaces: [{name: eno1, type: ethernet, state: up}, \
                     {name: eno1.5000, type: vlan, state: up, vlan: {base-iface: eno1, id: 5000}}]\n";

/// `exec.Command("nmstatectl", "gc", "/dev/stdin")`, twice: once for the verdict, once for the files. Everything on standard error
/// becomes the message of a condition, which has room for 32 KiB.
#[tests::case]
fn image_customization_controller_gets_files_or_a_message_that_fits_a_condition() {
    let image = Image::new();
    for document in
        documents::fixtures().iter().filter(|document| !document.convert().has_errors()).take(10)
    {
        let first = image.run("nmstatectl", &["gc", "/dev/stdin"], &document.text);
        assert_eq!(first.status.code(), Some(0), "{}", document.name);
        assert_eq!(first, image.run("nmstatectl", &["gc", "/dev/stdin"], &document.text));
        assert!(generated(&first).iter().all(|file| file.len() == 2), "{}", document.name);
    }
    let many = |index: u32| {
        format!("- {{name: v{index}, type: vlan, vlan: {{base-iface: e, id: {}}}}}\n", 5000 + index)
    };
    let many: String = (0..500).map(many).collect();
    let refused = image.run("nmstatectl", &["gc", "/dev/stdin"], &format!("interfaces:\n{many}"));
    assert_eq!((refused.status.code(), &*refused.stdout), (Some(2), &b""[..]));
    let message = refused.err();
    assert!(message.len() < 32 << 10, "{} bytes", message.len());
    assert!(message.contains("VLAN id 5000 is not in 1..=4094"), "{message}");
    assert!(!message.contains('\x1b'));
}

/// openshift-install's copy of assisted-service's generator: a temporary file with the manifest's `config` as JSON; of standard
/// error it shows what stands behind the last `Error:`.
/// Values and names of any length, alone and many at once.
#[tests::case]
fn a_message_fits_a_condition_whatever_the_document_has() {
    let image = Image::new();
    let long = "a".repeat(40_000);
    let address = format!(
        "interfaces: [{{name: eno1, type: ethernet, state: up, ipv4: {{enabled: true, address: [{{ip: {long}, prefix-length: 24}}]}}}}]\n"
    );
    let ports: Vec<String> = (0..1_000).map(|port| format!("a-long-name-{port}")).collect();
    let bond = format!(
        "interfaces: [{{name: bond0, type: bond, state: up, link-aggregation: {{mode: active-backup, port: [{}]}}}}]\n",
        ports.join(", ")
    );
    let name = |index: usize| format!("{{name: {index}{}, type: ethernet}}", "é /".repeat(400));
    let names: Vec<String> = (0..30).map(name).collect();
    let names = format!("interfaces: [{}]\n", names.join(", "));
    let keys: Vec<String> = (0..30).map(|key| format!("{key}{long}: 1")).collect();
    let keys = format!("interfaces: []\n{}\n", keys.join("\n"));
    for document in [address, bond, names, keys] {
        let output = image.run("nmstatectl", &["gc", "/dev/stdin"], &document);
        let (said, length) = (output.err(), output.stderr.len());
        assert!(length < 30 << 10, "{length}: {}", &said[..200]);
        assert!(output.status.success() || said.lines().last().unwrap().starts_with("Error: "));
        assert!(said.lines().all(|line| line.len() < 3_000), "{said}");
    }
}

#[tests::case]
fn openshift_install_shows_one_line_of_an_error() {
    let image = Image::new();
    let file = image.path().join("host-config123456");
    let json: Value = serde_yaml::from_str(WRONG).unwrap();
    for (content, place) in [(WRONG.to_owned(), "1:125"), (json.to_string(), "1:")] {
        fs::write(&file, content).unwrap();
        let refused = image.run("nmstatectl", &["gc", file.to_str().unwrap()], "");
        assert_eq!((refused.status.code(), &*refused.stdout), (Some(2), &b""[..]));
        let shown = refused.err().split("Error:").last().unwrap().trim();
        let expected = format!("{}:{place}", file.display());
        assert!(shown.starts_with(&expected), "{shown}");
        let words = "VLAN id 5000 is not in 1..=4094 (802.1Q has 4094 usable ids) [vlan-id-range]";
        assert!(shown.ends_with(words) && !shown.contains('\n'), "{shown}");
    }
    let missing = image.run("nmstatectl", &["gc", "/nonexistent"], "").exits(1);
    let shown = missing.err().split("Error:").last().unwrap().trim();
    assert_eq!(shown, "cannot read /nonexistent: No such file or directory (os error 2)");
}

/// The assisted installer shortens names of VLANs on the node, and gives cards that it finds by their addresses the kernel's.
#[tests::case]
fn openshift_install_gets_profiles_with_names_that_the_node_shortens() {
    let vlan = "{name: enp94s0f0np0.2507, type: vlan, vlan: {base-iface: enp94s0f0np0, id: 2507}}";
    let card = "{name: primary-interface-0, type: ethernet, mac-address: '52:54:00:00:01:01'}";
    let known = format!("interfaces: [{{name: enp94s0f0np0, type: ethernet}}, {vlan}, {card}]\n");
    let others = [
        known.replace(", mac-address: '52:54:00:00:01:01'", ""),
        known.replace("name: enp94s0f0np0.2507", "name: storage-network.2507"),
    ];
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("host-config");
    let called = |arguments: &[&str], text: &str| {
        fs::write(&file, text).unwrap();
        let (_directory, link) = program::nmgen_as("nmstatectl").unwrap();
        Command::new(link).args(arguments).arg(&file).output().unwrap()
    };
    for arguments in [["gc"], ["validate"]] {
        let output = called(&arguments, &known);
        let told = output.err();
        assert_eq!(
            (output.status.code(), told.matches("warning[interface-name-length]").count()),
            (Some(0), 2),
            "{told}"
        );
        for text in &others {
            assert_eq!(called(&arguments, text).status.code(), Some(2), "{text}");
        }
    }
    fs::write(&file, &known).unwrap();
    Command::new(program::nmgen()).arg("generate").arg(&file).output().unwrap().exits(2);
}

/// Each profile goes through an INI library, which adds two keys to `[connection]`; the list must not be empty.
#[tests::case]
fn assisted_service_can_add_its_keys_to_every_profile() {
    let image = Image::new();
    let mut profiles = 0;
    for document in documents::fixtures().iter().filter(|document| !document.convert().has_errors())
    {
        let json: Value = serde_yaml::from_str(&document.text).unwrap();
        let output = image.run("nmstatectl", &["gc", "-"], &json.to_string());
        for pair in generated(&output) {
            let [name, keyfile] = &*pair else { unreachable!("{pair:?}") };
            assert!(name.ends_with(".nmconnection") && !name.contains('/'), "{name}");
            assert!(keyfile.starts_with("[connection]\n"), "{keyfile}");
            let is_ini = |line: &str| {
                line.is_empty()
                    || line.starts_with('[') && line.ends_with(']')
                    || line.contains('=')
            };
            assert!(keyfile.lines().all(is_ini), "{keyfile}");
            profiles += 1;
        }
    }
    assert!(profiles > 50, "{profiles} profiles");
}

/// `jq .networkConfig | … | nmstatectl validate -q > /dev/null`: the exit code alone counts.
#[tests::case]
fn enclave_gets_a_verdict_by_validate() {
    let image = Image::new();
    let right = WRONG.replace("5000", "500");
    let json: Value = serde_yaml::from_str(&right).unwrap();
    for document in [&right, &json.to_string()] {
        let output = image.run("nmstatectl", &["validate", "-q"], document);
        assert_eq!((output.status.code(), output.err()), (Some(0), ""));
        let printed: Value = serde_yaml::from_slice(&output.stdout).unwrap();
        assert_eq!(printed["interfaces"][1]["vlan"]["id"], 500);
    }
    let refused = image.run("nmstatectl", &["validate", "-q"], WRONG);
    assert_eq!((refused.status.code(), &*refused.stdout), (Some(2), &b""[..]));
    assert!(refused.err().contains("error[vlan-id-range]"));
}

#[tests::case]
fn validate_has_nmstatectls_options_and_prints_no_secret() {
    let image = Image::new();
    let secret = "interfaces: [{name: eno1, type: ethernet, state: up, \
                  802.1x: {identity: node, eap-methods: [peap], phase2-auth: mschapv2, password: s3cr3t-of-eno1}}]\n";
    let file = image.path().join("state.yml");
    fs::write(&file, secret).unwrap();
    let file = file.to_str().unwrap();
    for arguments in [&["validate", file][..], &["-q", "validate", "-"], &["validate", "-v"]] {
        let output = image.run("nmstatectl", arguments, secret);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", output.err());
        assert!(output.out().contains("identity: node"), "{}", output.out());
        assert!(!format!("{output:?}").contains("s3cr3t"), "{output:?}");
    }
    // A policy is judged on the node, where its captures are known.
    let policy = "capture: {gw: routes.running.destination==\"0.0.0.0/0\"}\n\
                  desiredState: {interfaces: [{name: br1, type: linux-bridge, state: up}]}\n";
    image.run("nmstatectl", &["validate"], policy).exits(0).says("br1");
    // Only nmstate's library with D-Bus and netlink merges a current state.
    let refused = image.run("nmstatectl", &["validate", "--current", file, file], "");
    assert_eq!((refused.status.code(), &*refused.stdout), (Some(2), &b""[..]));
    assert!(refused.err().contains("install nmstate for --current"));
}
