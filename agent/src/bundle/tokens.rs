//! Tokens in place of digests of texts with secrets: whoever has a digest and all of its text but a short password finds that by
//! trying. One digest has one token within a file, and another one in the next: the key is thrown away.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
};

use nmgen::secret::TOKEN;
use serde_json::Value;

use super::files::{File, Kind};
use crate::{client::random, document::digest::Digest};

/// Where the agent keeps its accounts, with digests of documents that may be gone.
const OWN: [&str; 2] = ["/var/lib/dayone/", "/run/dayone/"];

/// The digests of an adopted change are of differences, which nobody could compare by a token. They have no secrets that nmstate
/// knows.
const DIFFERENCES: &str = "/committed/adopted_change/differences";

/// Replaces digests in `value`, which has these files: those of texts with something hidden, those that the agent tells of texts
/// which are not in the file, and those of texts in which one of them stands.
pub(crate) fn replace(files: &[File], value: &mut Value) -> io::Result<()> {
    let digests = telling(files, value);
    if digests.is_empty() {
        return Ok(());
    }
    let key: [u8; 32] = random::bytes()?;
    let token = |digest: String| {
        let keyed = Digest::of_these(&[&key, digest.as_bytes()].concat());
        (digest, format!("{TOKEN}{keyed}"))
    };
    put(&digests.into_iter().map(token).collect(), value);
    Ok(())
}

/// The digests that tell something of a secret.
fn telling(files: &[File], value: &Value) -> BTreeSet<String> {
    let texts = || {
        files.iter().filter_map(|file| match &file.kind {
            Kind::File { digest, text, .. } => Some((&*file.path, digest.to_string(), &**text)),
            Kind::Directory | Kind::Link { .. } | Kind::Unread { .. } => None,
        })
    };
    let (whole, hidden): (Vec<_>, Vec<_>) = texts()
        .partition(|(_, digest, text)| Digest::of_these(text.as_bytes()).to_string() == *digest);
    let digests = |of: Vec<(&str, String, &str)>| -> BTreeSet<String> {
        of.into_iter().map(|(_, digest, _)| digest).collect()
    };
    let (whole, mut found) = (digests(whole), digests(hidden));
    let mut told = |text: &str| {
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        let digests = words(text).map(|(word, _)| word);
        let digests = digests.filter(|word| word.len() == 64 && word.bytes().all(is_digit));
        found.extend(digests.filter(|digest| !whole.contains(*digest)).map(str::to_owned));
    };
    let is_own = |path: &str| OWN.iter().any(|directory| path.starts_with(directory));
    for (_, _, text) in texts().filter(|(path, ..)| is_own(path)) {
        let mut parsed = serde_json::from_str::<Value>(text).unwrap_or_default();
        match parsed.pointer_mut(DIFFERENCES).map(Value::take) {
            Some(_) => each(&parsed, &mut told),
            None => told(text),
        }
    }
    each(&value["status"], &mut told);
    each(&value["journals"]["dayone"], &mut told);
    loop {
        let has_one = |text: &str| words(text).any(|(word, _)| found.contains(word));
        let more: Vec<String> = texts()
            .filter(|(_, digest, text)| !found.contains(digest) && has_one(text))
            .map(|(_, digest, _)| digest)
            .collect();
        if more.is_empty() {
            return found;
        }
        found.extend(more);
    }
}

/// The words of a text, each with what is between it and the next one.
fn words(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let is_end = |c: char| !c.is_ascii_alphanumeric();
    text.split_inclusive(is_end)
        .map(move |part| part.split_at(part.find(is_end).unwrap_or(part.len())))
}

fn each(value: &Value, told: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) => told(text),
        Value::Array(items) => items.iter().for_each(|item| each(item, told)),
        Value::Object(map) => map.values().for_each(|value| each(value, told)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn put(tokens: &BTreeMap<String, String>, value: &mut Value) {
    match value {
        Value::String(text) => {
            if words(text).any(|(word, _)| tokens.contains_key(word)) {
                let part = |(word, rest)| [tokens.get(word).map_or(word, String::as_str), rest];
                *text = words(text).flat_map(part).collect();
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| put(tokens, item)),
        Value::Object(map) => map.values_mut().for_each(|value| put(tokens, value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, own: &str, shown: &str) -> File {
        let digest = Digest::of_these(own.as_bytes());
        let kind = Kind::File { mode: 0o600, digest, text: shown.to_owned() };
        File { path: path.to_owned(), kind }
    }

    #[test]
    fn digests_that_tell_of_a_secret_are_replaced_and_still_compare()
    -> Result<(), Box<dyn std::error::Error>> {
        let of = |text: &str| Digest::of_these(text.as_bytes()).to_string();
        let (secret, gone) = (of("psk=hunter2"), of("psk=hunter1"));
        let (plain, line) = (of("interfaces: []"), of("~ mtu: 1 -> 2"));
        let record = format!(
            "{{\"committed\":{{\"digest\":\"{secret}\",\"adopted_change\":{{\"differences\":[\"{line}\"]}}}}}}"
        );
        let history = format!("{{\"digest\":\"{gone}\"}}\n{{\"digest\":\"{plain}\"}}\n");
        let unit = format!("ExecStart=podman pull a@sha256:{}", of("image"));
        let files = [
            file("/etc/nmstate/openshift/a.yml", "psk=hunter2", "psk=<hidden>"),
            file("/etc/nmstate/b.yml", "interfaces: []", "interfaces: []"),
            file("/var/lib/dayone/record.json", &record, &record),
            file("/var/lib/dayone/history.jsonl", &history, &history),
            file("/etc/systemd/system/dayone-install.service", &unit, &unit),
        ];
        let mut value = serde_json::json!({
            "status": {"value": {"digest": secret}},
            "journals": {"dayone": {"value": format!("a digest={secret}, b {gone}")}},
            "files": files,
        });
        replace(&files, &mut value)?;
        let text = value.to_string();
        for own in [&secret, &gone, &of(&record), &of(&history)] {
            assert!(!text.contains(own.as_str()), "{own} in {text}");
        }
        for stays in [&plain, &of("image"), &of(&unit)] {
            assert!(text.contains(stays.as_str()), "{stays} in {text}");
        }
        let token = value["files"][0]["digest"].as_str().ok_or("none")?.to_owned();
        assert!(token.starts_with(TOKEN), "{token}");
        assert_eq!(value["status"]["value"]["digest"], token);
        assert_eq!(text.matches(&token).count(), 4, "one for all places: {text}");
        assert!(
            value["files"][2]["text"].as_str().is_some_and(|text| text.contains(&line)),
            "{text}"
        );
        Ok(())
    }
}
