//! `make verdicts`: verdicts of nmstate's `apply()` and of the agent over documents that need a kernel with bonding, VLAN, VRF or
//! Open vSwitch's datapath, in virtual machines. FROM names the first document, to go on after an end by the time limit.
//!
//! `make verdicts STATES=DIR`: over the states of a directory, in containers; a directory in it is a sequence of states. Besides
//! the verdicts, the kernel, profiles, Open vSwitch's database and the exactness of roll backs are compared.

#![allow(clippy::print_stdout, reason = "a program for people to read")]

use std::{env, path::Path, process::ExitCode, time::Duration};

use tests::{
    documents::{self, Document},
    lab::{Inside, Lab, Machines, Node, Peer, VirtualMachine},
    program, skip,
    two_stage::Ignition,
    verdicts::{
        SCRIPT, Sequence, Step, cards, disagreements, in_machines, sequences, settings, table,
    },
};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Documents in one machine, since a case has a time limit and a document takes a machine a minute or two.
const A_MACHINE: usize = 8;

/// Short for what is missing, long for what an emulated machine has to do.
const WAITS: &str = "\
[wait]
network-manager = 600
ovsdb = 600
link = 2
device-settled = 2
[timeout]
snapshot = 120
checkpoint = 120
take-over = 120
apply = 600
verify = 120
roll-back = 600
";
/// Bound for one document.
const BOUND: Duration = Duration::from_secs(600);
const ORACLE: &str = "nmstate-apply";
const ONLY_IN_VRF: &str = "the only default route is a VRF's";
const HOST_FILE: &str = "/etc/nmstate/openshift/worker-0.yml";

fn own() -> Vec<Document> {
    documents::named_in(include_str!("../fixtures/applied/machines.yml"))
}

/// Documents written for this, and those of the fixtures and of `$CORPUS`, from FROM on.
fn compared() -> Vec<Document> {
    let mut all = own();
    all.extend(in_machines(documents::all()));
    all.extend(in_machines(documents::policies()));
    let from = env::var("FROM").unwrap_or_default();
    let first = all.iter().position(|document| document.name == from).unwrap_or_default();
    all.split_off(first)
}

fn machine() -> VirtualMachine {
    let config = Ignition::bare("worker-0")
        .file("/etc/dayone/dayone.toml", &settings(WAITS))
        .file(SCRIPT.0, SCRIPT.1)
        .program(&format!("/usr/bin/{ORACLE}"), &format!("http://192.0.2.1/{ORACLE}"));
    cards()
        .fold(VirtualMachine::new(), VirtualMachine::nic)
        .argument("ip=enp0s16:dhcp")
        .serve(ORACLE, program::nmstate_apply())
        .ignition("192.0.2.1", &config.text())
}

/// Gives the cards the names of the documents.
fn rename(inside: &Inside) -> Result<()> {
    for card in cards() {
        let (name, mac) = (card.name(), card.mac());
        inside.sh(&format!(
            "card=$(grep -l {mac} /sys/class/net/*/address | cut -d/ -f5); \
             ip link set $card down; ip link set $card name {name}; ip link set {name} up"
        ))?;
    }
    Ok(())
}

/// A document whose only default route is a VRF's stays in force, also if a routing daemon makes that route with a nexthop object.
fn default_route_in_a_vrf_is_a_network(inside: &Inside) -> Result<()> {
    let document = own().into_iter().find(|document| document.name == ONLY_IN_VRF);
    inside.write(HOST_FILE, &document.ok_or(ONLY_IN_VRF)?.text)?;
    inside.run_within(&["dayone", "apply"], BOUND)?.success()?;
    for change in [
        "true",
        "ip nexthop add id 7 via 192.0.2.1 dev enp1s0; ip route replace table 107 default nhid 7",
    ] {
        inside.sh(change)?;
        let again = inside.run_within(&["dayone", "apply"], BOUND)?;
        assert!(again.status.success(), "{change}: {again}");
        assert!(again.to_string().contains("in force already"), "{change}: {again}");
        let status = inside.run(&["dayone", "status"])?;
        assert!(!status.stdout.contains("did not come back"), "{change}: {status}");
    }
    Ok(())
}

/// Four times what nmstate's own verification waits for a bridge of Open vSwitch.
const OF_A_STATE: Duration = Duration::from_secs(150);
/// Sequences on one node.
const ON_A_NODE: usize = 12;
/// Short for what is missing, and as patient with a state as nmstate is.
const STATES_WAIT: &str = "[wait]\nlink = 1\ndevice-settled = 2\n[timeout]\nverify = 10\n";

/// The steps of the first of these sequences, on a node of their own, and how many sequences that were. A node on which one does
/// not end has none after it.
fn on_a_node(lab: &Lab, sequences: &[Sequence]) -> Result<(Vec<Step>, usize)> {
    let node = cards()
        .fold(Node::new("worker-0"), Node::nic)
        .bind(program::dayone(), "/usr/bin/dayone")
        .bind(program::nmstate_apply(), "/usr/local/bin/nmstate-apply")
        .settings(&settings(STATES_WAIT));
    let states = sequences.iter().map(|sequence| sequence.states.len()).sum::<usize>();
    let bound = OF_A_STATE * u32::try_from(states + 1)?;
    let (mut steps, mut count) = (Vec::new(), 0);
    lab.run_within(bound, node, &Peer::new().dhcp().router_advertisements(), |case| {
        let inside = case.boot()?;
        inside.wait_sh("ovs-vsctl --timeout=5 show", OF_A_STATE)?;
        for sequence in sequences {
            count += 1;
            match sequence.compare(&inside, OF_A_STATE) {
                Ok(found) => {
                    found.iter().for_each(|step| println!("{step}"));
                    steps.extend(found);
                }
                Err(error) => {
                    println!("{}: {error:?}", sequence.name);
                    break;
                }
            }
        }
        Ok::<(), Box<dyn std::error::Error>>(())
    })?;
    Ok((steps, count))
}

/// Compares the states of a directory; whether all agree.
fn states(directory: &Path) -> Result<bool> {
    let sequences = sequences(directory)?;
    let lab = Lab::open()?;
    let (mut steps, mut done) = (Vec::new(), 0);
    while let Some(rest) = sequences.get(done..).filter(|rest| !rest.is_empty()) {
        match on_a_node(&lab, &rest[..rest.len().min(ON_A_NODE)]) {
            Ok((found, count)) => {
                steps.extend(found);
                done += count.max(1);
            }
            Err(error) => {
                println!("verdicts: {error:?}");
                done += ON_A_NODE;
            }
        }
    }
    println!("{}", table(&steps));
    Ok(!steps.is_empty() && steps.iter().all(|step| step.agrees() != Some(false)))
}

fn main() -> ExitCode {
    if let Some(directory) = env::var_os("STATES").filter(|directory| !directory.is_empty()) {
        return match states(Path::new(&directory)) {
            Ok(true) => ExitCode::SUCCESS,
            Ok(false) => ExitCode::FAILURE,
            Err(e) => {
                println!("verdicts: {e:?}");
                ExitCode::FAILURE
            }
        };
    }
    match compare() {
        Ok(found) if found.is_empty() => {
            println!("verdicts: all agree");
            ExitCode::SUCCESS
        }
        Ok(found) => {
            println!("verdicts: {} disagree\n{}", found.len(), found.join("\n"));
            ExitCode::FAILURE
        }
        Err(e) => {
            println!("verdicts: {e:?}");
            ExitCode::FAILURE
        }
    }
}

/// The disagreements.
fn compare() -> Result<Vec<String>> {
    if skip::is_lab_off() {
        println!("verdicts: nothing is compared, LAB=off");
        return Ok(Vec::new());
    }
    let all = compared();
    println!("verdicts: {} documents", all.len());
    let mut found = Vec::new();
    for (number, documents) in all.chunks(A_MACHINE).enumerate() {
        let machines = Machines::open()?;
        machines.run(&machine(), &Peer::new().dhcp().router_advertisements(), |case| {
            case.power_on()?;
            case.wait_running()?;
            let inside = case.inside()?;
            // It would check each document in the background.
            inside.sh("systemctl stop dayone-pending.path")?;
            rename(&inside)?;
            if number == 0 {
                default_route_in_a_vrf_is_a_network(&inside)?;
            }
            found.extend(disagreements(&inside, documents, BOUND)?);
            Ok::<(), Box<dyn std::error::Error>>(())
        })?;
    }
    Ok(found)
}
