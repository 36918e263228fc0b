//! A MachineConfig that brings the agent's units, and takes the program out of a container image.

#![allow(clippy::expect_used, reason = "a step of the case")]

use std::{fs, os::unix::fs::PermissionsExt, path::Path, process::Command};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_yaml::Value;

use super::{SOON, br_ex_works, finished};
use crate::{
    lab::{Case, Inside, Result},
    program,
};

/// A file's bytes from its `data:` URL.
///
/// # Panics
/// If it is none.
pub(super) fn content(file: &Value) -> Vec<u8> {
    let source = file["contents"]["source"].as_str().expect("a source");
    let Some((_, packed)) = source.split_once(";base64,") else {
        return unescaped(source.strip_prefix("data:,").expect("a URL of data"));
    };
    let bytes = STANDARD.decode(packed).expect("base64");
    if file["contents"]["compression"].as_str() != Some("gzip") {
        return bytes;
    }
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    std::io::Write::write_all(&mut file, &bytes).expect("a file");
    let input = file.reopen().expect("the file");
    Command::new("gzip").arg("-dc").stdin(input).output().expect("gzip").stdout
}

/// The bytes of a URL, in which `%` and two digits stand for one.
fn unescaped(text: &str) -> Vec<u8> {
    let mut parts = text.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let (digits, rest) = part.split_at(2);
        bytes.push(u8::from_str_radix(digits, 16).expect("two digits"));
        bytes.extend_from_slice(rest.as_bytes());
    }
    bytes
}

/// Puts text below a directory.
fn put(root: &Path, path: &str, text: &[u8], mode: u32) {
    let path = root.join(path.trim_start_matches('/'));
    fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
    fs::write(&path, text).expect("a file");
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("its mode");
}

/// The units that the operator enables for such a MachineConfig.
const UNITS: &str = "dayone-install.service dayone.service dayone-wait.service dayone-recover.service \
     dayone-bridge.service dayone-pending.path dayone-health.path dayone-health.timer";
/// Lists whatever of the agent is on a node.
const LEFT: &str = "ls -d /usr/local/bin/dayone* /var/lib/dayone /etc/systemd/system/dayone* \
     /etc/systemd/system/*.wants/dayone* 2>/dev/null || :";

/// The files and units of the MachineConfig for this document, as the operator writes them, and the list of their paths.
///
/// # Panics
/// If nmgen does not write one.
pub fn installing_machine_config(image: &str, document: &str) -> (tempfile::TempDir, Vec<String>) {
    machine_config(&["--install", image], document)
}

/// [`installing_machine_config`] with other arguments of nmgen.
///
/// # Panics
/// If nmgen does not write one.
pub fn machine_config(arguments: &[&str], document: &str) -> (tempfile::TempDir, Vec<String>) {
    let hosts = tempfile::tempdir().expect("a directory");
    fs::write(hosts.path().join("worker-0.yml"), document).expect("a document");
    let output = Command::new(program::nmgen())
        .args(["generate", "--to", "machine-config", "--role", "worker"])
        .args(arguments)
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

/// A drop-in with which a registry that is away costs ten seconds: its path and text.
pub const SHORT_WAIT: (&str, &str) =
    ("/etc/systemd/system/dayone-install.service.d/50-lab.conf", "[Service]\nTimeoutStartSec=10\n");

/// Waits for the end of a boot that did not get the image: as one without the agent.
///
/// # Panics
/// If it has a network of another kind, or none.
pub fn booted_without_image(case: &Case<'_>) -> Result<Inside> {
    let inside = case.inside()?;
    inside.wait_unit("kubelet.service", "active", 6 * SOON)?;
    assert_eq!(inside.unit("dayone-install.service")?.result, "timeout");
    assert_eq!(inside.unit("dayone.service")?.exec_start, None);
    br_ex_works(case)?;
    Ok(inside)
}

/// Removes the files of the MachineConfig, as the operator does, and reboots: br-ex stays, and nothing of the agent.
///
/// # Panics
/// If the node has no network.
pub fn machine_config_goes(case: &mut Case<'_>, paths: &[String]) -> Result<()> {
    case.inside()?.sh(&format!("systemctl disable {UNITS}; rm {}", paths.join(" ")))?;
    let inside = case.reboot()?;
    finished(&inside)?;
    br_ex_works(case)?;
    inside.wait_sh(&format!("[ -z \"$({LEFT})\" ]"), SOON)?;
    Ok(())
}
