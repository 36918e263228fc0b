//! A node in one file, on any node of the lab: the answers from the file are those of the node.

use serde_json::Value;

use crate::{
    lab::{Inside, Result},
    schema,
};

const FILE: &str = "/root/collected.json.gz";

/// Commands that answer from a file.
const ANSWERS: [&[&str]; 9] = [
    &["status", "--json"],
    &["status"],
    &["check", "--format", "json"],
    &["diff", "--format", "json"],
    &["diff", "--exit-code"],
    &["apply", "--dry-run"],
    &["plan", "--json"],
    &["export"],
    &["export", "--policy"],
];

/// Answers about the topology: the wanted network, the present one, and the steps between them.
const OF_THE_TOPOLOGY: [&[&str]; 3] =
    [&["status", "--json"], &["diff", "--format", "json"], &["plan", "--json"]];

/// Collects the node, within the time that the agent promises, and returns the file.
///
/// # Errors
/// The lab's.
///
/// # Panics
/// When the file is not what its schema says.
pub fn collected(inside: &Inside) -> Result<Value> {
    let bundle = written(inside, &[])?;
    assert!(bundle["milliseconds"].as_u64().is_some_and(|time| time < 10_000), "{bundle:#}");
    Ok(bundle)
}

/// Collects the node with these options.
fn written(inside: &Inside, options: &[&str]) -> Result<Value> {
    inside.run(&[&["dayone", "collect", "--output", FILE], options].concat())?.exits(0);
    assert_eq!(inside.sh(&format!("stat --format='%a %F' {FILE}"))?, "600 regular file");
    let text = inside.sh(&format!("gzip --decompress --stdout {FILE}"))?;
    let bundle: Value = serde_json::from_str(&text).unwrap_or_default();
    schema::fits("agent/doc/collect", &bundle);
    Ok(bundle)
}

/// Collects the node, compares each answer from the file with the node's own, and returns the file.
///
/// # Errors
/// The lab's.
///
/// # Panics
/// When an answer differs.
pub fn replays(inside: &Inside) -> Result<Value> {
    let mut bundle = collected(inside)?;
    // A host that runs many suites at once may be slower than a source's bound, which is then told in the file.
    for _ in 0..4 {
        if !bundle["facts"].to_string().contains("no answer within") {
            break;
        }
        bundle = collected(inside)?;
    }
    compares(inside, bundle, &ANSWERS)
}

/// [`replays`] for a virtual machine without KVM: sources need longer than a node's bound, and each answer takes seconds, so that
/// only those of the topology are compared.
///
/// # Errors
/// The lab's.
///
/// # Panics
/// When an answer differs.
pub fn replays_topology(inside: &Inside) -> Result<Value> {
    compares(inside, written(inside, &["--timeout", "250"])?, &OF_THE_TOPOLOGY)
}

fn compares(inside: &Inside, bundle: Value, answers: &[&[&str]]) -> Result<Value> {
    for answer in answers {
        let live = inside.run(&[&["dayone"], *answer].concat())?;
        let replayed = inside.run(&[&["dayone"], *answer, &["--from", FILE]].concat())?;
        let said = with_tokens(&replayed.stdout, &live.stdout);
        let (code, said) = (live.status.code(), said.as_str());
        assert_eq!(
            (replayed.status.code(), replayed.stdout.as_str()),
            (code, said),
            "{answer:?}: {replayed} and {live}"
        );
        if *answer == ANSWERS[0] {
            let status: Value = serde_json::from_str(said).unwrap_or_default();
            assert_eq!(bundle["status"]["value"], status);
        }
    }
    let trees = inside.sh("ls --directory /tmp/dayone-* 2>/dev/null || true")?;
    assert_eq!(trees, "", "a tree is left");
    Ok(bundle)
}

/// A live answer with the tokens of the replayed one in the places of digests.
fn with_tokens(replayed: &str, live: &str) -> String {
    const TOKEN: &str = "hidden-";
    let (mut shown, mut rest) = (String::new(), live);
    while let Some(token) = replayed.get(shown.len()..).and_then(|tail| {
        let at = tail.find(TOKEN)?;
        Some((at, tail.get(at..at + TOKEN.len() + 64)?))
    }) {
        let (at, token) = token;
        let Some((before, behind)) = rest.split_at_checked(at) else { break };
        let Some((_, behind)) = behind.split_at_checked(64) else { break };
        shown.extend([before, token]);
        rest = behind;
    }
    shown + rest
}

#[cfg(test)]
mod tests {
    use super::with_tokens;

    #[test]
    fn a_token_stands_for_a_digest_of_its_place() {
        let (digest, token) = ("a".repeat(64), format!("hidden-{}", "b".repeat(64)));
        let of = |value: &str| format!("digest: {value}\ntrial: {value}.");
        assert_eq!(with_tokens(&of(&token), &of(&digest)), of(&token));
        assert_eq!(with_tokens(&of(&digest), &of(&digest)), of(&digest));
        assert_ne!(with_tokens(&of(&token), &digest), of(&token));
    }
}
