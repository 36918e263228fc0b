//! Names of hosts in the forms.

use nmgen_core::node::{CLUSTER, short_host_name};
use nmgen_core::output::NOT_IN_TARGET;
use nmgen_core::write::File;
use nmgen_document::diagnostic::{Diagnostic, Diagnostics, rules};
use nmgen_document::error::Error;

use crate::convert::Converted;
use crate::output::rendered::Output;
use crate::source::own_name;

rules! {
    error HOST_NAME_UNKNOWN = "host-name-unknown";
}

/// The document's file name; a document without a host is for every node.
pub(crate) fn document_name(converted: &Converted) -> &str {
    own_name(&converted.host).unwrap_or(CLUSTER)
}

/// The file's name on the node, which looks for its short host name only.
pub(crate) fn node_name(converted: &Converted) -> &str {
    let name = document_name(converted);
    Some(short_host_name(name)).filter(|short| !short.is_empty()).unwrap_or(name)
}

/// Each host with its name, for forms with one object per host.
pub(super) fn named<'h>(
    target: &str,
    hosts: &'h [Converted],
    diagnostics: &mut Diagnostics,
) -> Vec<(&'h str, &'h Converted)> {
    let mut found = Vec::new();
    for converted in hosts {
        let place = converted.host.place.clone();
        match own_name(&converted.host) {
            Some(CLUSTER) => {
                let message = format!("{CLUSTER}.yml is for no single host: it is not in {target}");
                diagnostics.push(Diagnostic::new(NOT_IN_TARGET, message, place));
            }
            Some(name) => found.push((name, converted)),
            None => {
                let message = format!("{target} needs the host's name, and the document has none");
                let help = "give it hostname.config, or put it into a directory as <hostname>.yml";
                diagnostics.add(HOST_NAME_UNKNOWN, place, message, help);
            }
        }
    }
    found
}

/// The text of a single host, or `<host>.<extension>` for each of several.
pub(super) fn per_host(
    hosts: &[Converted],
    extension: &str,
    text: impl Fn(&Converted) -> Result<Vec<u8>, Error>,
) -> Result<Output, Error> {
    if let [host] = hosts {
        return text(host).map(Output::File);
    }
    let file = |host: &Converted| {
        let name = format!("{}.{extension}", document_name(host));
        Ok(File { directories: Vec::new(), name, content: text(host)? })
    };
    hosts.iter().map(file).collect::<Result<_, _>>().map(Output::Directory)
}
