//! `make demo`, second part: a node in the lab gets its br-ex, and then a broken document.

#![allow(clippy::print_stdout, reason = "a program for people to read")]

use std::{
    io::Write,
    net::{IpAddr, Ipv4Addr},
    process::{Command, ExitCode, Stdio},
};

use tests::{
    dayone::{
        ADDRESS, APISERVER, Document, HASTE, MAC, automatic, bridge_outcome, outcome, try_document,
        worker, wrong_gateway,
    },
    lab::{Case, Error, Inside, Lab, Nic, Node, Peer},
    program, skip,
};

const API: IpAddr = IpAddr::V4(Ipv4Addr::new(198, 51, 100, 10));

fn main() -> ExitCode {
    if skip::is_lab_off() {
        println!("\n== the agent is not shown: LAB=off");
        return ExitCode::SUCCESS;
    }
    match Lab::open().and_then(|lab| show(&lab)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            let _ = writeln!(std::io::stderr(), "demo: {e:?}");
            ExitCode::FAILURE
        }
    }
}

fn show(lab: &Lab) -> Result<(), Error> {
    show_automatic(lab)?;
    show_document(lab)
}

/// A node without a document.
fn show_automatic(lab: &Lab) -> Result<(), Error> {
    println!("\n== the node worker-0 without a document: eno1 has a static address");
    let waits = "[Unit]\nConditionPathExists=/run/lab-bridge\n";
    let drop_in = "/etc/systemd/system/dayone-bridge.service.d/50-lab.conf";
    let node = automatic(Node::new("worker-0").nic(Nic::new("eno1", MAC)));
    let node = node.day_one().file(drop_in, waits, 0o644);
    lab.run(node, &Peer::new().api(API), |case| {
        let inside = case.boot()?;
        println!("\n$ dayone plan");
        println!("{}", inside.sh("dayone plan")?);
        println!("\n== dayone-bridge.service makes it");
        inside.write("/run/lab-bridge", "")?;
        inside.sh("systemctl start dayone-bridge.service")?;
        println!("dayone: {}", bridge_outcome(&inside, None)?.text());
        told(case, &inside)
    })
}

fn show_document(lab: &Lab) -> Result<(), Error> {
    let good = Document::new().text();
    println!("\n== the node worker-0: eno1 has a static address; its host file asks for br-ex");
    tree(&good);
    let node =
        worker().day_one().document(&good).settings(HASTE).file(APISERVER.0, APISERVER.1, 0o644);
    lab.run(node, &Peer::new().api(API), |case| {
        println!("\n== it boots: real systemd, NetworkManager and Open vSwitch in a container");
        let inside = case.boot()?;
        println!("dayone: {}", outcome(&inside, None)?.text());
        told(case, &inside)?;
        println!("\n== the same node with a gateway that does not exist");
        println!("dayone: {}", try_document(&inside, &wrong_gateway())?.text());
        told(case, &inside)
    })
}

fn tree(document: &str) {
    let child = Command::new(program::nmgen()).args(["show", "-"]).stdin(Stdio::piped()).spawn();
    if let Ok(mut child) = child {
        if let Some(mut stdin) = child.stdin.take() {
            let _ = stdin.write_all(document.as_bytes());
        }
        let _ = child.wait();
    }
}

/// Prints the network as seen by the node and its peer.
fn told(case: &Case<'_>, inside: &Inside) -> Result<(), Error> {
    println!("\n$ dayone status");
    print!("{}", inside.run(&["dayone", "status"])?.stdout);
    println!("\n$ ip -brief address; systemctl is-active kubelet");
    println!("{}", inside.sh("ip -brief -4 address; systemctl is-active kubelet.service || true")?);
    println!("\npeer$ ping -c 1 {ADDRESS}");
    // One packet: beside a bridge with the userspace datapath, the kernel answers for the card too, and ping tells duplicates.
    let mut ping = case.peer().command("ping");
    let pinged = ping.args(["-n", "-c", "1"]).arg(ADDRESS.to_string()).output();
    if let Ok(output) = pinged {
        print!("{}", String::from_utf8_lossy(&output.stdout));
    }
    Ok(())
}
