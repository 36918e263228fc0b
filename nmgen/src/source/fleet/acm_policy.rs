//! Policies of Open Cluster Management: a Policy has ConfigurationPolicies in `spec.policy-templates[]`, and these the objects of
//! the managed clusters in `spec.object-templates[]` (config-policy-controller, `api/v1/configurationpolicy_types.go`).

use super::embedded;
use super::manifest::Manifest;
use crate::document::{Document, Node};

const OBJECT: &str = "objectDefinition";
/// The objects as text, in which Go's templates are expected.
const RAW: &str = "object-templates-raw";

/// The templates of a Policy, which are objects themselves.
pub(super) fn templates<'a>(manifest: &mut Manifest<'a>, root: &'a Node<'a>) -> Vec<&'a Node<'a>> {
    let spec = manifest.get(root, "spec");
    let templates = spec.map(|spec| manifest.list(spec, "policy-templates")).unwrap_or_default();
    templates.iter().filter_map(|template| manifest.get(template, OBJECT)).collect()
}

/// The objects of a ConfigurationPolicy.
pub(super) fn objects<'a>(manifest: &mut Manifest<'a>, root: &'a Node<'a>) -> Vec<&'a Node<'a>> {
    let Some(spec) = manifest.get(root, "spec") else { return Vec::new() };
    // Each of the two keys would be taken for a misspelling of the other.
    if spec.get(RAW).is_some() {
        return Vec::new();
    }
    let templates = manifest.list(spec, "object-templates").iter();
    let wanted = templates.filter(|template| is_wanted(template));
    wanted.filter_map(|template| manifest.get(template, OBJECT)).collect()
}

/// The objects that a ConfigurationPolicy has as text.
pub(super) fn raw<'a>(
    manifest: &mut Manifest<'a>,
    root: &'a Node<'a>,
) -> Option<Document<'static>> {
    let spec = root.get("spec").filter(|spec| spec.get(RAW).is_some())?;
    let (text, node) = manifest.text(spec, RAW)?;
    let document = embedded::text(manifest.document(), node, text);
    manifest.accept(document)
}

/// The objects in a list of templates.
pub(super) fn objects_of<'a>(raw: &'a Document<'_>) -> impl Iterator<Item = &'a Node<'a>> {
    let templates = raw.root.items().iter();
    templates.filter(|template| is_wanted(template)).filter_map(|template| template.get(OBJECT))
}

/// False for objects that the policy removes.
fn is_wanted(template: &Node<'_>) -> bool {
    let is_removed = |kind: &str| kind.eq_ignore_ascii_case("mustnothave");
    !template.text_at("complianceType").is_some_and(is_removed)
}
