//! ConfigMaps for the NodePools of a hosted cluster: each holds the MachineConfig of a role under `config`, and a NodePool names it
//! in `spec.config` (openshift/hypershift, `hypershift-operator/controllers/nodepool/config.go`).

use nmgen_core::write::File;
use nmgen_document::diagnostic::Diagnostics;
use nmgen_document::error::Error;
use serde_json::json;

use super::kubernetes_object::{metadata, yaml};
use super::to_machine_config;
use crate::convert::Converted;
use crate::output::options::Options;
use crate::output::rendered::Output;

/// The namespace in HyperShift's documentation.
const NAMESPACE: &str = "clusters";

pub(crate) fn render(
    hosts: &[Converted],
    options: &Options,
    diagnostics: &mut Diagnostics,
) -> Result<Output, Error> {
    let namespace = options.namespace.as_deref().unwrap_or(NAMESPACE);
    let wrapped = |file: File| {
        let name = file.name.trim_end_matches(".yaml");
        let config = String::from_utf8_lossy(&file.content);
        let object = json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": metadata(name, Some(namespace)),
            "data": { "config": config.trim_start_matches("---\n") },
        });
        Ok(File { content: yaml(&object)?.into_bytes(), ..file })
    };
    Ok(match to_machine_config::render(hosts, options, diagnostics)? {
        Output::Named(file) => Output::Named(wrapped(file)?),
        Output::Directory(files) => {
            Output::Directory(files.into_iter().map(wrapped).collect::<Result<_, Error>>()?)
        }
        Output::File(content) => Output::File(content),
    })
}
