//! The checks before any change; the only caller of nmgen's rules.

use nmgen::{
    Reading,
    diagnostic::{Diagnostic, Severity},
    source::Source,
};
use thiserror::Error;

use super::read::Document;
use crate::{
    paths::Paths,
    state::{Parsed, StateError},
};

/// Why a document must not be applied.
#[derive(Debug, Error)]
pub(crate) enum CheckError {
    #[error("{path} is not valid")]
    Parse { path: std::path::PathBuf, source: StateError },
    #[error("{}", .0.iter().map(Diagnostic::one_line).collect::<Vec<_>>().join("; "))]
    Refused(Vec<Diagnostic>),
    #[error(
        "{path}: {interface} has copy-mac-from: {link}, which is not there before the document makes it: nmstate \
         refuses that; give {interface} or {link} a mac-address"
    )]
    CopiesFromMade { path: std::path::PathBuf, interface: String, link: String },
}

/// Refuses `copy-mac-from` an interface that only this document makes and that does not exist yet: nmstate refuses that too.
pub(crate) fn copied_macs(
    paths: &Paths,
    document: &Document,
    parsed: &Parsed,
) -> Result<(), CheckError> {
    let Parsed::State(state) = parsed else { return Ok(()) };
    let missing = state.copies_from_made().into_iter();
    let mut missing =
        missing.filter(|(_, link)| !paths.device(link).is_some_and(|device| device.exists()));
    match missing.next() {
        None => Ok(()),
        Some((interface, link)) => {
            let path = document.path.clone();
            Err(CheckError::CopiesFromMade { path, interface, link })
        }
    }
}

/// Reads the document once and checks it. Warnings are logged and do not stop it.
pub(crate) fn check(document: &Document) -> Result<Parsed, CheckError> {
    let name = document.path.display().to_string().into();
    let source = Source { name, text: document.text.as_str().into() };
    let reading = Reading::parse(&source)
        .map_err(|faults| CheckError::Refused(faults.into_iter().collect()))?;
    // A policy resolves only on the node; nmstate alone judges the result.
    if !reading.is_policy() {
        let (errors, warnings): (Vec<_>, Vec<_>) =
            reading.check().into_iter().partition(|d| d.rule.severity == Severity::Error);
        for warning in warnings {
            tracing::warn!(dayone_rule = warning.rule.name, "{}", warning.one_line());
        }
        if !errors.is_empty() {
            return Err(CheckError::Refused(errors));
        }
    }
    Parsed::read(&reading)
        .map_err(|source| CheckError::Parse { path: document.path.clone(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(text: &str) -> Result<Parsed, CheckError> {
        let digest = crate::document::digest::Digest::of(text.as_bytes());
        check(&Document { path: "worker-0.yml".into(), text: text.to_owned(), digest, mode: 0o644 })
    }

    #[test]
    fn an_error_names_file_line_and_column() {
        let text = "interfaces:\n- name: v\n  type: vlan\n  vlan: {base-iface: eth0, id: 5000}\n";
        let error = checked(text).expect_err("VLAN 5000 passed");
        let expected = "worker-0.yml:4:32: VLAN id 5000 is not in 1..=4094 [vlan-id-range]";
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn what_works_on_a_node_is_not_refused() {
        // The port and the base interface are undeclared, and one interface is removed.
        let text = "interfaces:\n- {name: old0, type: dummy, state: absent}\n\
             - name: br-ex\n  type: ovs-bridge\n  bridge: {port: [{name: eth9}, {name: br-ex}]}\n\
             - {name: br-ex, type: ovs-interface, copy-mac-from: eth9, ipv4: {enabled: true, dhcp: true}}\n";
        assert!(checked(text).is_ok());
    }

    #[test]
    fn an_address_of_an_interface_that_only_the_document_makes_cannot_be_copied()
    -> Result<(), Box<dyn std::error::Error>> {
        let root = tempfile::tempdir()?;
        let paths = Paths::new(root.path());
        let bond = "- {name: bond0, type: bond, link-aggregation: {mode: active-backup, port: [eno1]}, MAC}\n";
        let bridge = "- {name: br0, type: linux-bridge, copy-mac-from: FROM, bridge: {port: [{name: bond0}]}}\n";
        let card = "- {name: eno1, type: ethernet}\n";
        let refused = |from: &str, mac: &str| {
            let text = format!("interfaces:\n{card}{bond}{bridge}");
            let text = text.replace("FROM", from).replace(", MAC", mac);
            let digest = crate::document::digest::Digest::of(text.as_bytes());
            let document = Document { path: "worker-0.yml".into(), text, digest, mode: 0o644 };
            copied_macs(&paths, &document, &check(&document)?)
        };
        let error = refused("bond0", "").expect_err("bond0 is not there");
        assert!(error.to_string().contains("br0 has copy-mac-from: bond0, which"), "{error}");
        refused("eno1", "")?;
        refused("bond0", ", mac-address: 52:54:00:00:00:07")?;
        // Made by the ramdisk's profiles, say.
        std::fs::create_dir_all(paths.sys_net().join("bond0"))?;
        refused("bond0", "")?;
        Ok(())
    }

    #[test]
    fn a_policy_is_left_to_nmstate() {
        let text = "capture:\n  gw: routes.running.destination==\"0.0.0.0/0\"\ndesiredState:\n  interfaces: []\n";
        assert!(matches!(checked(text), Ok(Parsed::Policy(_))));
    }
}
