//! Waiting for network cards: only for the document's, and with a bound.

use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use tests::machine::{EARLY, LIVE, Machine, STAGED, Said};
use tests::skip;

const DOCUMENT: &str = "\
interfaces:
- {name: eth0, type: ethernet, mac-address: 52:54:00:00:00:01}
- {name: eth1, type: ethernet, mac-address: 52:54:00:00:00:02}
- name: bond0
  type: bond
  link-aggregation: {mode: active-backup, port: [eth0, eth1]}
  ipv4: {enabled: true, address: [{ip: 192.0.2.10, prefix-length: 24}]}
";
const CLUSTER: &str = "interfaces: [{name: dummy0, type: dummy}]\n";
/// Long, so that a missed event fails the test by its duration.
const LONG: &str = "nmgen.timeout=120\n";
const SOON: Duration = Duration::from_secs(30);

/// A machine with udevd, a document for two cards, and one of them present.
fn machine(line: &str) -> Machine {
    let machine = Machine::with_card().command_line(line).host("worker-0", DOCUMENT);
    machine.write("run/udev/control", "");
    machine.write("sys/class/net/ens3/ifindex", "2\n");
    machine.write("run/udev/data/n2", "I:1\n");
    machine
}

/// udevd has finished a device, and its queue.
fn settle(machine: &Machine, index: u32) {
    machine.write(&format!("run/udev/data/n{index}"), "I:1\n");
    machine.write("run/udev/queue", "");
    std::fs::remove_file(machine.path("run/udev/queue")).unwrap();
}

/// A card comes, with its number in the kernel, and udevd processes it.
fn arrive(machine: &Machine, name: &str, index: u32, mac: &str) {
    machine.plug(name, mac);
    machine.write(&format!("sys/class/net/{name}/ifindex"), &format!("{index}\n"));
    settle(machine, index);
}

/// Returns once the kernel log has this text, or soon.
fn wait_told(machine: &Machine, text: &str) {
    let start = Instant::now();
    while !machine.read("dev/kmsg").contains(text) && start.elapsed() < SOON {
        thread::sleep(Duration::from_millis(5));
    }
}

/// Runs the first step, which succeeds soon after what `happens` when it reports that it waits.
fn boots_soon(machine: &Machine, happens: impl FnOnce() + Send) -> Said {
    let start = Instant::now();
    let said = thread::scope(|scope| {
        scope.spawn(|| {
            wait_told(machine, "waiting for");
            happens();
        });
        machine.boot()
    });
    assert!(start.elapsed() < SOON, "{:?}: {said:?}", start.elapsed());
    said.exits(0)
}

#[tests::case]
fn a_card_that_comes_late_is_waited_for() {
    let machine = machine(LONG);
    let said = boots_soon(&machine, || {
        machine.plug("eth7", "52:54:00:00:00:02");
        machine.write("sys/class/net/eth7/ifindex", "3\n");
        // The kernel's name, until udevd has processed the card.
        settle(&machine, 2);
        let path = |name: &str| machine.path(&format!("sys/class/net/{name}"));
        std::fs::rename(path("eth7"), path("ens4")).unwrap();
        settle(&machine, 3);
    });
    assert_eq!(
        said.console,
        "nmgen: waiting for eth1 (52:54:00:00:00:02)\n\
         nmgen: this machine is worker-0 (ens3 has the MAC address 52:54:00:00:00:01): 3 profiles \
         from /etc/nmgen/worker-0.yml; eth0 is ens3; eth1 is ens4\n\
         nmgen: /run/NetworkManager/system-connections/default_connection.nmconnection gives way to it\n"
    );
    assert_eq!(machine.early(), ["bond0", "ens3", "ens4"]);
}

/// A name above the kernel's 15 bytes, of a card that its address or its place identifies, is the document's alone.
#[tests::case]
fn a_card_with_a_long_name_may_come_late_or_never() {
    let text = "\
interfaces:
- {name: primary-interface-0, type: ethernet, mac-address: 52:54:00:00:00:01}
- {name: primary-interface-1, type: ethernet, mac-address: 52:54:00:00:00:02}
- name: bond0
  type: bond
  link-aggregation: {mode: active-backup, port: [primary-interface-0, primary-interface-1]}
- {name: primary-interface-1.100, type: vlan, vlan: {base-iface: primary-interface-1, id: 100}}
- {name: storage-interface-0, type: ethernet, identifier: pci-address, pci-address: '0000:18:00.0'}
";
    let document = |from: &str| {
        text.split_inclusive('\n').filter(|line| !line.contains(from)).collect::<String>()
    };
    let with_udevd = machine(LONG).host("worker-0", &document("storage"));
    boots_soon(&with_udevd, || arrive(&with_udevd, "ens4", 3, "52:54:00:00:00:02"));
    assert_eq!(with_udevd.early(), ["bond0", "ens3", "ens4", "ens4.100"]);
    let without = machine("nmgen.timeout=1\n").host("worker-0", text);
    without.boot().exits(0);
    let profiles = without.early();
    assert_eq!(profiles.len(), 5, "{profiles:?}");
    for (profile, expected) in
        [("primary-in", "mac-address=52:54:00:00:00:02"), ("storage-in", "path=pci-0000:18:00.0")]
    {
        let name = profiles.iter().find(|name| name.starts_with(profile) && !name.contains('.'));
        let text = without.read(&format!("{EARLY}/{}.nmconnection", name.unwrap()));
        assert!(text.contains(expected) && !text.contains("interface-name"), "{text}");
    }
    // One that nothing else identifies is an error, and at once.
    let machine =
        machine(LONG).host("worker-0", &text.replace(", mac-address: 52:54:00:00:00:02", ""));
    let start = Instant::now();
    machine.boot().exits(2);
    assert!(start.elapsed() < SOON);
}

/// udevd writes its entry of a device before the rename and again after it; the event with the new name ends the wait.
#[tests::case]
fn a_card_that_is_being_renamed_is_waited_for() {
    let machine = machine(LONG);
    machine.plug("eth7", "52:54:00:00:00:02");
    machine.write("sys/class/net/eth7/ifindex", "3\n");
    machine.write("run/udev/data/n3", "I:1\nE:ID_NET_NAME_PATH=ens4\nE:ID_RENAMING=1\n");
    boots_soon(&machine, || {
        let path = |name: &str| machine.path(&format!("sys/class/net/{name}"));
        std::fs::rename(path("eth7"), path("ens4")).unwrap();
        settle(&machine, 3);
    });
    assert_eq!(machine.early(), ["bond0", "ens3", "ens4"]);
}

/// A host that is known by its boot card, and whose document is for another one, by name. Where only the running system gets the
/// profile it is for good.
#[tests::case]
fn a_card_of_the_documents_name_comes_before_its_stand_in() {
    let document = "interfaces:\n- {name: ens4, type: ethernet, ipv4: {enabled: true, address: [{ip: 192.0.2.10, prefix-length: 24}]}}\n";
    for line in [LONG, "ignition.firstboot nmgen.timeout=120\n"] {
        let machine = || {
            let machine =
                Machine::with_card().command_line(line).host("52-54-00-00-00-01", document);
            machine.write("run/udev/control", "");
            machine.write("sys/class/net/ens3/ifindex", "2\n");
            machine.write("run/udev/data/n2", "I:1\n");
            machine
        };
        let late = machine();
        boots_soon(&late, || arrive(&late, "ens4", 3, "52:54:00:00:00:02"));
        assert_eq!(late.profiles(STAGED), ["ens4"]);
        // udev has the card already, under another name.
        let renamed = machine();
        renamed.plug("eth7", "52:54:00:00:00:02");
        renamed.write("sys/class/net/eth7/ifindex", "3\n");
        renamed.write("run/udev/data/n3", "I:1\nE:ID_RENAMING=1\n");
        boots_soon(&renamed, || {
            let path = |name: &str| renamed.path(&format!("sys/class/net/{name}"));
            std::fs::rename(path("eth7"), path("ens4")).unwrap();
            settle(&renamed, 3);
        });
        assert_eq!(renamed.profiles(STAGED), ["ens4"]);
        // Where no other card comes, the boot card is meant.
        let alone = machine();
        alone.boot().exits(0);
        assert_eq!(alone.profiles(STAGED), ["ens3"]);
    }
}

/// The kernel's own events, in a separate network namespace: a new device there ends the wait.
#[tests::case]
fn the_kernel_says_that_a_card_came() {
    let machine = Machine::with_card().command_line(LONG).host("worker-0", DOCUMENT);
    let mut inside = Command::new("unshare");
    inside.args([
        "--net",
        "sh",
        "-c",
        "(while ! grep -q waiting \"$0\"; do sleep 0.02; done; \
                  mkdir -p \"$1/device\" && echo 52:54:00:00:00:02 >\"$1/address\"; \
                  ip link add wake0 type veth peer name wake1) & shift; exec \"$@\"",
    ]);
    inside.arg(machine.path("dev/kmsg")).arg(machine.path("sys/class/net/ens4"));
    inside.arg(machine.command().get_program()).args(machine.command().get_args());
    let start = Instant::now();
    let said = machine.run(&mut inside);
    if said.console.contains("unshare: ") {
        skip::part(&format!("events of the kernel: {}", said.console));
    }
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(start.elapsed() < SOON, "{:?}", start.elapsed());
    assert_eq!(machine.early(), ["bond0", "ens3", "ens4"]);
}

#[tests::case]
fn cards_that_the_document_does_not_need_are_not_waited_for() {
    let machine = machine(LONG);
    machine.plug("ens4", "52:54:00:00:00:02");
    machine.write("sys/class/net/ens4/ifindex", "3\n");
    machine.write("run/udev/data/n3", "I:1\n");
    // udevd is still busy, and a third card lacks its final name.
    machine.write("run/udev/queue", "");
    machine.plug("eth0", "52:54:00:00:00:03");
    machine.write("sys/class/net/eth0/ifindex", "4\n");
    let start = Instant::now();
    machine.boot().exits(0);
    assert!(start.elapsed() < SOON);
    assert_eq!(machine.early(), ["bond0", "ens3", "ens4"]);
}

#[tests::case]
fn what_a_later_card_could_change_is_decided_when_udevd_is_done() {
    let machine = machine(LONG).host("cluster", CLUSTER);
    std::fs::remove_dir_all(machine.path("sys/class/net/ens3")).unwrap();
    machine.plug("usb0", "02:00:00:00:00:01");
    machine.write("sys/class/net/usb0/ifindex", "9\n");
    machine.write("run/udev/data/n9", "I:1\n");
    // udev records nothing for lo: its entry is empty.
    std::fs::create_dir_all(machine.path("sys/class/net/lo")).unwrap();
    machine.write("sys/class/net/lo/ifindex", "1\n");
    machine.write("run/udev/data/n1", "");
    machine.write("run/udev/queue", "");
    let said = boots_soon(&machine, || {
        for (name, index, mac) in [("ens3", 2, "01"), ("ens4", 3, "02")] {
            machine.plug(name, &format!("52:54:00:00:00:{mac}"));
            machine.write(&format!("sys/class/net/{name}/ifindex"), &format!("{index}\n"));
        }
        machine.write("run/udev/data/n2", "I:1\n");
        settle(&machine, 3);
    });
    assert!(said.console.starts_with("nmgen: waiting for network cards\n"), "{said:?}");
    assert_eq!(machine.early(), ["bond0", "ens3", "ens4"]);

    // Without the cards the document for all machines applies.
    let machine = self::machine(LONG).host("cluster", CLUSTER);
    machine.write("sys/class/net/ens3/address", "02:00:00:00:00:01\n");
    machine.write("run/udev/queue", "");
    boots_soon(&machine, || settle(&machine, 2));
    assert_eq!(machine.early(), ["dummy0"]);
}

/// A document for a maker's cards names no address, so udevd alone says whether one may come.
#[tests::case]
fn a_document_for_a_prefix_waits_for_udevd_too() {
    let machine = Machine::new()
        .card("ens9", "52:99:00:00:00:01")
        .command_line(LONG)
        .host("52-54-00", CLUSTER)
        .host("cluster", "interfaces: [{name: dummy1, type: dummy}]\n");
    machine.write("run/udev/control", "");
    machine.write("run/udev/queue", "");
    machine.write("sys/class/net/ens9/ifindex", "2\n");
    machine.write("run/udev/data/n2", "I:1\n");
    boots_soon(&machine, || {
        arrive(&machine, "ens3", 3, "52:54:00:00:00:01");
    });
    assert_eq!(machine.early(), ["dummy0"]);
}

/// Documents are read once, not for each card: a file removed meanwhile would be an error.
#[tests::case]
fn the_directory_is_read_once() {
    let other = DOCUMENT.replace("52:54:00", "52:54:99");
    let machine = machine(LONG).host("worker-1", &other);
    machine.write("sys/class/net/ens3/address", "02:00:00:00:00:01\n");
    machine.write("run/udev/queue", "");
    boots_soon(&machine, || {
        std::fs::remove_file(machine.path("etc/nmgen/worker-1.yml")).unwrap();
        for (name, index, mac) in [("ens4", 3, "01"), ("ens5", 4, "02")] {
            arrive(&machine, name, index, &format!("52:54:00:00:00:{mac}"));
        }
    });
    assert_eq!(machine.early(), ["bond0", "ens4", "ens5"]);
}

#[tests::case]
fn a_machine_without_any_card_waits_for_one() {
    let machine = machine(LONG);
    std::fs::remove_dir_all(machine.path("sys/class/net/ens3")).unwrap();
    boots_soon(&machine, || {
        arrive(&machine, "ens3", 2, "52:54:00:00:00:01");
        // One event ends no wait but its own.
        wait_told(&machine, "waiting for eth1 (52:54:00:00:00:02)");
        arrive(&machine, "ens4", 3, "52:54:00:00:00:02");
    });
    assert_eq!(machine.early(), ["bond0", "ens3", "ens4"]);
}

#[tests::case]
fn one_that_never_comes_is_done_without() {
    let machine = machine("nmgen.timeout=1\n");
    let start = Instant::now();
    let said = machine.boot();
    assert!(start.elapsed() >= Duration::from_secs(1));
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_eq!(
        said.console,
        "nmgen: waiting for eth1 (52:54:00:00:00:02)\n\
         nmgen: eth1 (52:54:00:00:00:02) did not appear within 1 s; going on without it\n\
         nmgen: this machine is worker-0 (ens3 has the MAC address 52:54:00:00:00:01): 3 profiles \
         from /etc/nmgen/worker-0.yml; eth0 is ens3\n\
         nmgen: /run/NetworkManager/system-connections/default_connection.nmconnection gives way to it\n"
    );
    // The profile exists for the case that the card comes later, under any name.
    let profile = machine.read(&format!("{EARLY}/eth1.nmconnection"));
    assert!(profile.contains("mac-address=52:54:00:00:00:02\n"), "{profile}");
    assert!(!profile.contains("interface-name="), "{profile}");
}

#[tests::case]
fn without_any_of_its_cards_the_default_goes_ahead() {
    let machine = machine("nmgen.host=worker-0 nmgen.timeout=1\n");
    machine.write("sys/class/net/ens3/address", "02:00:00:00:00:01\n");
    let said = machine.boot().exits(1);
    assert_eq!(
        said.kernel.lines().last(),
        Some(
            "<3>nmgen: /etc/nmgen/worker-0.yml: none of its network cards appeared within 1 s: \
             eth0 (52:54:00:00:00:01), eth1 (52:54:00:00:00:02); the boot goes on with the \
             initramfs's own network"
        )
    );
    assert!(machine.is_untouched());
}

#[tests::case]
fn a_timeout_that_is_no_number_is_said() {
    let machine =
        Machine::with_card().command_line("nmgen.timeout=soon\n").host("cluster", CLUSTER);
    let said = machine.boot().exits(0);
    let warning = "<4>nmgen: nmgen.timeout=soon is not a number of seconds; using 60\n";
    assert!(said.kernel.starts_with(warning), "{said:?}");
}

/// assisted-service's script waits until no card came for a while; a host's cards are waited for until the timeout.
#[tests::case]
fn a_live_root_waits_for_the_cards_of_its_host() {
    let profile = |name: &str| {
        format!("[connection]\nid={name}\nuuid={name}\ntype=ethernet\ninterface-name={name}\n")
    };
    let tree = "etc/assisted/network/host0";
    let machine = Machine::live()
        .command_line(LONG)
        .file(
            &format!("{tree}/mac_interface.ini"),
            "52:54:00:00:00:01=eno1\n52:54:00:00:00:02=eno2\n",
        )
        .file(&format!("{tree}/eno1.nmconnection"), &profile("eno1"))
        .file(&format!("{tree}/eno2.nmconnection"), &profile("eno2"))
        .file("run/udev/control", "")
        .file("run/udev/queue", "");
    let plug = |name: &str, index: u32, mac: &str| {
        machine.plug(name, mac);
        machine.write(&format!("sys/class/net/{name}/ifindex"), &format!("{index}\n"));
        settle(&machine, index);
    };
    let start = Instant::now();
    let said = thread::scope(|scope| {
        scope.spawn(|| {
            wait_told(&machine, "waiting for network cards");
            plug("ens3", 2, "52:54:00:00:00:01");
            wait_told(&machine, "waiting for eno2");
            plug("ens4", 3, "52:54:00:00:00:02");
        });
        machine.boot_live()
    })
    .exits(0);
    assert!(start.elapsed() < SOON, "{said:?}");
    assert_eq!(
        said.console,
        "nmgen: waiting for network cards\n\
         nmgen: waiting for eno2 (52:54:00:00:00:02)\n\
         nmgen: this machine is host0 (ens3 has the MAC address 52:54:00:00:00:01): 2 profiles from \
         /etc/assisted/network/host0; eno1 is ens3; eno2 is ens4\n"
    );
    assert_eq!(machine.profiles(LIVE), ["ens3", "ens4"]);
}

/// A card that the host's files name and the machine lacks: its profile matches it later.
#[tests::case]
fn a_live_root_waits_a_moment_for_a_card_that_udev_does_not_announce() {
    let tree = "etc/assisted/network/host0";
    let machine = Machine::live()
        .command_line(LONG)
        .file(
            &format!("{tree}/mac_interface.ini"),
            "52:54:00:00:00:01=eno1\n52:54:00:00:00:02=eno2\n",
        )
        .file(
            &format!("{tree}/eno1.nmconnection"),
            "[connection]\nid=eno1\nuuid=eno1\ntype=ethernet\ninterface-name=eno1\n",
        )
        .file("run/udev/control", "");
    machine.plug("ens3", "52:54:00:00:00:01");
    machine.write("sys/class/net/ens3/ifindex", "2\n");
    settle(&machine, 2);
    let start = Instant::now();
    let said = machine.boot_live().exits(0);
    assert!(start.elapsed() < SOON, "{said:?}");
    assert!(said.console.contains("host0: going on without eno2"), "{said:?}");
    assert_eq!(machine.profiles(LIVE), ["ens3"]);
}

/// Firmware-loading, hot-plugged and USB cards come after udev's idle moment.
#[tests::case]
fn a_card_that_comes_after_udev_was_idle_is_no_reason_for_the_fallback() {
    let machine = machine(LONG).host("cluster", CLUSTER);
    machine.write("sys/class/net/ens3/address", "02:00:00:00:00:01\n");
    boots_soon(&machine, || {
        for (name, index, mac) in [("ens4", 3, "01"), ("ens5", 4, "02")] {
            arrive(&machine, name, index, &format!("52:54:00:00:00:{mac}"));
        }
    });
    assert_eq!(machine.early(), ["bond0", "ens4", "ens5"]);
    // Nothing is waited for where no document is for an address.
    let machine = Machine::with_card().command_line(LONG).host("cluster", CLUSTER);
    machine.write("run/udev/control", "");
    machine.write("sys/class/net/ens3/ifindex", "2\n");
    machine.write("run/udev/data/n2", "I:1\n");
    let said = machine.boot();
    assert!(!said.console.contains("waiting"), "{said:?}");
    assert_eq!(machine.early(), ["dummy0"]);
}

/// A BMC's network interface, which every machine of its kind has.
#[tests::case]
fn a_usb_card_with_a_local_address_is_no_card() {
    let machine = Machine::new()
        .card("usb0", "02:00:00:00:00:01")
        .on_bus("usb0", "usb")
        .command_line(LONG)
        .host("worker-0", DOCUMENT)
        .host("cluster", CLUSTER);
    machine.write("run/udev/control", "");
    machine.write("sys/class/net/usb0/ifindex", "2\n");
    machine.write("run/udev/data/n2", "I:1\n");
    boots_soon(&machine, || {
        thread::sleep(Duration::from_secs(6));
        for (name, index, mac) in [("ens4", 3, "01"), ("ens5", 4, "02")] {
            arrive(&machine, name, index, &format!("52:54:00:00:00:{mac}"));
        }
    });
    assert_eq!(machine.early(), ["bond0", "ens4", "ens5"]);
}

/// Azure's rule for the virtual function below netvsc, before the kernel has joined them.
#[tests::case]
fn a_card_that_networkmanager_leaves_alone_is_none() {
    let machine = Machine::new()
        .card("enP1s2", "52:54:00:00:00:01")
        .card("eth0", "52:54:00:00:00:01")
        .command_line("nmgen.timeout=0\n")
        .host(
            "worker-0",
            "interfaces: [{name: eno1, type: ethernet, mac-address: '52:54:00:00:00:01'}]\n",
        );
    for (name, index, entry) in [("enP1s2", 2, "I:1\nE:NM_UNMANAGED=1\n"), ("eth0", 3, "I:1\n")] {
        machine.write(&format!("sys/class/net/{name}/ifindex"), &format!("{index}\n"));
        machine.write(&format!("run/udev/data/n{index}"), entry);
    }
    machine.boot().exits(0);
    assert_eq!(machine.early(), ["eth0"]);
}

/// s390x: the cards of one OSA port have one address.
#[tests::case]
fn cards_that_share_a_port_are_told_by_their_names() {
    let card = |name: &str| {
        format!("- {{name: {name}, type: ethernet, mac-address: '52:54:00:00:00:01'}}\n")
    };
    let machine = Machine::new()
        .card("enc600", "52:54:00:00:00:01")
        .on_bus("enc600", "ccwgroup")
        .card("enc700", "52:54:00:00:00:01")
        .on_bus("enc700", "ccwgroup")
        .command_line("nmgen.timeout=0\n")
        .host("worker-0", &format!("interfaces:\n{}{}", card("enc700"), card("enc600")));
    machine.boot().exits(0);
    assert_eq!(machine.early(), ["enc600", "enc700"]);
}
