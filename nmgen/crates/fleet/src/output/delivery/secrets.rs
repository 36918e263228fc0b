//! Secrets in what several machines get.

use nmgen_document::Node;
use nmgen_document::diagnostic::{Diagnostic, rules};
use nmgen_document::format::counted;
use nmgen_document::text::secret::FIELDS;

use crate::convert::Converted;

rules! {
    warning SECRETS_FOR_ALL = "secrets-for-all";
}

/// True for a document with a password or a key that nmstate hides in output.
pub(super) fn has(converted: &Converted) -> bool {
    let document = converted.host.document();
    let interfaces = document.and_then(|document| document.root.get("interfaces"));
    let has = |node: &Node<'_>| FIELDS.iter().any(|field| node.at(field).is_some());
    interfaces.is_some_and(|interfaces| interfaces.items().iter().any(has))
}

/// A warning if the machines of an archive get secrets of others.
pub(super) fn in_archive(hosts: &[Converted]) -> Option<Diagnostic> {
    let secret: Vec<&Converted> = hosts.iter().filter(|host| has(host)).collect();
    let first = secret.first().filter(|_| hosts.len() > 1)?;
    let of = counted(secret.len(), "host");
    let message = format!("each of {} machines gets the secrets of {of}", hosts.len());
    let help = "make an archive for each host, with --host NAME";
    Some(Diagnostic::new(SECRETS_FOR_ALL, message, first.host.place.clone()).help(help))
}

/// A warning if a MachineConfig has secrets: it goes to every machine of its role, and further.
pub(super) fn in_machine_config(role: &str, hosts: &[&Converted]) -> Option<Diagnostic> {
    let secret: Vec<&&Converted> = hosts.iter().filter(|host| has(host)).collect();
    let first = secret.first()?;
    let of = counted(secret.len(), "host");
    let message = format!("each machine of the role {role} gets the secrets of {of}");
    let help = "whoever may read MachineConfigs in the cluster, or reaches its machine config server, reads them \
                too: give the secret to the node in another way, or its host a pool of its own";
    Some(Diagnostic::new(SECRETS_FOR_ALL, message, first.host.place.clone()).help(help))
}
