//! The document as text: comments above it, or a manifest around it.

use serde_json::{Value, json};

use super::left_out::LeftOut;

/// A document of a node.
#[derive(Debug)]
pub(crate) struct Exported {
    /// A NetworkState.
    pub(crate) document: Value,
    pub(super) left_out: LeftOut,
}

/// The document in YAML, below what it says of itself.
pub(crate) fn page(exported: &Exported, yaml: &str, hostname: &str) -> String {
    head(exported, hostname) + yaml
}

/// The document in a NodeNetworkConfigurationPolicy of kubernetes-nmstate, for this node alone.
///
/// # Errors
/// serde_yaml's.
pub(crate) fn manifest(
    exported: &Exported,
    yaml: &str,
    hostname: &str,
) -> Result<String, serde_yaml::Error> {
    // The label has the name in the form of DNS.
    let name = hostname.to_lowercase();
    let document: Value = serde_yaml::from_str(yaml)?;
    let spec = json!({"nodeSelector": {"kubernetes.io/hostname": name}, "desiredState": document});
    let policy = json!({
        "apiVersion": "nmstate.io/v1",
        "kind": "NodeNetworkConfigurationPolicy",
        "metadata": {"name": name},
        "spec": spec,
    });
    Ok(head(exported, hostname) + &serde_yaml::to_string(&policy)?)
}

fn head(exported: &Exported, hostname: &str) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let mut lines = vec![
        format!(
            "The network of {hostname}, as NetworkManager's profiles configure it (dayone {version})"
        ),
        "`dayone diff --document FILE` compares it with the node".to_owned(),
        "Left out:".to_owned(),
    ];
    lines.extend(exported.left_out.lines());
    lines.iter().map(|line| format!("# {}\n", nmgen::printable(line))).collect()
}
