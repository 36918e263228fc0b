//! A node whose operating system has no agent: a MachineConfig brings its units and takes the program out of a container image.

use std::{fs, os::unix::fs::PermissionsExt, path::Path, process::Command};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_yaml::Value;
use tests::{
    dayone::{DAY_ONE, Document, SOON, br_ex_works, finished, outcome},
    lab::{Error, Lab, Node, Peer, Release},
    program,
};

use super::{graph, node, peers::made_by_configure_ovs};

const IMAGE: &str = "registry.lab.test/dayone@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
/// The registry is away, and nothing else.
const AWAY: &str = "/etc/lab-registry-away";
const OWN: &str = "/usr/local/bin/dayone-0123456789ab";

/// Stands in for podman and the image: the peer's API takes the place of the registry, unless this one alone is away.
const PODMAN: &str = r#"#!/bin/sh
set -eu
case $1 in
pull) [ ! -e /etc/lab-registry-away ] && exec /usr/local/bin/lab-reaches-registry ;;
create) echo lab ;;
cp) cp /usr/lib/lab-image/dayone "$3" ;;
rm | rmi) ;;
esac
"#;

/// A file's bytes from its `data:` URL.
fn content(file: &Value) -> Vec<u8> {
    let source = file["contents"]["source"].as_str().expect("a source");
    let (_, packed) = source.split_once(";base64,").expect("base64");
    let bytes = STANDARD.decode(packed).expect("base64");
    if file["contents"]["compression"].as_str() != Some("gzip") {
        return bytes;
    }
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    std::io::Write::write_all(&mut file, &bytes).expect("a file");
    let input = file.reopen().expect("the file");
    Command::new("gzip").arg("-dc").stdin(input).output().expect("gzip").stdout
}

/// Puts text below a directory.
fn put(root: &Path, path: &str, text: &[u8], mode: u32) {
    let path = root.join(path.trim_start_matches('/'));
    fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
    fs::write(&path, text).expect("a file");
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("its mode");
}

/// The files and units of the MachineConfig for this document, as the operator writes them; the list of their paths.
fn machine_config(document: &str) -> (tempfile::TempDir, Vec<String>) {
    let hosts = tempfile::tempdir().expect("a directory");
    fs::write(hosts.path().join("worker-0.yml"), document).expect("a document");
    let output = Command::new(program::nmgen())
        .args(["generate", "--to", "machine-config", "--role", "worker", "--install", IMAGE])
        .arg(hosts.path())
        .output()
        .expect("nmgen");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let object: Value = serde_yaml::from_slice(&output.stdout).expect("YAML");
    let config = &object["spec"]["config"];
    let tree = tempfile::tempdir().expect("a directory");
    let mut paths = Vec::new();
    for file in config["storage"]["files"].as_sequence().into_iter().flatten() {
        let path = file["path"].as_str().expect("a path").to_owned();
        let mode = file["mode"].as_u64().and_then(|mode| mode.try_into().ok()).expect("a mode");
        put(tree.path(), &path, &content(file), mode);
        paths.push(path);
    }
    for unit in config["systemd"]["units"].as_sequence().into_iter().flatten() {
        let name = unit["name"].as_str().expect("a name");
        let mut parts: Vec<(String, &Value)> = Vec::new();
        if let Some(contents) = unit.get("contents") {
            parts.push((format!("/etc/systemd/system/{name}"), contents));
        }
        for part in unit["dropins"].as_sequence().into_iter().flatten() {
            let part_name = part["name"].as_str().expect("a name");
            parts.push((format!("/etc/systemd/system/{name}.d/{part_name}"), &part["contents"]));
        }
        for (path, text) in parts {
            put(tree.path(), &path, text.as_str().expect("text").as_bytes(), 0o644);
            paths.push(path);
        }
    }
    (tree, paths)
}

fn with(node: Node, tree: &Path) -> Node {
    node.installed(tree, "/etc/systemd/system", &[])
        .bind(program::dayone(), "/usr/lib/lab-image/dayone")
        .file("/usr/bin/podman", PODMAN, 0o755)
        .keyfile("eno1", DAY_ONE)
}

/// The first boot takes the program over the day-one network, and ends with the document's br-ex; the next one needs no registry;
/// after the MachineConfig nothing is left.
#[tests::case]
fn from_a_container_image_at_the_first_boot() -> Result<(), Error> {
    let lab = Lab::open()?;
    let (tree, paths) = machine_config(&Document::new().text());
    lab.run(with(node(Release::V5_1), tree.path()), &Peer::new(), |case| {
        for boot in 0..2 {
            if boot > 0 {
                case.reboot()?;
            } else {
                case.boot()?;
            }
            let inside = case.inside()?;
            finished(&inside)?;
            let it = outcome(&inside, None)?;
            assert_eq!(it.exit, 0, "{}", it.text());
            br_ex_works(case)?;
            assert_eq!(graph::complaints(&inside)?, Vec::<String>::new());
            let installer = inside.unit("dayone-install.service")?;
            assert_eq!(installer.exec_start.is_some(), boot == 0, "{installer:?}");
            assert_eq!(inside.sh("readlink /usr/local/bin/dayone")?, OWN);
            inside.write(AWAY, "")?;
        }
        // The operator removes what it wrote, and reboots.
        let inside = case.inside()?;
        inside.sh("systemctl disable dayone-install.service dayone.service dayone-wait.service dayone-recover.service \
            dayone-bridge.service dayone-pending.path dayone-health.path dayone-health.timer")?;
        inside.sh(&format!("rm {}", paths.join(" ")))?;
        case.reboot()?;
        let inside = case.inside()?;
        finished(&inside)?;
        br_ex_works(case)?;
        let left = "ls -d /usr/local/bin/dayone* /var/lib/dayone /etc/systemd/system/dayone* \
            /etc/systemd/system/*.wants/dayone* 2>/dev/null || :";
        inside.wait_sh(&format!("[ -z \"$({left})\" ]"), SOON)?;
        Ok(())
    })
}

/// Without the registry the node boots as without the agent, and asks again at the next boot.
#[tests::case]
fn without_the_registry_configure_ovs_makes_br_ex() -> Result<(), Error> {
    let lab = Lab::open()?;
    let (tree, _) = machine_config(&Document::new().text());
    let bound = "/etc/systemd/system/dayone-install.service.d/50-lab.conf";
    // With a document the operator's own unit would apply it.
    fs::remove_file(tree.path().join("etc/nmstate/openshift/worker-0.yml")).expect("a document");
    let node = with(node(Release::V4_20), tree.path()).file(AWAY, "", 0o644).file(
        bound,
        "[Service]\nTimeoutStartSec=10\n",
        0o644,
    );
    lab.run(node, &Peer::new(), |case| {
        case.boot()?;
        let inside = case.inside()?;
        inside.wait_unit("kubelet.service", "active", 6 * SOON)?;
        assert_eq!(inside.unit("dayone-install.service")?.result, "timeout");
        assert_eq!(inside.unit("dayone.service")?.exec_start, None);
        br_ex_works(case)?;
        made_by_configure_ovs(&inside)
    })
}
