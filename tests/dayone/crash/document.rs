//! The transaction of a document, and the automatic bridge after it.

use std::io::Write as _;

use tests::{
    crash::campaign,
    dayone::{Document, HOST_FILE},
    lab::{Error, Peer},
};

use super::{
    interrupted,
    node::{self, REFUSED, booted},
    recorded::{faulty, recorded},
    recovery::{Expected, Recovery},
};

/// Document number `number`: another address, and a second bridge with a name of its own, so that profiles come and go.
fn document(number: u8) -> String {
    let address = format!("192.0.2.{}", 9 + number);
    let text = Document::new().with("192.0.2.10", &address).text();
    let second = format!(
        "\
interfaces:
- name: br-lab{number}
  type: ovs-bridge
  state: up
  bridge:
    options: {{datapath: netdev}}
    port: [{{name: lab{number}}}]
- name: lab{number}
  type: ovs-interface
  state: up
  ipv4: {{enabled: false}}
  ipv6: {{enabled: false}}
"
    );
    text.replacen("interfaces:\n", &second, 1)
}

/// A document whose gateway does not answer.
fn wrong(number: u8) -> String {
    document(number).replace("next-hop-address: 192.0.2.1\n", "next-hop-address: 192.0.2.254\n")
}

#[tests::case]
fn old_network_or_the_new_one() -> Result<(), Error> {
    let mut recordings = Vec::new();
    let mut mutants = Vec::new();
    node::node().run(&Peer::new(), |case| {
        let inside = booted(case)?;
        let mut apply = |name, text: &str, exit| -> Result<(), Error> {
            inside.write(HOST_FILE, text)?;
            let recording = recorded(&inside, &["apply"], None, exit)?;
            recordings.push((name, Expected::new(&recording, (false, exit == 0)), recording));
            Ok(())
        };
        apply("the first document, rolled back", &wrong(1), 3)?;
        let mut mutant = |step, exit| -> Result<(), Error> {
            let recording = recorded(&inside, &["apply"], Some(step), exit)?;
            mutants.push((step, Expected::new(&recording, (false, exit == 0)), recording));
            Ok(())
        };
        mutant("sync-new-file", 3)?;
        mutant("journal-rename", 3)?;
        apply("the first document", &document(1), 0)?;
        apply("the second document, rolled back", &wrong(2), 3)?;
        apply("the second document", &document(2), 0)?;
        inside.write(HOST_FILE, &document(3))?;
        mutant("sync-profiles", 0)?;
        inside.sh(&format!("rm {HOST_FILE}"))?;
        let mut bridge = |name, settings, exit| -> Result<(), Error> {
            node::set(&inside, settings)?;
            let recording = recorded(&inside, &["bridge"], None, exit)?;
            recordings.push((name, Expected::new(&recording, (false, exit == 0)), recording));
            Ok(())
        };
        bridge("the bridge in place of the document, rolled back", REFUSED, 3)?;
        bridge("the bridge in place of the document", "", 0)
    })?;
    let second = interrupted::hold(&recordings)?;
    let _ = writeln!(std::io::stderr(), "a second crash during the recovery: {second} states");
    node::hold(&recordings, 20_000_usize.saturating_sub(second))?;
    for (step, expected, recording) in &mutants {
        let is_noticed = campaign::is_noticed(recording, || Recovery::new(expected));
        assert!(
            is_noticed.map_err(|fault| faulty(&fault))?,
            "nothing notices an agent without {step}"
        );
    }
    Ok(())
}
