//! `make demo-boot`: a blank virtual machine reaches its Ignition endpoint, pivots, gets its br-ex, and only then starts
//! kubelet's stand-in.

#![allow(clippy::print_stdout, reason = "a program for people to read")]

use std::{
    io::Write,
    process::ExitCode,
    time::{Duration, Instant},
};

use tests::{
    lab::{Error, Machines, VmCase},
    skip,
    two_stage::{
        ADDRESS, Ignition, NAME, ON_VLAN, SERVER, archive, bonded, br_ex, early_document, fleet,
        messages, peer, timeline,
    },
};

const MODE: &str = "active-backup";

fn main() -> ExitCode {
    if skip::is_lab_off() {
        println!("the two-stage boot is not shown: LAB=off");
        return ExitCode::SUCCESS;
    }
    match Machines::open().map_err(Into::into).and_then(|machines| show(&machines)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            let _ = writeln!(std::io::stderr(), "demo-boot: {e:?}");
            ExitCode::FAILURE
        }
    }
}

fn show(machines: &Machines) -> Result<(), Box<dyn std::error::Error>> {
    println!("== a directory of fifty hosts, one of them {NAME}; its document for the initramfs");
    println!("{}", early_document(MODE));
    let document = br_ex("bond0", "bond", ADDRESS, [192, 0, 2, 1].into());
    println!("== what Ignition writes to /etc/nmstate/openshift/{NAME}.yml");
    println!("{document}");
    let machine = bonded(MODE)
        .archive(archive(&fleet(MODE))?)
        .ignition(&SERVER.to_string(), &Ignition::new(NAME).document(NAME, &document).text());
    println!(
        "== a virtual machine with two cards boots (no KVM; the first time its image is built)"
    );
    println!("   its console, and what its peer sees:");
    machines.run(&machine, &peer(), |case| {
        let start = Instant::now();
        case.power_on()?;
        let mut seen = Seen { start, lines: 0, answers: [false; 2] };
        while !kubelet_runs(case)? {
            seen.look(case)?;
            if start.elapsed() > VmCase::BOOT {
                let what = "kubelet's stand-in".to_owned();
                return Err(Error::Timeout { what, after: start.elapsed() });
            }
        }
        seen.look(case)?;
        let inside = case.inside()?;
        println!("\n== the boot as its journal tells it (seconds after the kernel's start)");
        for (moment, what) in timeline(&messages(&inside)?) {
            println!("{moment:8.1}  {what}");
        }
        println!("\n== what was asked of the HTTP server\n{}", case.requests()?);
        println!("== in the machine: dayone status; ip -brief -4 address; ovs-vsctl show");
        print!("{}", inside.run(&["dayone", "status"])?.stdout);
        println!("\n{}", inside.sh("ip -brief -4 address; ovs-vsctl show; cat /etc/NetworkManager/system-connections/bond0.nmconnection")?);
        Ok(())
    })?;
    Ok(())
}

/// The output shown so far.
struct Seen {
    start: Instant,
    lines: usize,
    answers: [bool; 2],
}

impl Seen {
    /// Shows new lines of the console, and the addresses that answer the peer.
    fn look(&mut self, case: &VmCase<'_>) -> Result<(), Error> {
        let console = case.console();
        for line in console.lines().skip(self.lines) {
            self.say(line.trim_start_matches(|c: char| c.is_control()));
        }
        self.lines = console.lines().count();
        for (index, address) in [ADDRESS, ON_VLAN].into_iter().enumerate() {
            let answers = case.peer().pings(address, Duration::from_secs(1))?;
            if answers != self.answers[index] {
                let what = if answers { "answers" } else { "does not answer any more" };
                self.say(&format!("peer: ping {address}: {what}"));
            }
            self.answers[index] = answers;
        }
        Ok(())
    }

    fn say(&self, text: &str) {
        println!("{:6.1} s  {text}", self.start.elapsed().as_secs_f32());
    }
}

/// Whether the boot has ended; `false` while the machine does not answer commands.
fn kubelet_runs(case: &mut VmCase<'_>) -> Result<bool, Error> {
    if !case.is_running(Duration::from_millis(100))? {
        return Ok(false);
    }
    Ok(case.inside()?.unit("kubelet.service")?.active_state == "active")
}
