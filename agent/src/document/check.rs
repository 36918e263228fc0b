//! The checks before any change; the only caller of nmgen's rules.

use nmgen::{
    Reading,
    diagnostic::{Diagnostic, Severity},
    source::Source,
};
use thiserror::Error;

use super::read::Document;
use crate::state::{Parsed, StateError};

/// Why a document must not be applied.
#[derive(Debug, Error)]
pub(crate) enum CheckError {
    #[error("{path} is not valid")]
    Parse { path: std::path::PathBuf, source: StateError },
    #[error("{}", in_one_line(.0))]
    Refused(Vec<Diagnostic>),
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

fn in_one_line(errors: &[Diagnostic]) -> String {
    errors.iter().map(Diagnostic::one_line).collect::<Vec<_>>().join("; ")
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
    fn a_policy_is_left_to_nmstate() {
        let text = "capture:\n  gw: routes.running.destination==\"0.0.0.0/0\"\ndesiredState:\n  interfaces: []\n";
        assert!(matches!(checked(text), Ok(Parsed::Policy(_))));
    }
}
