//! The operating system of a MachineConfigPool: the stream that it names, and an image that overrides it, a MachineConfig's
//! `spec.osImageURL` or a MachineOSConfig's pre-built image, of which the operator makes such a MachineConfig. With both it renders
//! nothing for the pool (openshift/machine-config-operator, `generateRenderedMachineConfig`).

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use nmgen_document::Node;
use nmgen_document::diagnostic::{Diagnostics, Place, rules};

use super::found::Found;
use super::manifest::Manifest;

rules! {
    error STREAM_WITH_IMAGE = "stream-with-image";
}

/// The label by which a pool selects MachineConfigs.
pub(super) const ROLE: &str = "machineconfiguration.openshift.io/role";
const PRE_BUILT: &str = "machineconfiguration.openshift.io/pre-built-image";
/// The operator's own MachineConfigs have it, and override nothing.
const GENERATED: &str = "machineconfiguration.openshift.io/generated-by-controller-version";

#[derive(Debug)]
struct Stream {
    pool: String,
    /// The roles whose MachineConfigs the pool takes.
    roles: Vec<String>,
    name: String,
    directory: Arc<str>,
    place: Place,
}

#[derive(Debug)]
struct Image {
    role: String,
    directory: Arc<str>,
    place: Place,
}

/// The streams and images of the sources' pools.
#[derive(Debug, Default)]
pub(super) struct OsImages {
    streams: Vec<Stream>,
    images: Vec<Image>,
}

impl OsImages {
    /// Tells of pools with both. `is_one_cluster`: the sources describe no second one, which may have a pool of the same name.
    pub(super) fn refused(&self, is_one_cluster: bool) -> Diagnostics {
        let mut images: HashMap<&str, Vec<&Image>> = HashMap::new();
        for image in &self.images {
            images.entry(&image.role).or_default().push(image);
        }
        let mut pools: HashMap<&str, usize> = HashMap::new();
        for stream in &self.streams {
            *pools.entry(&stream.pool).or_default() += 1;
        }
        let mut found = Diagnostics::default();
        for stream in &self.streams {
            let is_only = is_one_cluster && pools.get(&*stream.pool) == Some(&1);
            let is_beside = |image: &&&Image| {
                let [one, other] =
                    [&stream.directory, &image.directory].map(|path| Path::new(&**path));
                is_only || one.starts_with(other) || other.starts_with(one)
            };
            let roles = stream.roles.iter();
            let of_pool = |role: &String| images.get(role.as_str())?.iter().find(is_beside);
            let Some(image) = roles.filter_map(of_pool).next() else { continue };
            let message = format!(
                "the pool {} names the stream {}, and {} gives it an image",
                stream.pool.escape_debug(),
                stream.name.escape_debug(),
                image.place.shown()
            );
            let help = "machine-config-operator renders no configuration for a pool with both: leave out one";
            found.add(STREAM_WITH_IMAGE, stream.place.clone(), message, help);
        }
        found
    }
}

/// Reads the stream of a MachineConfigPool.
pub(super) fn pool(manifest: &mut Manifest<'_>, root: &Node<'_>, found: &mut Found) {
    let Some(spec) = manifest.get(root, "spec") else { return };
    let stream = manifest.get(spec, "osImageStream");
    let Some((name, at)) = stream.and_then(|node| manifest.text(node, "name")) else { return };
    let Some((pool, _)) = manifest.metadata(root).filter(|_| !name.is_empty()) else { return };
    found.os_images.streams.push(Stream {
        roles: roles(spec).unwrap_or_else(|| vec![pool.name.clone()]),
        pool: pool.name,
        name: name.to_owned(),
        directory: found.origin.directory.clone(),
        place: manifest.place(at),
    });
}

/// Reads the pre-built image of a MachineOSConfig.
pub(super) fn os_config(manifest: &mut Manifest<'_>, root: &Node<'_>, found: &mut Found) {
    let annotations = manifest.at(root, &["metadata", "annotations"]);
    let image = annotations.and_then(|annotations| annotations.get(PRE_BUILT));
    let pool = manifest.at(root, &["spec", "machineConfigPool", "name"]).and_then(Node::text);
    add(manifest, pool, image, found);
}

/// Reads the image of a MachineConfig for this role.
pub(super) fn machine_config(
    manifest: &mut Manifest<'_>,
    root: &Node<'_>,
    role: Option<&str>,
    found: &mut Found,
) {
    if root.at(&["metadata", "annotations", GENERATED]).is_none() {
        let image = root.get("spec").and_then(|spec| manifest.get(spec, "osImageURL"));
        add(manifest, role, image, found);
    }
}

fn add(manifest: &Manifest<'_>, role: Option<&str>, image: Option<&Node<'_>>, found: &mut Found) {
    let image = image.filter(|image| image.text().is_some_and(|text| !text.is_empty()));
    if let (Some(role), Some(image)) = (role, image) {
        let (role, directory) = (role.to_owned(), found.origin.directory.clone());
        found.os_images.images.push(Image { role, directory, place: manifest.place(image) });
    }
}

/// The roles that a pool's selector asks for; none in a patch of a pool, which has no selector.
fn roles(spec: &Node<'_>) -> Option<Vec<String>> {
    let selector = spec.get("machineConfigSelector")?;
    let label = selector.get("matchLabels").and_then(|labels| labels.text_at(ROLE));
    let expressions = selector.items_at(&["matchExpressions"]);
    let is_role = |expression: &&Node<'_>| {
        expression.text_at("key") == Some(ROLE) && expression.text_at("operator") == Some("In")
    };
    let values =
        expressions.iter().filter(is_role).filter_map(|expression| expression.get("values"));
    let values = values.flat_map(Node::items).filter_map(Node::text);
    Some(label.into_iter().chain(values).map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use nmgen_document::text::Source;

    use super::*;
    use crate::source::{found::Found, kind};

    const API: &str = "apiVersion: machineconfiguration.openshift.io/v1\n";
    const POOL: &str = "kind: MachineConfigPool\nmetadata: {name: worker}\nspec: {osImageStream: {name: rhel-10}}\n";
    const IMAGE: &str = "kind: MachineConfig\nmetadata: {name: a, labels: {machineconfiguration.openshift.io/role: worker}}\nspec: {osImageURL: a@sha256:0}\n";

    /// Where pools are refused, among these directories' objects.
    fn refused(files: &[(&str, &str)], is_one_cluster: bool) -> Vec<String> {
        let mut found = Found::default();
        for (directory, text) in files {
            found.origin.directory = (*directory).into();
            let name = format!("{directory}/a.yaml").into();
            kind::load(&Source { name, text: format!("{API}{text}").into() }, &mut found);
        }
        let refused = found.os_images.refused(is_one_cluster);
        refused.iter().map(|fault| fault.place.file.to_string()).collect()
    }

    #[test]
    fn a_pool_and_an_image_are_of_one_cluster_by_their_directories_where_there_may_be_two() {
        for (pools, image, is_one, expected) in [
            (&["a"][..], "b", true, &["a/a.yaml"][..]),
            (&["a"], "b", false, &[]),
            (&["a"], "a/b", false, &["a/a.yaml"]),
            (&["a/b"], "a", false, &["a/b/a.yaml"]),
            (&["a", "b"], "b", true, &["b/a.yaml"]),
            (&["a", "b"], "c", true, &[]),
        ] {
            let pools = pools.iter().map(|directory| (*directory, POOL));
            let files: Vec<_> = pools.chain([(image, IMAGE)]).collect();
            assert_eq!(refused(&files, is_one), expected, "{files:?}");
        }
    }

    #[test]
    fn only_what_the_pool_selects_and_a_person_wrote_overrides_its_stream() {
        let selects = |selector: &str| {
            let selector = format!("spec: {{machineConfigSelector: {selector}, ");
            refused(&[("a", &POOL.replace("spec: {", &selector)), ("a", IMAGE)], true).len()
        };
        assert_eq!(selects(&format!("{{matchLabels: {{{ROLE}: worker}}}}")), 1);
        assert_eq!(selects(&format!("{{matchLabels: {{{ROLE}: infra}}}}")), 0);
        assert_eq!(selects("{matchLabels: {pool: worker}}"), 0);
        let any = |operator: &str| {
            format!(
                "{{matchExpressions: [{{key: {ROLE}, operator: {operator}, values: [infra, worker]}}]}}"
            )
        };
        assert_eq!((selects(&any("In")), selects(&any("NotIn"))), (1, 0));
        let generated = format!("name: a, annotations: {{{GENERATED}: 0f1e}}");
        for image in [
            IMAGE.replace("name: a", &generated),
            IMAGE.replace("a@sha256:0", "''"),
            IMAGE.replace("a@sha256:0", "~"),
        ] {
            assert_eq!(refused(&[("a", POOL), ("a", &image)], true), [""; 0], "{image}");
        }
    }
}
