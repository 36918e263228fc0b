//! Profiles that a MachineConfig brings, and that a document edits: nmstate writes the profile of an interface that has one in the
//! same file. machine-config-daemon compares its files with the MachineConfig, and reports a node with another content as Degraded
//! (`pkg/daemon/on_disk_validation.go` of openshift/machine-config-operator); its repair writes the old profile back.

use std::io;

use nmgen::{profile::Keyfile, source::bounded};
use serde::Deserialize;

use crate::{paths::Paths, state::Parsed};

/// The whole configuration of a node is large.
const LIMIT: usize = 16 << 20;
/// A profile is small.
const PROFILE_LIMIT: usize = 1 << 20;
const PROFILES: &str = "/etc/NetworkManager/system-connections/";

/// The parts of a rendered MachineConfig with Ignition's files.
#[derive(Default, Deserialize)]
#[serde(default)]
struct MachineConfig {
    spec: Spec,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Spec {
    config: Ignition,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Ignition {
    storage: Storage,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Storage {
    files: Vec<StorageFile>,
}

#[derive(Deserialize)]
struct StorageFile {
    path: String,
}

/// A warning for each file of the MachineConfig in place that is the profile of one of the document's interfaces.
pub(crate) fn edited_files(paths: &Paths, parsed: &Parsed) -> Vec<String> {
    let text = match bounded::read(&paths.machine_config(), LIMIT) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Vec::new(),
        Err(error) => return vec![unread(paths, &error)],
    };
    let config: MachineConfig = match serde_json::from_slice(&text) {
        Ok(config) => config,
        Err(error) => return vec![unread(paths, &error)],
    };
    let names = parsed.first_wants().links;
    let files = config.spec.config.storage.files.into_iter().map(|file| file.path);
    let profiles = files.filter(|path| path.starts_with(PROFILES));
    let edited = profiles.filter_map(|path| {
        let name = interface(paths, &path)?;
        names.contains(&name).then(|| {
            format!(
                "{path} comes with a MachineConfig and is the profile of {name}: the document edits it, and machine-config-daemon then \
                 reports this node as Degraded; take it out of the MachineConfig in the change that brings the document"
            )
        })
    });
    edited.collect()
}

/// The interface of a profile: its own word, or the name of its file.
fn interface(paths: &Paths, path: &str) -> Option<String> {
    let text = bounded::read(&paths.under(path), PROFILE_LIMIT).ok();
    let text = text.map(|text| String::from_utf8_lossy(&text).into_owned()).unwrap_or_default();
    let keyfile = Keyfile::parse_leniently(&text);
    let stem = || path.strip_prefix(PROFILES)?.strip_suffix(".nmconnection");
    keyfile.get("connection", "interface-name").or_else(stem).map(str::to_owned)
}

fn unread(paths: &Paths, error: &dyn std::error::Error) -> String {
    let path = paths.machine_config();
    format!(
        "{} cannot be read ({error}): whether the document edits files of a MachineConfig is unknown",
        path.display()
    )
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn profiles_of_a_machine_config_are_told_where_the_document_has_their_interface()
    -> Result<(), Box<dyn std::error::Error>> {
        let root = tempfile::tempdir()?;
        let paths = Paths::new(root.path());
        let document = "interfaces: [{name: bond0, type: bond, state: up}, {name: eno1, type: ethernet, state: up}]";
        let parsed = Parsed::new(document)?;
        assert!(edited_files(&paths, &parsed).is_empty());
        let write = |path: &str, text: &str| {
            let path = paths.under(path);
            fs::create_dir_all(path.parent().unwrap_or(&path)).and_then(|()| fs::write(&path, text))
        };
        write(
            "/etc/machine-config-daemon/currentconfig",
            r#"{"spec": {"config": {"ignition": {"version": "3.4.0"}, "storage": {"files": [
                {"path": "/etc/NetworkManager/system-connections/uplink.nmconnection", "contents": {"source": "data:,"}},
                {"path": "/etc/NetworkManager/system-connections/eno1.nmconnection"},
                {"path": "/etc/NetworkManager/system-connections/eno9.nmconnection"},
                {"path": "/etc/NetworkManager/conf.d/eno1.conf"}]}}}}"#,
        )?;
        write(
            "/etc/NetworkManager/system-connections/uplink.nmconnection",
            "[connection]\nid=uplink\ninterface-name=bond0\n",
        )?;
        let told = edited_files(&paths, &parsed);
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(told[0].contains("uplink.nmconnection comes with a MachineConfig"), "{told:?}");
        assert!(told[1].contains("the profile of eno1"), "{told:?}");
        write("/etc/machine-config-daemon/currentconfig", "{")?;
        assert!(edited_files(&paths, &parsed)[0].contains("is unknown"));
        Ok(())
    }
}
