//! A directory of SUSE's nm-configurator: `<hostname>.yaml` for each node, `_all.yaml` for all of
//! them. A directory of manifests looks the same, and differs by the files' content.
//!
//! A node finds its file by the MAC addresses of the Ethernet interfaces, each of which must have one
//! (suse-edge/nm-configurator, `src/generate_conf.rs`): in such a directory they name the NICs.

use nmgen_core::interface;
use nmgen_core::node::CLUSTER;
use nmgen_core::source::Nic;
use nmgen_core::source::{Host, Stage};
use nmgen_document::Node;
use nmgen_document::diagnostic::{Diagnostic, Place};
use nmgen_document::error::Error;

use super::found::{Found, UNUSED_FILE};
use super::kind::Sort;
use super::{kind, manifest};
use crate::source::directory;

const ALL: &str = "_all";
/// A file of nm-configurator's output, beside directories of keyfiles.
const MAPPING: &str = "host_config.yaml";

/// True with `_all.yaml`, or without any `.yml` document, as a hosts directory has.
pub(super) fn is(names: &[String]) -> bool {
    let visible = || names.iter().filter(|name| !name.starts_with('.'));
    let has_all = visible().any(|name| name.strip_suffix(".yaml") == Some(ALL));
    let any = |extension: &str| visible().any(|name| name.ends_with(extension));
    has_all || (any(".yaml") && !any(".yml"))
}

pub(super) fn load(
    tree: &str,
    path: &str,
    names: &[String],
    found: &mut Found,
) -> Result<(), Error> {
    for file_name in names.iter().filter(|name| !name.starts_with('.')) {
        let stem = file_name.strip_suffix(".yaml").or(file_name.strip_suffix(".yml"));
        let Some(stem) = stem else { continue };
        let name = if stem == ALL { CLUSTER } else { stem };
        let file = directory::join(path, file_name);
        if file_name == MAPPING {
            found.loaded.diagnostics.push(
                Diagnostic::new(UNUSED_FILE, "this is nmc's output", Place::file(file))
                    .help("give nmc's input, the directory of documents"),
            );
            continue;
        }
        let source = directory::read(tree, &file, kind::limit, &mut found.loaded.diagnostics)?;
        let before = found.loaded.hosts.len();
        match source.as_ref().map(|source| (source, kind::sort(source))) {
            Some((source, Sort::Other(kind))) => found.add_unused(source, kind),
            Some((source, _)) => kind::load(source, Some(name), found),
            None => {}
        }
        for host in found.loaded.hosts.iter_mut().skip(before).filter(|host| is_of_nmc(host, stem))
        {
            host.nics = nics(host);
        }
    }
    Ok(())
}

/// True for a host's document, false for a manifest in the same directory.
fn is_of_nmc(host: &Host, stem: &str) -> bool {
    host.stage == Stage::Any && !host.is_cluster() && host.name.as_deref() == Some(stem)
}

fn nics(host: &Host) -> Vec<Nic> {
    let Some(document) = host.document() else { return Vec::new() };
    let interfaces = interface::all(&document.root);
    let cards = interfaces.iter().filter(|node| node.text_at("type") == Some("ethernet"));
    let nic = |node: &Node<'_>| {
        let address = node.get("mac-address")?;
        let name = node.text_at("name").map(str::to_owned);
        // An invalid address is reported by the checks of the document.
        manifest::nic(address.text()?, name, document.place(address.span)).ok()
    };
    cards.filter_map(nic).collect()
}
