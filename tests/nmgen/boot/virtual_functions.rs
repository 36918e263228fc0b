//! Virtual functions of SR-IOV: nobody waits for what NetworkManager makes.

use std::process::Command;
use std::time::{Duration, Instant};

use tests::machine::{EARLY, Machine, STAGED};
use tests::program;

/// Long, so that a wait fails the test by its duration.
const LINE: &str = "nmgen.timeout=120\n";
const SOON: Duration = Duration::from_secs(60);

fn bond(ports: &str) -> String {
    format!(
        "interfaces:\n- name: eno1np0\n  type: ethernet\n  mac-address: 52:54:00:00:00:01\n  ethernet: {{sr-iov: {{total-vfs: 2}}}}\n\
         - {{name: bond0, type: bond, link-aggregation: {{mode: active-backup, port: [{ports}]}}}}\n"
    )
}

#[tests::case]
fn a_bond_of_virtual_functions_is_not_waited_for() {
    let machine = Machine::new()
        .card("eno1np0", "52:54:00:00:00:01")
        .command_line(LINE)
        .host("worker-0", &bond("eno1v0, eno1v1"));
    let start = Instant::now();
    let said = machine.boot();
    assert!(start.elapsed() < SOON, "{said:?}");
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_eq!(machine.profiles(EARLY), ["bond0", "eno1np0", "eno1v0", "eno1v1"]);
    // They are named after the card, whatever its name is here.
    let machine = Machine::new()
        .card("ens1f0np0", "52:54:00:00:00:01")
        .command_line(LINE)
        .host("worker-0", &bond("eno1v0, eno1v1"));
    machine.boot().exits(0);
    assert_eq!(machine.profiles(EARLY), ["bond0", "ens1f0np0", "ens1f0v0", "ens1f0v1"]);
    // A name of the owner's choice, in which `np` is no port.
    let named = bond("inputv0, inputv1").replace("eno1np0", "input");
    let machine = Machine::new()
        .card("input", "52:54:00:00:00:01")
        .command_line("nmgen.timeout=0\n")
        .host("worker-0", &named);
    let said = machine.boot();
    assert!(said.code == Some(0) && !said.console.contains("appear"), "{said:?}");
}

/// The address is one to set: nothing has it before the function is made.
#[tests::case]
fn a_function_with_an_address_is_known_by_its_name() {
    for number in ["total-vfs: 1, ", ""] {
        let document = format!(
            "interfaces:\n\
             - name: eno1\n  type: ethernet\n  mac-address: 52:54:00:00:00:01\n  \
             ethernet: {{sr-iov: {{{number}vfs: [{{id: 0, mac-address: '52:54:00:00:00:09'}}]}}}}\n\
             - {{name: eno1v0, type: ethernet, mac-address: '52:54:00:00:00:09'}}\n\
             - {{name: eno1v0.7, type: vlan, vlan: {{base-iface: eno1v0, id: 7}}}}\n"
        );
        for (card, function) in [("eno1", "eno1v0"), ("ens3", "ens3v0")] {
            let machine = Machine::new()
                .card(card, "52:54:00:00:00:01")
                .command_line("nmgen.timeout=0\n")
                .host("worker-0", &document);
            let said = machine.boot();
            assert!(said.code == Some(0) && !said.console.contains("waiting"), "{said:?}");
            assert_eq!(machine.early(), [card, function, &format!("{function}.7")]);
            let profile = machine.read(&format!("{STAGED}/{function}.nmconnection"));
            assert!(profile.contains(&format!("\ninterface-name={function}\n")), "{profile}");
            assert!(
                profile.contains("\ncloned-mac-address=52:54:00:00:00:09\n")
                    && !profile.contains("\nmac-address="),
                "{profile}"
            );
        }
    }
}

#[tests::case]
fn a_function_that_nobody_makes_is_missed() {
    let machine = Machine::new()
        .card("eno1np0", "52:54:00:00:00:01")
        .command_line("nmgen.timeout=0\n")
        .host("worker-0", &bond("eno1v0, eno1v2"));
    let said = machine.boot().exits(0);
    assert!(said.kernel.contains("<4>nmgen: eno1v2 did not appear within 0 s"), "{said:?}");
}

/// NetworkManager refuses such a name; nmstate resolves it on a node only.
#[tests::case]
fn nmstates_word_for_a_function_is_an_error_at_once() {
    let document = bond("'sriov:eno1np0:0', 'sriov:eno1np0:1'");
    let machine = Machine::new()
        .card("eno1np0", "52:54:00:00:00:01")
        .command_line(LINE)
        .host("worker-0", &document);
    let start = Instant::now();
    let said = machine.boot();
    assert!(start.elapsed() < SOON, "{said:?}");
    assert_eq!(said.code, Some(2), "{said:?}");
    assert!(said.kernel.contains(" [sriov-name]"), "{said:?}");
    assert!(machine.is_untouched());
    let run = |arguments: &[&str]| {
        let mut command = Command::new(program::nmgen());
        command.arg("generate").args(arguments).arg(machine.path("etc/nmgen"));
        command.output().unwrap().status.code()
    };
    // For the agent it is no fault: nmstate resolves it there.
    assert_eq!(run(&[]), Some(2));
    assert_eq!(run(&["--to", "machine-config", "--role", "worker"]), Some(0));
}
