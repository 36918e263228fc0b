//! Verdicts of nmstate's `apply()`, with its own verification, and of the agent, on the same node: a document that the library
//! accepts is in force without a difference; one that it refuses is refused or rolled back.

#![allow(clippy::print_stdout, reason = "the course of a long case, for whoever reads the run")]

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use crate::{
    documents::{self, Document},
    lab::{Error, Inside, Nic},
};

mod places;
mod states;

pub use self::{
    places::{in_containers, in_machines, in_userspace, left_out},
    states::{Sequence, Step, sequences, table},
};

/// The node's cards: name, MAC address and network. A bridge of two cards must not close a loop.
const CARDS: [(&str, &str, &str); 6] = [
    ("eth1", "52:54:00:12:35:01", "lan"),
    ("eth2", "52:54:00:12:35:02", "second"),
    ("enp1s0", "52:54:00:12:34:01", "lan"),
    ("enp2s0", "52:54:00:12:34:02", "lan"),
    ("enp3s0", "52:54:00:12:34:03", "third"),
    ("enp4s0", "52:54:00:12:34:04", "fourth"),
];

/// The node's cards.
pub fn cards() -> impl Iterator<Item = Nic> {
    CARDS.iter().map(|(name, mac, network)| Nic::new(name, mac).segment(network))
}

/// The script's path in the node, and its text.
pub const SCRIPT: (&str, &str) = (
    "/root/verdict.sh",
    concat!(include_str!("verdicts/common.sh"), include_str!("verdicts/verdict.sh")),
);

/// The network that policies find, since their captures need one.
const BEFORE_POLICIES: &str = include_str!("../fixtures/applied/before-policies.yml");

/// The agent's settings without probes, which the library has none of; `waits` goes before them.
#[must_use]
pub fn settings(waits: &str) -> String {
    format!("max-attempts = 0\n{waits}[probe]\ngateway = \"off\"\ndns = \"off\"\napi = \"off\"\n")
}

/// A line of the script: exit status and last message.
#[derive(Debug)]
struct Verdict {
    exit: i32,
    said: String,
}

type Verdicts = BTreeMap<String, Verdict>;

/// The disagreements over `documents`, each with what both said. `bound` is for one document: two applies, and nmstate's own
/// waits for a refused one.
///
/// # Errors
/// If the node does not answer within the bound.
pub fn disagreements(
    inside: &Inside,
    documents: &[Document],
    bound: Duration,
) -> Result<Vec<String>, Error> {
    let mut found = Vec::new();
    for document in documents {
        let start = Instant::now();
        let mut verdicts = verdicts(inside, document, bound)?;
        // nmstate verifies a fixed number of times, too few for some networks on a busy host.
        if matches!((exit(&verdicts, "nmstate"), exit(&verdicts, "dayone")), (Some(1..), Some(0))) {
            verdicts = self::verdicts(inside, document, bound)?;
        }
        println!("{}: {verdicts:?} after {:.0?}", document.name, start.elapsed());
        found.extend(disagreement(&document.name, &verdicts));
    }
    Ok(found)
}

fn verdicts(inside: &Inside, document: &Document, bound: Duration) -> Result<Verdicts, Error> {
    let before = if documents::is_policy(&document.text) { BEFORE_POLICIES } else { "" };
    inside.write("/root/before.yml", before)?;
    inside.write("/root/input.yml", &document.text)?;
    let script = format!("sh {} </root/input.yml", SCRIPT.0);
    let output = inside.run_within(&["sh", "-c", &script], bound)?;
    let parse = |line: &str| {
        let mut words = line.splitn(3, ' ');
        let name = words.next()?.to_owned();
        let exit = words.next()?.parse().ok()?;
        Some((name, Verdict { exit, said: words.next().unwrap_or_default().to_owned() }))
    };
    Ok(output.stdout.lines().filter_map(parse).collect())
}

fn exit(verdicts: &Verdicts, name: &str) -> Option<i32> {
    verdicts.get(name).map(|verdict| verdict.exit)
}

fn disagreement(name: &str, verdicts: &Verdicts) -> Option<String> {
    let [Some(nmstate), Some(dayone), Some(diff)] =
        ["nmstate", "dayone", "diff"].map(|key| verdicts.get(key))
    else {
        return Some(format!("{name}: no verdict: {verdicts:?}"));
    };
    let agrees = match nmstate.exit {
        0 => dayone.exit == 0 && diff.said == "# no difference",
        _ => dayone.exit != 0,
    };
    (!agrees).then(|| format!("{name}: {verdicts:#?}"))
}
