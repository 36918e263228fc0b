//! The document as text: comments above it, or a manifest around it.

use serde_json::Value;

use super::left_out::LeftOut;

/// A document of a node.
#[derive(Debug)]
pub(crate) struct Exported {
    /// A NetworkState.
    pub(crate) document: Value,
    pub(super) left_out: Vec<LeftOut>,
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
    let document: serde_yaml::Value = serde_yaml::from_str(yaml)?;
    let mut spec = serde_yaml::Mapping::new();
    let selector = Value::from(serde_json::Map::from_iter([(
        "kubernetes.io/hostname".to_owned(),
        Value::from(&*name),
    )]));
    spec.insert("nodeSelector".into(), serde_yaml::to_value(selector)?);
    spec.insert("desiredState".into(), document);
    let mut policy = serde_yaml::Mapping::new();
    policy.insert("apiVersion".into(), "nmstate.io/v1".into());
    policy.insert("kind".into(), "NodeNetworkConfigurationPolicy".into());
    let metadata = serde_yaml::Mapping::from_iter([("name".into(), name.into())]);
    policy.insert("metadata".into(), metadata.into());
    policy.insert("spec".into(), spec.into());
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
    lines.extend(exported.left_out.iter().map(|left_out| format!("- {left_out}")));
    lines.iter().map(|line| format!("# {}\n", nmgen::printable(line))).collect()
}
