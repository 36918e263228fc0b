//! Policies of Open Cluster Management: a Policy has ConfigurationPolicies in `spec.policy-templates[]`, and these the objects of
//! the managed clusters in `spec.object-templates[]` (config-policy-controller, `api/v1/configurationpolicy_types.go`).

use nmgen_document::{Document, Node};

use super::embedded;
use super::manifest::{Manifest, items_mut, value_mut};
use super::network_words::is_about_network;

const OBJECT: &str = "objectDefinition";
/// The objects as text, in which Go's templates are expected.
const RAW: &str = "object-templates-raw";

/// The templates of a Policy, which are objects themselves.
pub(super) fn templates<'n, 't>(
    manifest: &mut Manifest<'_>,
    root: &'n mut Node<'t>,
) -> Vec<&'n mut Node<'t>> {
    let spec = manifest.get_mut(root, "spec");
    let templates = spec.map(|spec| manifest.list_mut(spec, "policy-templates"));
    let templates = templates.unwrap_or_default().iter_mut();
    templates.filter_map(|template| manifest.get_mut(template, OBJECT)).collect()
}

pub(super) fn objects<'n, 't>(
    manifest: &mut Manifest<'_>,
    root: &'n mut Node<'t>,
) -> Vec<&'n mut Node<'t>> {
    let Some(spec) = manifest.get_mut(root, "spec") else { return Vec::new() };
    // Each of the two keys would be taken for a misspelling of the other.
    if spec.get(RAW).is_some() {
        return Vec::new();
    }
    let templates = manifest.list_mut(spec, "object-templates").iter_mut();
    let wanted = templates.filter(|template| is_wanted(template));
    wanted.filter_map(|template| manifest.get_mut(template, OBJECT)).collect()
}

/// The objects that a ConfigurationPolicy has as text.
pub(super) fn raw(manifest: &mut Manifest<'_>, root: &Node<'_>) -> Option<Document<'static>> {
    let spec = root.get("spec").filter(|spec| spec.get(RAW).is_some())?;
    let (text, node) = manifest.text(spec, RAW)?;
    if !is_about_network(text) {
        return None;
    }
    let document = embedded::text(manifest.document(), node, text);
    manifest.accept(document)
}

/// The objects in a list of templates.
pub(super) fn objects_of<'n, 't>(raw: &'n mut Node<'t>) -> impl Iterator<Item = &'n mut Node<'t>> {
    let templates = items_mut(raw, &[]).iter_mut().filter(|template| is_wanted(template));
    templates.filter_map(|template| value_mut(template, OBJECT))
}

/// False for objects that the policy removes.
fn is_wanted(template: &Node<'_>) -> bool {
    !template.text_at("complianceType").is_some_and(|kind| kind.eq_ignore_ascii_case("mustnothave"))
}
