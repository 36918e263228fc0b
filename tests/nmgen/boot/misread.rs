//! Documents that a person takes for this machine's, and devices that share an address.

use tests::machine::{EARLY, Machine, RUNNING, STAGED};

use super::{marked, with_mac};

const MAC: &str = "52:54:00:00:00:01";

/// The error's or the last line.
fn told(machine: &Machine, code: i32) -> String {
    let said = machine.boot().exits(code);
    said.console
}

#[tests::case]
fn an_nmstateconfig_is_unwrapped() {
    let text = format!(
        "apiVersion: agent-install.openshift.io/v1beta1\nkind: NMStateConfig\nmetadata: {{name: worker-0}}\nspec:\n  \
         interfaces:\n  - {{name: eth0, macAddress: '{MAC}'}}\n  config:\n    interfaces:\n    - name: eth0\n      \
         type: ethernet\n      ipv4: {{enabled: true, address: [{{ip: 192.0.2.10, prefix-length: 24}}]}}\n"
    );
    let machine = Machine::with_card().host("worker-0", &text).host("cluster", &marked("all"));
    let said = told(&machine, 0);
    assert_eq!(machine.early(), ["ens3"], "{said}");
    let staged = machine.read(&format!("{STAGED}/ens3.nmconnection"));
    assert!(staged.contains("192.0.2.10/24") && staged.contains(MAC), "{staged}");
}

#[tests::case]
fn an_nmstateconfigs_map_finds_cards_that_its_document_only_refers_to() {
    let document = |interfaces: &str| {
        format!(
            "kind: NMStateConfig\nspec:\n  interfaces:\n  - {{name: eth0, macAddress: '{MAC}'}}\n  config:\n    \
             interfaces: [{interfaces}]\n"
        )
    };
    let bond = "{name: bond0, type: bond, ipv4: {enabled: true, dhcp: true}, \
                link-aggregation: {mode: active-backup, port: [eth0]}}";
    let machine = Machine::with_card().host("worker-0", &document(bond));
    let said = told(&machine, 0);
    assert_eq!(machine.early(), ["bond0", "ens3"], "{said}");
    let staged = machine.read(&format!("{STAGED}/ens3.nmconnection"));
    assert!(staged.contains("master=bond0") && staged.contains(MAC), "{staged}");
    // The map tells whose document it is, also where the document names none of its cards.
    let dummy = "{name: dummy0, type: dummy, ipv4: {enabled: true, address: [{ip: 192.0.2.1, prefix-length: 24}]}}";
    let machine = Machine::with_card().host("worker-0", &document(dummy));
    let said = told(&machine, 0);
    assert!(said.contains("this machine is worker-0") && said.contains(MAC), "{said}");
}

#[tests::case]
fn files_that_mention_the_machine_are_named_where_none_matches() {
    let machine = Machine::with_card()
        .host("w0", &format!("{}# once {MAC}\n", with_mac("a", "52:54:00:00:00:77")))
        .host("w1", &with_mac("b", MAC).replace("type: ethernet,", "type: ethernet, state: down,"));
    let utf16: Vec<u8> =
        "\u{feff}interfaces: []\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    machine.try_write("etc/nmgen/w2.yml", &utf16).unwrap();
    let said = told(&machine, 0);
    let near = format!(
        "; w0.yml mentions {MAC}, w1.yml mentions {MAC}, w2.yml is not UTF-8, but no interface that is up has its address\n"
    );
    assert!(said.ends_with(&near), "{said}");
    assert!(machine.is_untouched());
}

#[tests::case]
fn a_broken_file_does_not_outweigh_a_good_one() {
    for broken in ["interfaces:\n\t- [ # MAC\n", "interfaces: {MAC: [}\n"] {
        let broken = broken.replace("MAC", MAC);
        let machine = Machine::with_card()
            .host("cluster", &marked("all"))
            .host("w0", &with_mac("mine", MAC))
            .host("w0-old", &broken)
            .host(&MAC.replace(':', "-"), &broken);
        let said = told(&machine, 0);
        assert!(machine.profiles(EARLY).contains(&"mine".to_owned()), "{said}");
        for name in ["w0-old", "52-54-00-00-00-01"] {
            let warning = format!(
                "nmgen: /etc/nmgen/{name}.yml cannot be read; /etc/nmgen/w0.yml has the MAC address {MAC} and counts\n"
            );
            assert_eq!(said.matches(&warning).count(), 1, "{said}");
        }
        // Alone it is this machine's, and its fault is told: another document is no way out.
        std::fs::remove_file(machine.path("etc/nmgen/w0.yml")).unwrap();
        told(&machine, 2);
        assert!(machine.is_untouched() || machine.has("run/nmgen-boot"));
    }
}

#[tests::case]
fn the_clusters_document_is_no_way_out_of_two_that_may_be_the_machines() {
    let machine = Machine::with_card()
        .host("cluster", &marked("all"))
        .host("w0", &with_mac("one", MAC))
        .host("w1", &with_mac("two", MAC));
    let said = told(&machine, 2);
    let fault = format!(
        "nmgen: {MAC} (ens3) is in /etc/nmgen/w0.yml and /etc/nmgen/w1.yml, of which one may be for this machine: \
         cluster.yml is not taken; choose one with nmgen.host=; "
    );
    assert!(said.contains(&fault), "{said}");
    assert!(machine.is_untouched());
    // A file for its name is.
    let machine = machine.file("proc/sys/kernel/hostname", "w1\n");
    told(&machine, 0);
    assert!(machine.profiles(EARLY).contains(&"two".to_owned()));
}

/// The card behind a switch and the switch's ports (DSA).
#[tests::case]
fn of_devices_with_one_address_the_named_one_is_meant() {
    let port = |name: &str| {
        format!(
            "interfaces:\n- {{name: {name}, type: ethernet, mac-address: '{MAC}', ipv4: {{enabled: true, dhcp: true}}}}\n"
        )
    };
    for name in ["eth0", "lan1", "lan2"] {
        let machine = Machine::new()
            .card("eth0", MAC)
            .card("lan1", MAC)
            .card("lan2", MAC)
            .host("w0", &port(name));
        let said = told(&machine, 0);
        assert_eq!(machine.early(), [name], "{said}");
        machine.persist().exits(0);
        assert_eq!(machine.profiles(RUNNING), [name], "{said}");
    }
    // By its name alone too.
    let unnamed = port("lan2").replace(&format!("mac-address: '{MAC}', "), "");
    let machine = Machine::new().card("eth0", MAC).card("lan1", MAC).card("lan2", MAC);
    let machine = machine.host("cluster", &unnamed);
    let said = told(&machine, 0);
    assert!(!said.contains("appear"), "{said}");
}

#[tests::case]
fn two_interfaces_for_one_card_share_an_address() {
    let twice = format!(
        "interfaces:\n- {{name: eth0, type: ethernet, mac-address: '{MAC}'}}\n- {{name: eth1, type: ethernet, mac-address: '{MAC}'}}\n"
    );
    let said = told(&Machine::with_card().host("w0", &twice), 2);
    let reason = format!(
        "eth0 and eth1 would both be ens3 on this machine: both have the MAC address {MAC}; "
    );
    assert!(said.contains(&reason), "{said}");
}

/// The initramfs has no driver for the card, and needs none: the running system gets the profile at once.
#[tests::case]
fn profiles_for_the_running_system_wait_for_no_driver() {
    let machine = Machine::new()
        .file("proc/sys/kernel/hostname", "w0\n")
        .command_line("ignition.firstboot nmgen.timeout=600\n")
        .file("run/udev/control", "")
        .host("w0", &with_mac("mine", MAC));
    // A wait would not end within the test harness's patience.
    let said = told(&machine, 0);
    assert!(said.contains("going on without eth0 (52:54:00:00:00:01)\n"), "{said}");
    assert_eq!(machine.profiles(STAGED), ["eth0", "mine"]);
    // But no guess.
    let machine = Machine::new()
        .command_line("ignition.firstboot nmgen.timeout=600\n")
        .file("run/udev/control", "")
        .host("w0", &with_mac("mine", MAC))
        .host("cluster", &marked("all"));
    assert!(told(&machine, 0).contains("matches this machine: nothing to do"));
    assert!(!machine.has("run/nmgen-boot"));
}

#[tests::case]
fn nothing_handed_over_is_no_host_name_either() {
    let document = format!("hostname: {{config: worker-0}}\n{}", with_mac("a", MAC));
    for (line, stays) in [("nmgen.persist=0", false), ("", true)] {
        let machine = Machine::with_card()
            .command_line(&format!("nmgen.timeout=0 rd.neednet=1 ignition.firstboot {line}\n"))
            .host("w0", &document);
        machine.boot().exits(0);
        machine.persist().exits(0);
        // coreos-teardown-initramfs makes it the running system's.
        assert_eq!(machine.has("run/NetworkManager/initrd/hostname"), stays, "{line}");
    }
}
