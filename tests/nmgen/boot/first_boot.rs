//! A first boot whose initramfs needs no network: the running system gets its profiles all the same.

use std::process::Command;

use tests::machine::{EARLY, Machine, RUNNING, STAGED};
use tests::program;

const DOCUMENT: &str = "\
hostname: {config: worker-0}
interfaces:
- name: eth0
  type: ethernet
  mac-address: 52:54:00:00:00:01
  ipv4: {enabled: true, address: [{ip: 192.0.2.70, prefix-length: 24}]}
";
const NEEDED: &str = "run/NetworkManager/initrd/neednet";

fn machine(line: &str) -> Machine {
    let line = format!("nmgen.timeout=0 {line}\n");
    Machine::with_card().host("worker-0", DOCUMENT).command_line(&line)
}

/// The profiles are staged, and nothing of the initramfs's own network changes.
fn only_stages(machine: &Machine) {
    let said = machine.boot().exits(0);
    let line = "nmgen: this machine is worker-0 (ens3 has the MAC address 52:54:00:00:00:01): 1 profile \
                from /etc/nmgen/worker-0.yml, for the running system only; eth0 is ens3\n";
    assert_eq!(said.console, line);
    assert_eq!(machine.profiles(EARLY), ["default_connection"]);
    assert_eq!(machine.profiles(STAGED), ["ens3"]);
    assert!(!machine.has("run/NetworkManager/conf.d") && !machine.has("run/NetworkManager/initrd"));
    machine.persist().exits(0);
    assert_eq!(machine.profiles(RUNNING), ["ens3"]);
    assert_eq!(machine.read("sysroot/etc/hostname"), "worker-0\n");
    assert_eq!(machine.profiles(EARLY), ["default_connection"]);
}

#[tests::case]
fn without_a_network_the_profiles_go_to_the_running_system_alone() {
    for line in ["ignition.firstboot", "quiet nmgen.persist", "nmgen.persist=1 ignition.firstboot"]
    {
        only_stages(&machine(line));
    }
}

#[tests::case]
fn whoever_wants_the_network_gets_it() {
    let first = "ignition.firstboot ignition.platform.id=metal";
    for machine in [
        machine(&format!("{first} rd.neednet=1")),
        machine(&format!("{first} rd.neednet")),
        machine(first).file(NEEDED, ""),
        machine(first).file("run/ignition/neednet", ""),
        // coreos-enable-network writes this.
        machine(first).file("etc/cmdline.d/40-coreos-neednet.conf", "rd.neednet=1"),
        // By hand, without any of the unit's triggers.
        machine(""),
    ] {
        machine.boot().exits(0);
        assert_eq!(machine.profiles(EARLY), ["ens3"]);
        assert!(machine.has(NEEDED));
    }
}

#[tests::case]
fn a_switch_turns_it_off() {
    let machine = machine("ignition.firstboot nmgen.persist=0 rd.neednet=0");
    let said = machine.boot();
    let line = "nmgen: no network is needed, and this is no first boot: nothing to do\n";
    assert_eq!((said.code, said.console.as_str()), (Some(0), line));
    assert!(machine.is_untouched());
}

/// Names are all that is waited for: a card that is missing once udev is idle gets a profile that matches it later.
#[tests::case]
fn a_missing_card_delays_nothing() {
    let both =
        format!("{DOCUMENT}- {{name: eth1, type: ethernet, mac-address: 52:54:00:00:00:02}}\n");
    let machine = Machine::with_card().host("worker-0", &both);
    let machine = machine.command_line("ignition.firstboot nmgen.timeout=600\n");
    machine.write("run/udev/control", "");
    machine.write("sys/class/net/ens3/ifindex", "2\n");
    machine.write("run/udev/data/n2", "I:1\n");
    // A wait would not end within the test harness's patience.
    let said = machine.boot().exits(0);
    assert!(
        said.console.starts_with("nmgen: going on without eth1 (52:54:00:00:00:02)\n"),
        "{said:?}"
    );
    assert_eq!(machine.profiles(STAGED), ["ens3", "eth1"]);
    assert!(machine.read(&format!("{STAGED}/eth1.nmconnection")).contains("52:54:00:00:00:02"));
}

/// A running system would keep the initramfs's variants for good.
#[tests::case]
fn a_root_that_is_no_initramfs_is_refused() {
    let machine = machine("rd.neednet=1");
    std::fs::remove_file(machine.path("etc/initrd-release")).unwrap();
    for said in [machine.boot(), machine.persist()] {
        assert_eq!(said.code, Some(2), "{said:?}");
        let reason = "nmgen: /etc/initrd-release is missing, so this is no initramfs; in a live root \
                      --live writes profiles, elsewhere `nmgen generate`; ";
        assert!(said.console.starts_with(reason), "{said:?}");
    }
    assert!(machine.is_untouched());
}

#[tests::case]
fn the_unit_has_the_same_triggers() {
    let text = std::fs::read_to_string(program::nmgen_module().join("nmgen.service")).unwrap();
    for trigger in [
        "ConditionPathExists=|/run/NetworkManager/initrd/neednet",
        "ConditionKernelCommandLine=|rd.neednet=1",
        "ConditionKernelCommandLine=|ignition.firstboot",
        "ConditionKernelCommandLine=|nmgen.persist",
    ] {
        assert!(text.lines().any(|line| line == trigger), "{trigger}");
        let condition = trigger.replace('|', "");
        let known = Command::new("systemd-analyze").args(["condition", &condition]).output();
        // It says whether the condition holds here; a misspelt one is an error of its own.
        let said = known.map(|output| String::from_utf8_lossy(&output.stderr).into_owned());
        assert!(!said.unwrap_or_default().contains("Cannot parse"), "{condition}");
    }
}
