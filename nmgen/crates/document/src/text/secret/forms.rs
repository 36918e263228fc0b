//! Secrets that any text may have, by their forms: addresses with passwords, queries with tokens, PINs of PKCS #11, credentials of
//! systemd, headers of HTTP, PEM blocks.

use std::ops::Range;

use super::credentials::passwords;

/// Parts of the keys of a query whose values open something: `?token=…`, `&X-Amz-Signature=…`.
const OF_QUERIES: &str = "token key sig secret pass pwd auth cred";

/// RFC 7512, and `pinfile` of its drafts.
const PINS: [&str; 3] = ["pin-value=", "pin-source=", "pinfile="];

/// systemd.system-credentials(7) on the kernel command line, and systemd.exec(5): `NAME:VALUE` keeps its name.
const OF_COMMAND_LINE: [&str; 2] = ["set_credential=", "set_credential_binary="];
const OF_UNITS: [&str; 2] = ["SetCredential=", "SetCredentialEncrypted="];

/// RFC 9110 (11.6.2).
const SCHEMES: [&str; 2] = ["Bearer ", "Basic "];

/// A shorter word behind a scheme is one of a sentence.
const SHORTEST: usize = 12;

/// RFC 7468.
const BEGIN: &str = "-----BEGIN ";
const END: &str = "-----END ";

/// The secrets' bytes, in order and apart.
pub(super) fn found(text: &str) -> Vec<Range<usize>> {
    let mut found = passwords(text);
    let mut add = |mark: &str, value: &dyn Fn(&str, &str) -> Range<usize>| {
        let mut at = 0;
        while let Some(next) = text[at..].find(mark) {
            let start = at + next + mark.len();
            let value = value(&text[..start], &text[start..]);
            at = start + value.end;
            found.push(start + value.start..at);
        }
    };
    // A block is hidden with its first line; without its end it lasts until the end of the text.
    add(BEGIN, &|_, rest| {
        let label = |end: usize| rest[end..].find("-----").map(|length| end + length + 5);
        let end = rest.find(END).map(|at| at + END.len()).and_then(label);
        0..end.unwrap_or(rest.len())
    });
    if memchr::memchr(b'=', text.as_bytes()).is_some() {
        ["?", "&"].iter().for_each(|mark| add(mark, &|_, rest| query(rest)));
        let pin = |rest: &str| until(rest, |c| is_end(c) || matches!(c, '&' | ';'));
        PINS.iter().for_each(|mark| add(mark, &|_, rest| 0..pin(rest)));
        OF_COMMAND_LINE.iter().for_each(|mark| add(mark, &of_command_line));
        OF_UNITS.iter().for_each(|mark| add(mark, &|_, rest| of_unit(rest)));
    }
    SCHEMES.iter().for_each(|mark| {
        add(mark, &|_, rest| {
            let end = until(rest, is_end);
            if end < SHORTEST { end..end } else { 0..end }
        });
    });
    found.retain(|range| !range.is_empty());
    for range in &mut found {
        // The mark of a block is hidden too.
        if text[..range.start].ends_with(BEGIN) {
            range.start -= BEGIN.len();
        }
    }
    found.sort_unstable_by_key(|range| (range.start, range.end));
    found.dedup_by(|next, range| {
        let is_within = next.start < range.end;
        range.end = if is_within { range.end.max(next.end) } else { range.end };
        is_within
    });
    found
}

fn is_end(c: char) -> bool {
    c.is_whitespace() || matches!(c, '"' | '\'' | '\\')
}

fn until(text: &str, is_end: impl Fn(char) -> bool) -> usize {
    text.find(is_end).unwrap_or(text.len())
}

fn query(rest: &str) -> Range<usize> {
    let end = until(rest, |c| !c.is_alphanumeric() && !"-_.%[]".contains(c));
    let key = rest[..end].to_ascii_lowercase();
    match rest[end..].strip_prefix('=') {
        Some(value) if OF_QUERIES.split(' ').any(|part| key.contains(part)) => {
            let start = end + 1;
            start..start + until(value, |c| is_end(c) || matches!(c, '&' | '#'))
        }
        _ => end..end,
    }
}

/// A quote before either part may be around blanks of the value.
fn of_command_line(before: &str, rest: &str) -> Range<usize> {
    let mark = before.trim_end_matches(|c: char| c.is_ascii_lowercase() || matches!(c, '_' | '='));
    let is_quoted = mark.ends_with("\"systemd.") || rest.starts_with('"');
    let name = until(rest, |c| c == ':' || c.is_whitespace());
    match rest[name..].strip_prefix(':') {
        None => name..name,
        Some(value) => {
            let is_end =
                |c: char| if is_quoted { matches!(c, '"' | '\n') } else { c.is_whitespace() };
            name + 1..name + 1 + until(value, is_end)
        }
    }
}

/// The value goes on behind a backslash at the end of a line.
fn of_unit(rest: &str) -> Range<usize> {
    let name = until(rest, |c| matches!(c, ':' | '\n'));
    if !rest[name..].starts_with(':') {
        return name..name;
    }
    let end = rest[name..]
        .match_indices('\n')
        .map(|(at, line_break)| (name + at, line_break))
        .find(|(at, _)| !rest[..*at].trim_end_matches('\r').ends_with('\\'));
    name + 1..end.map_or(rest.len(), |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::super::Secrets;

    /// The text without the secrets of these forms.
    fn without(text: &str) -> String {
        Secrets::default().hidden(text.to_owned())
    }

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
            ("SetCredential=n:a b \\\n  c\nX=1\n", "SetCredential=n:<hidden>\nX=1\n"),
            ("curl -H 'X: Bearer abcdefghijkl' u", "curl -H 'X: Bearer <hidden>' u"),
            ("Basic networks stay", "Basic networks stay"),
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

    #[test]
    fn marks_within_a_value_are_read_once() {
        for mark in
            ["pin-value=", "set_credential=", "SetCredential=", "?token=", "-----BEGIN ", "Bearer "]
        {
            super::found(&mark.repeat(100_000));
        }
    }
}
