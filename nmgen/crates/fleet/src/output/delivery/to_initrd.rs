//! Archives for an initramfs: the hosts' documents for `nmgen boot`, and on request the program itself
//! with its units, for an initramfs that was built without it.

mod program;

use std::collections::{BTreeMap, BTreeSet};

use nmgen_core::interface;
use nmgen_core::write::File;
use nmgen_document::diagnostic::{Diagnostic, Diagnostics, Place, Rule, rules};
use nmgen_document::error::Error;
use nmgen_document::mac::Mac;

use super::compress::gzip;
use super::cpio::Archive;
use super::host_name::document_name;
use super::{initrd_loss, secrets};
use crate::convert::Converted;
use crate::output::options::{Layout, Options};
use crate::output::rendered::Output;

rules! {
    error IMAGE_TOO_LARGE = "image-too-large";
}

/// Documents may hold secrets (802.1X).
const DOCUMENT: u32 = 0o600;
/// The images of assisted-image-service's minimal ISO, which its boot loaders name. The first has a
/// fixed size in the ISO.
const IMAGES: [&str; 2] = ["assisted_installer_custom.img", "nmstate.img"];
const MAX_IMAGE_BYTES: usize = 1 << 20;

pub(super) fn rules() -> Vec<Rule> {
    [RULES, program::RULES].concat()
}

pub(crate) fn render(
    hosts: &[Converted],
    options: &Options,
    diagnostics: &mut Diagnostics,
) -> Result<Output, Error> {
    diagnostics.extend(initrd_loss::all(hosts));
    diagnostics.extend(secrets::in_archive(hosts));
    let mut archive = Archive::default();
    archive.directory("etc");
    let Some(program) = &options.program else {
        add_documents(hosts, &mut archive);
        return Ok(Output::File(archive.finish()));
    };
    diagnostics.extend(program::fault(program));
    match program.layout {
        Layout::One => {
            program::add(program, &mut archive);
            add_documents(hosts, &mut archive);
            Ok(Output::File(archive.finish()))
        }
        Layout::Assisted => {
            add_documents(hosts, &mut archive);
            let mut second = Archive::default();
            second.directory("etc");
            program::add(program, &mut second);
            let images = [gzip(&archive.finish())?, gzip(&second.finish())?];
            diagnostics.extend(too_large(&images[0]));
            let image = |(name, content): (&str, Vec<u8>)| File {
                directories: Vec::new(),
                name: name.to_owned(),
                content,
            };
            Ok(Output::Directory(IMAGES.into_iter().zip(images).map(image).collect()))
        }
    }
}

/// `etc/nmgen/<host>.yml`, sorted. A host known only by a MAC address gets a link to its document,
/// `aa-bb-cc-dd-ee-ff.yml`, so that both names give one document.
fn add_documents(hosts: &[Converted], archive: &mut Archive) {
    let mut files: BTreeMap<String, CpioEntry> = BTreeMap::new();
    for converted in hosts {
        let Some(document) = converted.host.with_mac_addresses() else { continue };
        let nodes = interface::all(&document.root);
        let known: BTreeSet<Mac> =
            nodes.iter().filter_map(|node| node.mac_at("mac-address")).collect();
        let nics = &converted.host.nics;
        let is_found = nics.is_empty() || nics.iter().any(|nic| known.contains(&nic.mac_address));
        let file = format!("{}.yml", document_name(converted));
        if let (false, Some(nic)) = (is_found, nics.first()) {
            let link = format!("{}.yml", nic.mac_address.to_string().replace(':', "-"));
            // A file with this name is some host's document.
            files.entry(link).or_insert_with(|| CpioEntry::Link(file.clone()));
        }
        files.insert(file, CpioEntry::Document(document.text().into_owned().into_bytes()));
    }
    archive.directory("etc/nmgen");
    for (name, entry) in &files {
        let path = format!("etc/nmgen/{name}");
        match entry {
            CpioEntry::Document(text) => archive.file(&path, DOCUMENT, text),
            CpioEntry::Link(to) => archive.link(&path, to),
        }
    }
}

enum CpioEntry {
    Document(Vec<u8>),
    Link(String),
}

fn too_large(image: &[u8]) -> Option<Diagnostic> {
    if image.len() <= MAX_IMAGE_BYTES {
        return None;
    }
    let message = format!(
        "{} has {} bytes; a minimal ISO has room for {MAX_IMAGE_BYTES}",
        IMAGES[0],
        image.len()
    );
    let help = "make an image for fewer hosts, or for one, with --host NAME";
    Some(Diagnostic::new(IMAGE_TOO_LARGE, message, Place::file(IMAGES[0])).help(help))
}
