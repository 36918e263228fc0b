//! A tree as assisted-service writes it to `/etc/assisted/network`: a directory for each host, with
//! `mac_interface.ini` (lines `MAC=name`) and the document, as NMState or with captures by MAC address
//! (openshift/assisted-service, `pkg/staticnetworkconfig/generator.go`).

use nmgen_core::node::is_empty;
use nmgen_core::source::{Host, HostNetwork, Nic, Stage};
use nmgen_document::Document;
use nmgen_document::diagnostic::{Diagnostic, Diagnostics, Place};
use nmgen_document::error::Error;
use nmgen_document::size::MAX_DOCUMENT_BYTES;
use nmgen_document::text::lines::Lines;
use nmgen_document::text::{Position, Source, Span};

use super::found::Found;
use super::hosts_directory::HOST_FILE_EMPTY;
use super::manifest::{NIC_MAP_MISSING, SOURCE_SHAPE};
use super::{capture, directory, manifest};

const MAPPING: &str = "mac_interface.ini";
/// A profile of NetworkManager's.
const KEYFILE: &str = ".nmconnection";

fn one_document(_: &[u8]) -> usize {
    MAX_DOCUMENT_BYTES
}

/// The directories of hosts in the tree, sorted so that `host10` follows `host9`.
pub(super) fn hosts(directory: &str) -> Result<Vec<String>, Error> {
    let mut names = directory::names(directory, |path| path.join(MAPPING).is_file())?;
    names.sort_by(|a, b| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
    Ok(names.iter().map(|name| directory::join(directory, name)).collect())
}

pub(super) fn load(tree: &str, hosts: &[String], found: &mut Found) -> Result<(), Error> {
    for host in hosts {
        load_host(tree, host, found)?;
    }
    Ok(())
}

fn load_host(tree: &str, path: &str, found: &mut Found) -> Result<(), Error> {
    let diagnostics = &mut found.diagnostics;
    let mapping = directory::join(path, MAPPING);
    let source = directory::read(tree, &mapping, one_document, diagnostics)?;
    let nics = source.map(|source| nics(&source, diagnostics)).unwrap_or_default();
    if nics.is_empty() && !diagnostics.has_errors() {
        let message = format!("{MAPPING} has no card: no machine is known to be this host");
        let help = "assisted-service finds the host by it: write a line MAC=NAME for each card";
        let place = Place::file(&*mapping);
        diagnostics.add(NIC_MAP_MISSING, place, message, help);
    }
    let name = path.rsplit('/').next().unwrap_or(path).to_owned();
    let host = Host {
        stage: Stage::Early,
        needs_map: true,
        nics,
        ..Host::new(Some(name), Place::file(path))
    };
    let documents = directory::files(path)?.into_iter().filter(|name| {
        !name.starts_with('.') && (name.ends_with(".yml") || name.ends_with(".yaml"))
    });
    let ready = directory::files(path)?.iter().any(|name| name.ends_with(KEYFILE));
    let before = found.hosts.len();
    for file_name in documents {
        let file = directory::join(path, &file_name);
        let diagnostics = &mut found.diagnostics;
        let source = directory::read(tree, &file, one_document, diagnostics)?;
        let document = source.map(|source| document(&source, &host.nics));
        let document = document.transpose();
        found.add_read(document.map(|document| Host {
            place: Place::file(&*file),
            network: HostNetwork::read(document),
            ..host.clone()
        }));
    }
    if found.hosts.len() == before {
        // Profiles that are ready are a network, which nobody here reads.
        let network = if ready { HostNetwork::Unreadable } else { HostNetwork::Missing };
        if ready {
            found.add_passed_over(path, vec!["ready keyfiles".to_owned()]);
        }
        found.add(Host { network, ..host });
    }
    Ok(())
}

/// The network cards of the mapping.
fn nics(source: &Source, diagnostics: &mut Diagnostics) -> Vec<Nic> {
    let lines = Lines::new(source);
    let mut nics = Vec::new();
    for (number, line) in lines.numbered() {
        let text = line.trim();
        if text.is_empty() || text.starts_with(['#', ';', '[']) {
            continue;
        }
        let start = Position { line: number, column: 1 };
        let end = Position { line: number, column: line.chars().count() as u32 + 1 };
        let place = lines.place(Span { start, end });
        let Some((mac, name)) = text.split_once('=') else {
            let message = "this is not MAC=NAME";
            diagnostics.push(Diagnostic::new(SOURCE_SHAPE, message, place));
            continue;
        };
        match manifest::nic(mac.trim(), Some(name.trim().to_owned()), place) {
            Ok(nic) => {
                diagnostics.extend(manifest::mac_form(mac.trim(), &nic));
                nics.push(nic);
            }
            Err(faults) => diagnostics.extend(faults),
        }
    }
    nics
}

/// The document; one with captures is resolved to its original.
fn document(source: &Source, nics: &[Nic]) -> Result<Document<'static>, Diagnostics> {
    if is_empty(source.text.as_bytes()) {
        let place = Place::file(source.name.clone());
        return Err(Diagnostics::from(Diagnostic::new(
            HOST_FILE_EMPTY,
            "the file is empty",
            place,
        )));
    }
    let document = nmgen_document::parse(source)?.into_owned();
    match document.root.get("desiredState") {
        None => Ok(document),
        Some(state) => {
            let captures = document.root.get("capture");
            capture::resolve(document.part(state.clone()), captures, nics)
        }
    }
}
