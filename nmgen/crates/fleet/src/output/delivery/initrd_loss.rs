//! Documents that `nmgen boot` refuses.

use nmgen_core::initramfs;
use nmgen_document::Path;
use nmgen_document::diagnostic::{Diagnostic, Diagnostics, rules};

use crate::convert::Converted;

rules! {
    error NOT_IN_INITRAMFS = "not-in-initramfs";
    warning NEEDS_SUPPLICANT = "needs-supplicant";
}

/// Reports the first interface of Open vSwitch's: an initramfs has no database and no plugin for it.
pub(super) fn losses(converted: &Converted) -> Option<Diagnostic> {
    let document = converted.host.document()?;
    let (index, interface) = initramfs::open_vswitch(&document.root)?;
    let path = Path::default().key("interfaces").index(index).key("type");
    let name = interface.text_at("name").unwrap_or_default();
    let message = format!("{name} is Open vSwitch's, which no initramfs has");
    let diagnostic = Diagnostic::new(NOT_IN_INITRAMFS, message, document.place_at(&path));
    Some(diagnostic.help("give the initramfs a document without it, and the node this one"))
}

/// Reports the first interface that needs wpa_supplicant, which an initramfs has on request only.
fn needs(converted: &Converted) -> Option<Diagnostic> {
    let document = converted.host.document()?;
    let (index, interface, key) = initramfs::needs_supplicant(&document.root)?;
    let path = Path::default().key("interfaces").index(index).key(key);
    let name = interface.text_at("name").unwrap_or_default();
    let message =
        format!("{name} needs wpa_supplicant, without which `nmgen boot` refuses the document");
    let diagnostic = Diagnostic::new(NEEDS_SUPPLICANT, message, document.place_at(&path));
    Some(diagnostic.help("build the initramfs with nmgen_for=\"supplicant\" in dracut.conf"))
}

pub(super) fn all(hosts: &[Converted]) -> Diagnostics {
    let mut found = Diagnostics::default();
    found.extend(hosts.iter().filter_map(losses));
    found.extend(hosts.iter().filter_map(needs));
    found
}
