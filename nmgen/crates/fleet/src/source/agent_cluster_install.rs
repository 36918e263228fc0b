//! AgentClusterInstall and ClusterDeployment (openshift/assisted-service, `api/hiveextension/v1beta1/agentclusterinstall_types.go`;
//! openshift/hive): a cluster, whose hosts other objects of its namespace describe.

use nmgen_document::Node;

use super::found::Found;
use super::installation;
use super::manifest::Manifest;
use super::origin::{Claim, Standing};

/// An AgentClusterInstall: the networks and virtual addresses of the cluster that it refers to.
pub(super) fn load(manifest: &mut Manifest<'_>, root: &Node<'_>, found: &mut Found) {
    let Some((object, place)) = manifest.metadata(root) else { return };
    let Some(spec) = manifest.get(root, "spec") else { return };
    let deployment = manifest.at(spec, &["clusterDeploymentRef"]);
    let name = deployment
        .and_then(|deployment| deployment.text_at("name"))
        .unwrap_or(&object.name)
        .to_owned();
    found.origin.claim(Claim::Cluster {
        namespace: object.namespace,
        name,
        standing: Standing::Part,
    });
    let cluster = found.describe(place);
    let networking = manifest.get(spec, "networking");
    installation::network(manifest, networking, cluster);
    // A single node has the addresses of its API itself.
    let agents = spec.number_at(&["provisionRequirements", "controlPlaneAgents"]);
    if agents != Some(1) {
        installation::virtual_addresses(manifest, spec, cluster);
    }
}

pub(super) fn deployment(manifest: &mut Manifest<'_>, root: &Node<'_>, found: &mut Found) {
    let Some((object, place)) = manifest.metadata(root) else { return };
    let (namespace, standing) = (object.namespace, Standing::Part);
    found.origin.claim(Claim::Cluster { namespace, name: object.name, standing });
    found.describe(place);
}
