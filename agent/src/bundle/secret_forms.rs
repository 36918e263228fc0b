//! Secrets that any text may have, by their forms: addresses with passwords, queries with tokens, PINs of PKCS #11, PEM blocks.

use nmgen::secret::{self, HIDDEN};

/// Parts of the keys of a query whose values open something: `?token=…`, `&X-Amz-Signature=…`.
const OF_QUERIES: [&str; 8] = ["token", "key", "sig", "secret", "pass", "pwd", "auth", "cred"];

/// RFC 7512, and `pinfile` of its drafts.
const PINS: [&str; 3] = ["pin-value=", "pin-source=", "pinfile="];

/// systemd.system-credentials(7) on the kernel command line.
const CREDENTIALS: [&str; 2] = ["set_credential=", "set_credential_binary="];

/// RFC 7468.
const BEGIN: &str = "-----BEGIN ";
const END: &str = "-----END ";

/// The text with [`HIDDEN`] in the places of these secrets.
pub(super) fn without(text: &str) -> String {
    let shown = secret::without_credentials(&without_blocks(text));
    let shown = without_queries(&shown);
    let shown = PINS.iter().fold(shown, |it, mark| without_values(&it, mark));
    CREDENTIALS.iter().fold(shown, |it, mark| without_credentials(&it, mark))
}

fn is_end(c: char) -> bool {
    c.is_whitespace() || matches!(c, '"' | '\'' | '\\')
}

/// The part before an end, and the rest.
fn until(text: &str, is_end: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(is_end).unwrap_or(text.len()))
}

/// A block without its end lasts until the end of the text.
fn without_blocks(text: &str) -> String {
    let (mut shown, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((before, block)) = rest.split_once(BEGIN) {
        shown.extend([before, HIDDEN]);
        let behind = block.split_once(END).and_then(|(_, label)| label.split_once("-----"));
        rest = behind.map_or("", |(_, behind)| behind);
    }
    shown + rest
}

fn without_queries(text: &str) -> String {
    let is_secret = |key: &str| {
        let key = key.to_ascii_lowercase();
        OF_QUERIES.iter().any(|part| key.contains(part))
    };
    let (mut shown, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find(['?', '&']) {
        let (before, behind) = rest.split_at(at + 1);
        shown.push_str(before);
        let (key, value) = until(behind, |c| !c.is_alphanumeric() && !"-_.%[]".contains(c));
        rest = match value.strip_prefix('=').filter(|_| is_secret(key)) {
            Some(value) => {
                shown.extend([key, "=", HIDDEN]);
                until(value, |c| is_end(c) || matches!(c, '&' | '#')).1
            }
            None => behind,
        };
    }
    shown + rest
}

fn without_values(text: &str, mark: &str) -> String {
    let (mut shown, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((before, behind)) = rest.split_once(mark) {
        shown.extend([before, mark, HIDDEN]);
        rest = until(behind, |c| is_end(c) || matches!(c, '&' | ';')).1;
    }
    shown + rest
}

/// `NAME:VALUE` keeps its name. A quote before either may be around blanks of the value.
fn without_credentials(text: &str, mark: &str) -> String {
    let (mut shown, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((before, behind)) = rest.split_once(mark) {
        let is_quoted = before.ends_with("\"systemd.") || behind.starts_with('"');
        let (name, value) = until(behind, |c| c == ':' || c.is_whitespace());
        shown.extend([before, mark, name]);
        rest = match (value.strip_prefix(':'), is_quoted) {
            (None, _) => value,
            (Some(value), true) => until(value, |c| c == '"' || c == '\n').1,
            (Some(value), false) => until(value, char::is_whitespace).1,
        };
        if value.starts_with(':') {
            shown.extend([":", HIDDEN]);
        }
    }
    shown + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_hidden_by_their_forms_and_the_rest_stays() {
        for (text, expected) in [
            (
                "root=live:https://h/a?arch=x&token=77ab&b=c x",
                "root=live:https://h/a?arch=x&token=<hidden>&b=c x",
            ),
            (
                "u=https://h/i.ign?X-Amz-Signature=ab%2F#f",
                "u=https://h/i.ign?X-Amz-Signature=<hidden>#f",
            ),
            (
                "pkcs11:token=a;object=b?pin-value=77665544",
                "pkcs11:token=a;object=b?pin-value=<hidden>",
            ),
            (
                "pkcs11:object=b?module=m&pin-source=file:/etc/p",
                "pkcs11:object=b?module=m&pin-source=<hidden>",
            ),
            ("a systemd.set_credential=n.doc:abc b", "a systemd.set_credential=n.doc:<hidden> b"),
            ("\"systemd.set_credential=n:a b\" c", "\"systemd.set_credential=n:<hidden>\" c"),
            ("systemd.set_credential=\"n:a b\" c", "systemd.set_credential=\"n:<hidden>\" c"),
            (
                "k: |\n  -----BEGIN RSA PRIVATE KEY-----\n  MII=\n  -----END RSA PRIVATE KEY-----\nl: 1\n",
                "k: |\n  <hidden>\nl: 1\n",
            ),
            ("-----BEGIN PRIVATE KEY-----\nMII=\n", "<hidden>"),
            (
                "what? key of a & b=c https://h:1/?arch=x",
                "what? key of a & b=c https://h:1/?arch=x",
            ),
        ] {
            assert_eq!(without(text), expected);
            assert_eq!(without(expected), expected, "a second time");
        }
    }
}
