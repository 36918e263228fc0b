//! Host names as file names.

use nmgen_document::diagnostic::{Diagnostic, Diagnostics};

use crate::convert::Converted;
use crate::source::{HOST_FILE_NAME, NAME_HELP, is_usable_name};

/// True when every host's name is a safe file name; each other name is reported.
pub(super) fn are_file_names(hosts: &[Converted], diagnostics: &mut Diagnostics) -> bool {
    let mut is_safe = true;
    for host in hosts.iter().map(|converted| &converted.host) {
        let Some(name) = host.name.as_deref().filter(|name| !is_usable_name(name)) else {
            continue;
        };
        is_safe = false;
        let message = format!("\"{}\" is not a host name", name.escape_debug());
        let diagnostic = Diagnostic::new(HOST_FILE_NAME, message, host.place.clone());
        diagnostics.push(diagnostic.help(NAME_HELP));
    }
    is_safe
}
