//! Common parts of Kubernetes objects.

use nmgen_document::Document;
use nmgen_document::diagnostic::{Diagnostic, Diagnostics, Place, rules};
use nmgen_document::error::Error;
use serde_json::{Value, json};

rules! {
    error NAME = "kubernetes-name";
}

/// An object as one document of a YAML stream.
pub(super) fn yaml(object: &Value) -> Result<String, Error> {
    let text = serde_yaml::to_string(object).map_err(|source| Error::RenderYaml { source })?;
    Ok(format!("---\n{text}"))
}

/// A name and an optional namespace.
pub(super) fn metadata(name: &str, namespace: Option<&str>) -> Value {
    let mut metadata = json!({ "name": name });
    if let Some(namespace) = namespace {
        metadata["namespace"] = namespace.into();
    }
    metadata
}

/// True for a valid Kubernetes name (RFC 1123 subdomain); any other is reported.
pub(super) fn is_name(
    name: &str,
    what: &str,
    place: &Place,
    diagnostics: &mut Diagnostics,
) -> bool {
    let is_inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let is_label = |label: &str| {
        label.starts_with(is_inner)
            && label.ends_with(is_inner)
            && label.chars().all(|c| is_inner(c) || c == '-')
    };
    let is_name = name.len() <= 200 && name.split('.').all(is_label);
    if !is_name {
        let message =
            format!("\"{}\" as {what} cannot name a Kubernetes object", name.escape_debug());
        let diagnostic = Diagnostic::new(NAME, message, place.clone());
        diagnostics.push(diagnostic.help("lower-case letters, digits, '-' and '.' (RFC 1123)"));
    }
    is_name
}

/// The document rendered below a key, indented by `indent` columns.
pub(super) fn embedded(document: &Document<'_>, indent: usize) -> String {
    let text = document.part(document.root.clone()).text().into_owned();
    // Every value is on one line, so indentation changes none.
    text.lines().map(|line| format!("{:indent$}{line}\n", "")).collect()
}
