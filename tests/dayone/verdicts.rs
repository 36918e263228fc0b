//! Verdicts of nmstate's own `apply()`, with its own verification, and the agent's, on the same node: what the library
//! accepts is in force and shows no difference, and what it refuses is refused or rolled back.

use std::{collections::BTreeMap, time::Duration};

use tests::{
    documents::{self, Document},
    lab::{Error, Inside, Lab, Nic, Node, Peer},
    program,
};

/// Documents that a container cannot carry, or that say nothing there, each with the reason.
const LEFT_OUT: [(&str, &str); 0] = [];

/// Probes are the agent's own; the library has none. What is not there in four seconds will not come.
const SETTINGS: &str = "\
max-attempts = 0
[wait]
link = 1
device-settled = 1
[timeout]
verify = 4
[probe]
gateway = \"off\"
dns = \"off\"
api = \"off\"
";

/// A document takes two applies, and a refused one what nmstate waits for.
const BOUND: Duration = Duration::from_secs(90);

fn node() -> Node {
    let cards = [
        ("eth1", "52:54:00:12:35:01"),
        ("eth2", "52:54:00:12:35:02"),
        ("enp1s0", "52:54:00:12:34:01"),
        ("enp2s0", "52:54:00:12:34:02"),
        ("enp3s0", "52:54:00:12:34:03"),
        ("enp4s0", "52:54:00:12:34:04"),
    ];
    let node =
        cards.iter().fold(Node::new("worker-0"), |node, (name, mac)| node.nic(Nic::new(name, mac)));
    node.bind(program::dayone(), "/usr/bin/dayone")
        .bind(program::nmstate_apply(), "/usr/local/bin/nmstate-apply")
        .file("/etc/dayone/dayone.toml", SETTINGS, 0o644)
        .file("/root/verdict.sh", include_str!("verdict.sh"), 0o755)
}

/// A line of the script: exit status, milliseconds, last words.
#[derive(Debug)]
struct Verdict {
    exit: i32,
    milliseconds: u64,
    said: String,
}

fn verdicts(inside: &Inside, text: &str) -> Result<BTreeMap<String, Verdict>, Error> {
    inside.write("/root/input.yml", text)?;
    let output = inside.run_within(&["sh", "-c", "sh /root/verdict.sh </root/input.yml"], BOUND)?;
    let parse = |line: &str| {
        let mut words = line.splitn(4, ' ');
        let name = words.next()?.to_owned();
        let exit = words.next()?.parse().ok()?;
        let milliseconds = words.next()?.parse().ok()?;
        Some((
            name,
            Verdict { exit, milliseconds, said: words.next().unwrap_or_default().to_owned() },
        ))
    };
    Ok(output.stdout.lines().filter_map(parse).collect())
}

/// Where the two disagree.
fn disagreement(name: &str, verdicts: &BTreeMap<String, Verdict>) -> Option<String> {
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

fn compare(documents: &[Document]) -> Result<(), Error> {
    let Some(lab) = Lab::open()? else { return Ok(()) };
    lab.run(node(), &Peer::new().dhcp().router_advertisements(), |case| {
        case.boot()?;
        let inside = case.inside()?;
        let mut disagreements = Vec::new();
        for document in documents {
            let found = verdicts(&inside, &document.text)?;
            if std::env::var_os("VERDICTS").is_some() {
                eprintln!("VERDICT {} {found:?}", document.name);
            }
            disagreements.extend(disagreement(&document.name, &found));
        }
        assert!(disagreements.is_empty(), "{}", disagreements.join("\n"));
        Ok(())
    })
}

/// OVS in userspace: a container's host may not have the kernel's datapath.
fn in_userspace(text: &str) -> String {
    if !text.contains("ovs-bridge") {
        return text.to_owned();
    }
    let text = text.replace("datapath: system", "datapath: netdev");
    if text.contains("datapath: netdev") {
        return text;
    }
    let options = "    bridge:\n      options:\n";
    let with = "    bridge:\n      options:\n        datapath: netdev\n";
    if text.contains(options) {
        text.replace(options, with)
    } else {
        text.replace("    bridge:\n", with)
    }
}

fn is_left_out(document: &Document) -> bool {
    LEFT_OUT.iter().any(|(name, _)| *name == document.name)
}

#[test]
fn documents_of_the_fixtures_and_the_corpus() -> Result<(), Error> {
    let documents: Vec<Document> = documents::all()
        .into_iter()
        .filter(|document| !is_left_out(document))
        .map(|document| Document { text: in_userspace(&document.text), ..document })
        .collect();
    compare(&documents)
}

#[test]
fn documents_that_nmstate_verifies_leniently() -> Result<(), Error> {
    let documents: Vec<Document> = include_str!("../fixtures/applied.yml")
        .split("\n--- # ")
        .skip(1)
        .filter_map(|document| document.split_once('\n'))
        .map(|(name, text)| Document { name: name.to_owned(), text: text.to_owned() })
        .collect();
    compare(&documents)
}
