//! Common parts of Kubernetes objects.

use nmgen_document::Document;
use nmgen_document::diagnostic::{Diagnostics, Place, rules};
use nmgen_document::error::Error;
use serde_json::{Value, json};

use crate::output::kubernetes_name::is_object_name;

rules! {
    error NAME = "kubernetes-name";
}

/// An object as one document of a YAML stream.
pub(super) fn yaml(object: &Value) -> Result<String, Error> {
    let text = serde_yaml::to_string(object).map_err(|source| Error::RenderYaml { source })?;
    Ok(format!("---\n{text}"))
}

pub(super) fn metadata(name: &str, namespace: Option<&str>) -> Value {
    let mut metadata = json!({ "name": name });
    if let Some(namespace) = namespace {
        metadata["namespace"] = namespace.into();
    }
    metadata
}

/// True for the name of an object; any other is reported.
pub(super) fn is_name(
    name: &str,
    what: &str,
    place: &Place,
    diagnostics: &mut Diagnostics,
) -> bool {
    let is_name = is_object_name(name);
    if !is_name {
        let message =
            format!("\"{}\" as {what} cannot name a Kubernetes object", name.escape_debug());
        let help = "lower-case letters, digits, '-' and '.' (RFC 1123)";
        diagnostics.add(NAME, place.clone(), message, help);
    }
    is_name
}

/// The document rendered below a key, indented by `indent` columns.
pub(super) fn embedded(document: &Document<'_>, indent: usize) -> String {
    let text = document.part(document.root.clone()).text().into_owned();
    // Every value is on one line, so indentation changes none.
    text.lines().map(|line| format!("{:indent$}{line}\n", "")).collect()
}
