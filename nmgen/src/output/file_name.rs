//! Host names as file names.

use crate::convert::Converted;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::source::HOST_FILE_NAME;

/// True when every host's name is a safe file name; each other name is reported.
pub(super) fn are_file_names(hosts: &[Converted], diagnostics: &mut Diagnostics) -> bool {
    let mut is_safe = true;
    for host in hosts.iter().map(|converted| &converted.host) {
        let Some(name) = host.name.as_deref().filter(|name| !is_file_name(name)) else { continue };
        is_safe = false;
        let message = format!("\"{}\" is not a host name", name.escape_debug());
        let diagnostic = Diagnostic::new(HOST_FILE_NAME, message, host.place.clone());
        diagnostics.push(diagnostic.help("letters, digits and hyphens (RFC 1123)"));
    }
    is_safe
}

/// Letters, digits, `-`, `.` and `_`, and no leading dot.
pub(super) fn is_file_name(name: &str) -> bool {
    let is_usual = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
    !name.is_empty() && !name.starts_with('.') && name.len() <= 200 && name.chars().all(is_usual)
}
