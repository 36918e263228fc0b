//! Verdicts of nmstate's `apply()` and of the agent over documents for containers.

use std::time::Duration;

use tests::{
    documents::{self, Document},
    lab::{Error, Lab, Node, Peer},
    program,
    verdicts::{SCRIPT, cards, disagreements, in_containers, left_out, settings},
};

/// Four seconds to settle.
const WAITS: &str = "[wait]\nlink = 1\ndevice-settled = 1\n[timeout]\nverify = 4\n";
/// Bound for one document.
const BOUND: Duration = Duration::from_secs(90);
/// For each document, thrice what the mean one takes on a loaded host: 32 documents needed 192 s of the 240 that any case has,
/// and past those the lab takes the node away.
const MEAN: Duration = Duration::from_secs(20);

fn node() -> Node {
    cards()
        .fold(Node::new("worker-0"), Node::nic)
        .bind(program::dayone(), "/usr/bin/dayone")
        .bind(program::nmstate_apply(), "/usr/local/bin/nmstate-apply")
        .settings(&settings(WAITS))
        .file(SCRIPT.0, SCRIPT.1, 0o755)
}

fn compare(documents: &[Document]) -> Result<(), Error> {
    let lab = Lab::open()?;
    // Documents of the fixtures have the IPv6 address of the lab's API: no machine may have it, or NetworkManager 1.58 takes the
    // whole profile down.
    let peer = Peer::new().api(Peer::API.into()).dhcp().router_advertisements();
    let all = documents.iter().fold(BOUND, |bound, _| bound + MEAN);
    lab.run_within(all, node(), &peer, |case| {
        let found = disagreements(&case.boot()?, documents, BOUND)?;
        assert!(found.is_empty(), "{}", found.join("\n"));
        Ok(())
    })
}

fn lenient() -> Vec<Document> {
    documents::named_in(include_str!("../fixtures/applied/containers.yml"))
}

fn policies() -> Vec<Document> {
    let mut all = documents::named_in(include_str!("../fixtures/applied/policies.yml"));
    all.extend(in_containers(documents::policies()));
    all
}

#[tests::case]
fn at_least_sixty_documents_are_compared() {
    let fixtures = documents::fixtures();
    for (name, reason) in left_out() {
        let is_known = fixtures.iter().any(|document| document.name == name);
        assert!(is_known, "{name} ({reason}) is gone");
    }
    assert!(in_containers(fixtures).len() + lenient().len() >= 60);
}

#[tests::case]
fn documents_of_the_fixtures() -> Result<(), Error> {
    compare(&in_containers(documents::fixtures()))
}

/// Documents that `$CORPUS` names, if any.
#[tests::case]
fn documents_of_others() -> Result<(), Error> {
    let documents = in_containers(documents::corpus());
    if documents.is_empty() { Ok(()) } else { compare(&documents) }
}

/// Their captures find the network of `before-policies.yml`.
#[tests::case]
fn policies_with_captures() -> Result<(), Error> {
    compare(&policies())
}

/// Half of the documents on each of two nodes, side by side.
#[tests::case]
fn documents_that_nmstate_verifies_leniently_first_half() -> Result<(), Error> {
    let all = lenient();
    compare(&all[..all.len() / 2])
}

#[tests::case]
fn documents_that_nmstate_verifies_leniently_second_half() -> Result<(), Error> {
    let all = lenient();
    compare(&all[all.len() / 2..])
}
