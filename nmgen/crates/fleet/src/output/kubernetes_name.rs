//! Names and labels that Kubernetes takes.

/// The longest names of objects; the forms append a role or a suffix.
const LONGEST_NAME: usize = 200;
/// The longest subdomain of RFC 1123.
const LONGEST_SUBDOMAIN: usize = 253;
/// The longest label of RFC 1123, and the longest part of an object's label.
const LONGEST_LABEL: usize = 63;

/// True for the name of an object (RFC 1123 subdomain) that something is appended to.
pub fn is_object_name(text: &str) -> bool {
    text.len() <= LONGEST_NAME && is_subdomain(text)
}

/// True for the name of a namespace (RFC 1123 label).
pub fn is_namespace(text: &str) -> bool {
    text.len() <= LONGEST_LABEL && is_part(text)
}

/// True for the key of an object's label: a name, perhaps behind a subdomain and a slash.
pub fn is_label_key(text: &str) -> bool {
    match text.split_once('/') {
        Some((prefix, name)) => is_subdomain(prefix) && is_qualified(name),
        None => is_qualified(text),
    }
}

/// True for the value of an object's label, which may be empty.
pub fn is_label_value(text: &str) -> bool {
    text.is_empty() || is_qualified(text)
}

fn is_subdomain(text: &str) -> bool {
    text.len() <= LONGEST_SUBDOMAIN && text.split('.').all(is_part)
}

/// True for a part of a subdomain, of which Kubernetes bounds the whole alone.
fn is_part(text: &str) -> bool {
    let is_end = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    has_ends(text, is_end) && text.chars().all(|c| is_end(c) || c == '-')
}

fn is_qualified(text: &str) -> bool {
    let is_end = |c: char| c.is_ascii_alphanumeric();
    let is_inner = |c: char| is_end(c) || matches!(c, '-' | '_' | '.');
    text.len() <= LONGEST_LABEL && has_ends(text, is_end) && text.chars().all(is_inner)
}

/// True for a text that begins and ends so; an empty one does not.
fn has_ends(text: &str, is_end: impl Fn(char) -> bool + Copy) -> bool {
    text.starts_with(is_end) && text.ends_with(is_end)
}
