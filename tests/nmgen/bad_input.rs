//! Bad input: the whole message and the exit code of each, nothing written, no panic.
//!
//! A case is a directory: `command`, lines for `sh` that run in a copy of the directory with `nmgen` on
//! the path and `OUT` as the target; `expected`, the exit code and standard error. `BLESS=1` rewrites
//! the latter.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tests::program::{self, Exits as _};

fn cases() -> Vec<PathBuf> {
    let directory = program::root().join("tests/fixtures/bad-input");
    let mut cases: Vec<PathBuf> =
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.sort();
    cases
}

#[tests::case]
fn every_case_fails_with_its_message_and_writes_nothing() {
    let mut faults = Vec::new();
    for case in cases() {
        let name = case.file_name().unwrap().to_string_lossy().into_owned();
        let place = tempfile::tempdir().unwrap();
        copy(&case, place.path());
        let output = sh(place.path(), &fs::read_to_string(case.join("command")).unwrap());
        let stderr = output.err();
        let found = format!("exit code {}\n{stderr}", output.status.code().unwrap());
        if std::env::var_os("BLESS").is_some() {
            fs::write(case.join("expected"), &found).unwrap();
        }
        let expected = fs::read_to_string(case.join("expected")).unwrap_or_default();
        if found != expected {
            faults.push(format!("{name}: expected\n{expected}\nbut found\n{found}"));
        }
        if matches!(output.status.code(), Some(0) | Some(101) | None) || stderr.contains("panicked")
        {
            faults.push(format!("{name}: it should have been refused"));
        }
        if !output.stdout.is_empty() {
            faults.push(format!("{name}: something on standard output"));
        }
        let written = files_of(place.path(), Path::new("OUT"));
        if !written.is_empty() || !files_of(place.path(), Path::new("elsewhere")).is_empty() {
            faults.push(format!("{name}: it wrote {written:?}"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[tests::case]
fn a_document_of_1000_interfaces_is_converted_without_a_word() {
    let place = tempfile::tempdir().unwrap();
    let mut document = "interfaces:\n".to_owned();
    for index in 0..500 {
        let (nic, vlan) = (format!("eth{index}"), format!("eth{index}.7"));
        let address = format!("10.{}.{}.1", index / 256, index % 256);
        write!(
            document,
            "- {{name: {nic}, type: ethernet, state: up, mtu: 9000}}\n\
             - name: {vlan}\n  type: vlan\n  state: up\n  mtu: 1500\n  \
             vlan: {{base-iface: {nic}, id: 7}}\n  ipv4:\n    enabled: true\n    \
             address:\n    - {{ip: {address}, prefix-length: 24}}\n"
        )
        .unwrap();
    }
    document += "routes: {config: [{destination: 0.0.0.0/0, next-hop-address: 10.0.0.254, next-hop-interface: eth0.7}]}\n\
                 dns-resolver: {config: {server: [10.0.0.254]}}\n";
    fs::write(place.path().join("input.yml"), document).unwrap();
    let output = sh(place.path(), "nmgen generate --deny-warnings -o OUT input.yml").exits(0);
    assert_eq!(output.err(), "");
    assert_eq!(files_of(place.path(), Path::new("OUT")).len(), 1000);
}

fn sh(directory: &Path, command: &str) -> Output {
    let own = program::nmgen().parent().unwrap().to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([own].into_iter().chain(std::env::split_paths(&path))).unwrap();
    let script = format!("set -e\n{command}");
    Command::new("sh")
        .args(["-c", &script])
        .current_dir(directory)
        .env("PATH", path)
        .output()
        .unwrap()
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            fs::create_dir(&target).unwrap();
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Every file below the directory, without following links.
fn files_of(root: &Path, directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(root.join(directory)) else { return Vec::new() };
    let mut files = Vec::new();
    for entry in entries.map(Result::unwrap) {
        let path = directory.join(entry.file_name());
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            files.extend(files_of(root, &path));
        } else if kind.is_file() {
            files.push(path);
        }
    }
    files
}
