//! For hosts added to a cluster: the Secret with the network, and the BareMetalHost's reference to
//! it.

use nmgen_document::diagnostic::Diagnostics;
use nmgen_document::error::Error;
use serde_json::json;

use super::host_name::named;
use super::kubernetes_object::{self, metadata, yaml};
use crate::convert::Converted;
use crate::output::options::Options;

const NAMESPACE: &str = "openshift-machine-api";

/// Two objects per host. The second is a patch, to be merged into the host's BareMetalHost.
pub(crate) fn render(
    hosts: &[Converted],
    options: &Options,
    diagnostics: &mut Diagnostics,
) -> Result<Vec<u8>, Error> {
    let namespace = Some(options.namespace.as_deref().unwrap_or(NAMESPACE));
    let mut text = String::new();
    for (name, converted) in named("bmh-secret", hosts, diagnostics) {
        let host = &converted.host;
        let Some(document) = host.document() else { continue };
        if !kubernetes_object::is_name(name, "the host's name", &host.place, diagnostics) {
            continue;
        }
        let secret = format!("{name}-network-config-secret");
        text += &yaml(&json!({
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": metadata(&secret, namespace),
            "stringData": { "nmstate": document.text() },
            "type": "Opaque",
        }))?;
        let mut spec = json!({ "preprovisioningNetworkDataName": secret });
        if let Some(boot) = host.nics.iter().find(|nic| nic.name.is_none()) {
            spec["bootMACAddress"] = boot.mac_address.to_string().into();
        }
        text += &yaml(&json!({
            "apiVersion": "metal3.io/v1alpha1",
            "kind": "BareMetalHost",
            "metadata": metadata(name, namespace),
            "spec": spec,
        }))?;
    }
    Ok(text.into_bytes())
}
