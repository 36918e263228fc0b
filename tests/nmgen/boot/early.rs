//! Profiles for the initramfs's NetworkManager: bounds on waiting, and no default profile of others.

use std::collections::BTreeMap;
use std::process::Command;

use tests::keyfile;
use tests::machine::{DEFAULT_PROFILE, EARLY, Machine, STAGED};
use tests::program::{self, Exits as _};
use tests::skip;

type Profile = BTreeMap<String, BTreeMap<String, String>>;

fn profile(machine: &Machine, name: &str) -> Profile {
    let text = machine.read(&format!("{EARLY}/{name}.nmconnection"));
    let sections = keyfile::parse(&text).into_iter();
    sections.map(|(section, entries)| (section, entries.into_iter().collect())).collect()
}

fn get<'p>(profile: &'p Profile, section: &str, key: &str) -> Option<&'p str> {
    profile.get(section)?.get(key).map(String::as_str)
}

const STATIC: &str = "\
routes: {config: [{destination: 0.0.0.0/0, next-hop-address: 192.0.2.1, next-hop-interface: ens3}]}
interfaces:
- name: ens3
  type: ethernet
  ipv4: {enabled: true, address: [{ip: 192.0.2.10, prefix-length: 24}]}
";
const DYNAMIC: &str = "  type: ethernet\n  ipv4: {enabled: true, dhcp: true}\n";
const BOTH: &str = "  type: ethernet\n  ipv4: {enabled: true, dhcp: true}\n  \
                    ipv6: {enabled: true, dhcp: true, autoconf: true}\n";

fn known() -> Machine {
    Machine::with_card().file("proc/sys/kernel/hostname", "worker-0\n")
}

fn booted(document: &str, line: &str) -> Machine {
    let machine = known()
        .card("ens4", "52:54:00:00:00:02")
        .command_line(&format!("nmgen.timeout=0 {line}"))
        .host("worker-0", document);
    machine.boot().exits(0);
    machine
}

#[tests::case]
fn addresses_from_the_network_are_not_waited_for_for_ever() {
    for (others, line, expected) in [
        ("", "", "90"),
        ("- name: ens4\n", "", "90"),
        ("", "rd.net.timeout.dhcp=7", "7"),
        ("", "rd.net.timeout.dhcp=infinity rd.net.dhcp.retry=2", "2147483647"),
    ] {
        let others = if others.is_empty() { String::new() } else { format!("{others}{DYNAMIC}") };
        let machine = booted(&format!("interfaces:\n- name: ens3\n{BOTH}{others}"), line);
        let early = profile(&machine, "ens3");
        for (section, key) in
            [("ipv4", "dhcp-timeout"), ("ipv6", "dhcp-timeout"), ("ipv6", "ra-timeout")]
        {
            assert_eq!(get(&early, section, key), Some(expected), "{section} {key}");
        }
        assert_eq!(get(&early, "connection", "autoconnect-retries"), Some("1"));
        assert_eq!(get(&early, "ipv6", "method"), Some("auto"));
        // The running system's profile keeps nmstate's time limits.
        let staged = machine.read(&format!("{STAGED}/ens3.nmconnection"));
        assert!(staged.contains("\ndhcp-timeout=2147483647\n"), "{staged}");
        assert!(!staged.contains("autoconnect-priority"), "{staged}");
    }
}

#[tests::case]
fn beside_a_static_default_route_they_are_not_waited_for_at_all() {
    for dynamic in [DYNAMIC, BOTH] {
        let machine = booted(&format!("{STATIC}- name: ens4\n{dynamic}"), "");
        let early = profile(&machine, "ens4");
        assert_eq!(get(&early, "ipv4", "method"), Some("auto"));
        assert_eq!(get(&early, "ipv4", "may-fail"), Some("true"));
        assert_eq!(get(&early, "ipv6", "method"), Some("link-local"));
        assert_eq!(get(&early, "ipv6", "may-fail"), Some("true"));
    }
    // Otherwise the name servers of the IPv6 section would be lost: a short wait.
    let dns = "dns-resolver: {config: {server: ['2001:db8::53']}}\n";
    let machine = booted(&format!("{dns}{STATIC}- name: ens4\n{BOTH}"), "");
    let early = profile(&machine, "ens4");
    assert_eq!(get(&early, "ipv6", "method"), Some("auto"));
    assert_eq!(get(&early, "ipv6", "ra-timeout"), Some("10"));
    assert_eq!(get(&early, "ipv6", "may-fail"), Some("true"));
    // So would a static address.
    let address = "  ipv6: {enabled: true, address: [{ip: '2001:db8::10', prefix-length: 64}]}\n";
    let machine = booted(&format!("{STATIC}- name: ens4\n{DYNAMIC}{address}"), "");
    let early = profile(&machine, "ens4");
    assert_eq!(get(&early, "ipv6", "address0"), Some("2001:db8::10/64"), "{early:?}");
    assert_eq!(get(&early, "ipv4", "dhcp-timeout"), Some("10"));
}

/// The way out may come from the network alone: it is waited for.
#[tests::case]
fn beside_a_static_address_without_a_default_route_they_are_waited_for() {
    let near = STATIC.replace("0.0.0.0/0", "198.51.100.0/24");
    let beside = profile(&booted(&format!("{near}- name: ens4\n{DYNAMIC}"), ""), "ens4");
    // A route of one's own, beside the addresses of DHCP.
    let routes = "routes: {config: [{destination: 0.0.0.0/0, next-hop-address: 192.0.2.1, next-hop-interface: ens4}]}\n";
    let document = format!("{routes}interfaces:\n- name: ens4\n{DYNAMIC}");
    let own = profile(&booted(&document, ""), "ens4");
    assert!(
        get(&own, "ipv4", "route0").is_some_and(|route| route.starts_with("0.0.0.0/0,")),
        "{own:?}"
    );
    for early in [beside, own] {
        assert_eq!(get(&early, "ipv4", "dhcp-timeout"), Some("90"), "{early:?}");
        assert_ne!(get(&early, "ipv4", "may-fail"), Some("true"), "{early:?}");
    }
}

/// A route that other packets take, that discards them or is of the other family is no way out.
#[tests::case]
fn a_default_route_that_is_no_way_out_shortens_nothing() {
    let policy =
        STATIC.replace("next-hop-interface: ens3", "next-hop-interface: ens3, table-id: 200");
    let unreachable = STATIC.replace(
        "next-hop-address: 192.0.2.1, next-hop-interface: ens3",
        "route-type: unreachable, metric: 999999",
    );
    for fixed in [policy.as_str(), unreachable.as_str()] {
        let early = profile(&booted(&format!("{fixed}- name: ens4\n{BOTH}"), ""), "ens4");
        assert_eq!(get(&early, "ipv4", "dhcp-timeout"), Some("90"), "{fixed}");
        assert_eq!(get(&early, "ipv6", "method"), Some("auto"), "{fixed}");
    }
    let ipv6 = "  type: ethernet\n  ipv6: {enabled: true, dhcp: true, autoconf: true}\n";
    let early = profile(&booted(&format!("{STATIC}- name: ens4\n{ipv6}"), ""), "ens4");
    assert_eq!(get(&early, "ipv6", "ra-timeout"), Some("90"), "{early:?}");
}

/// Hardening is nobody's to undo, and without IPv6 in the kernel a link-local address never comes.
#[tests::case]
fn a_card_without_ipv6_has_none_in_the_initramfs_either() {
    let disabled = format!("{DYNAMIC}  ipv6: {{enabled: false}}\n");
    for (dynamic, line) in [(disabled.as_str(), ""), (BOTH, "ipv6.disable=1")] {
        let machine = booted(&format!("{STATIC}- name: ens4\n{dynamic}"), line);
        let early = profile(&machine, "ens4");
        assert_ne!(get(&early, "ipv6", "method"), Some("link-local"), "{early:?}");
        assert_eq!(get(&early, "ipv4", "dhcp-timeout"), Some("10"));
        assert_eq!(get(&early, "ipv4", "may-fail"), Some("true"));
    }
}

#[tests::case]
fn static_profiles_only_get_a_priority() {
    let machine = booted(STATIC, "");
    let staged = machine.read(&format!("{STAGED}/ens3.nmconnection"));
    let expected =
        staged.replace("autoconnect=true\n", "autoconnect=true\nautoconnect-priority=100\n");
    assert_eq!(machine.read(&format!("{EARLY}/ens3.nmconnection")), expected);
}

#[tests::case]
fn no_one_elses_profile_takes_our_cards() {
    let other = |name: &str, key: &str, value: &str| {
        let text = DEFAULT_PROFILE.replace("[ipv4]", &format!("{key}={value}\n\n[ipv4]"));
        (format!("{EARLY}/{name}.nmconnection"), text)
    };
    let mut machine = known().card("ens4", "52:54:00:00:00:02").host("worker-0", STATIC);
    for (path, text) in [
        other("ip-ens3", "interface-name", "ens3"),
        other("ip-ens9", "interface-name", "ens9"),
        other("ens3", "interface-name", "ens3"),
    ] {
        machine = machine.file(&path, &text);
    }
    // BOOTIF=: one of our cards, and another one.
    for (name, mac) in [("bootif", "52:54:00:00:00:01"), ("bootif2", "52:54:00:00:00:02")] {
        let text = format!("{DEFAULT_PROFILE}\n[ethernet]\nmac-address={mac}\n");
        machine = machine.file(&format!("{EARLY}/{name}.nmconnection"), &text);
    }
    // nmgen's profile under another name, as from `nmgen gc` through coreos-installer.
    let same = booted(STATIC, "").read(&format!("{STAGED}/ens3.nmconnection"));
    machine = machine.file(&format!("{EARLY}/same.nmconnection"), &same);
    machine.boot().exits(0);
    assert_eq!(machine.profiles(EARLY), ["bootif2", "ens3", "ip-ens9"]);
    assert_eq!(get(&profile(&machine, "ens3"), "ipv4", "method"), Some("manual"));
    assert_eq!(
        machine.read("run/NetworkManager/conf.d/20-nmgen.conf"),
        "# Written by nmgen boot, for the initramfs only.\n[.config]\nenable=env:initrd\n\n\
         [device-nmgen]\nmatch-device=except:interface-name:=ens3;except:interface-name:=ens9;\
         except:mac:52:54:00:00:00:02;\ncarrier-wait-timeout=0\n"
    );
}

/// The first step writes all or nothing: without it the second step has nothing to hand over.
#[tests::case]
fn what_cannot_be_written_leaves_nothing() {
    let machine =
        known().host("worker-0", STATIC).file("run/NetworkManager/conf.d", "no directory");
    let said = machine.boot().exits(1);
    assert!(said.kernel.contains("<3>nmgen: cannot "), "{said:?}");
    assert_eq!(said.kernel.lines().count(), 1, "{said:?}");
    assert!(machine.is_untouched());
    assert_eq!(machine.persist().console, "");
}

#[tests::case]
fn of_many_warnings_the_rest_is_counted() {
    let ports: Vec<String> = (0..25).map(|index| format!("{{name: d{index}}}")).collect();
    let bridge =
        format!("- {{name: br0, type: linux-bridge, bridge: {{port: [{}]}}}}\n", ports.join(", "));
    let machine = known().host("worker-0", &format!("{STATIC}{bridge}"));
    let said = machine.boot().exits(0);
    let mut warnings: Vec<&str> =
        said.kernel.lines().filter(|line| line.starts_with("<4>")).collect();
    assert!(warnings.remove(0).ends_with(" did not appear within 0 s; going on without them"));
    assert_eq!(warnings.len(), 21);
    assert!(warnings[20].starts_with("<4>nmgen: and "), "{warnings:?}");
    assert!(warnings[20].ends_with(" more, see `nmgen check`"), "{warnings:?}");
}

/// nm-initrd.service has this file as a condition.
#[tests::case]
fn the_initramfss_networkmanager_is_started() {
    let machine = booted(STATIC, "");
    assert!(machine.has("run/NetworkManager/initrd/neednet"));
    let machine = known();
    machine.boot().exits(0);
    assert!(!machine.has("run/NetworkManager/initrd/neednet"));
}

#[tests::case]
fn a_second_run_leaves_nothing_of_the_first() {
    let machine = known().host("worker-0", STATIC);
    machine.boot().exits(0);
    machine.write("etc/nmgen/worker-0.yml", "interfaces:\n- {name: dummy0, type: dummy}\n");
    machine.boot().exits(0);
    assert_eq!(machine.early(), ["dummy0"]);
    assert_eq!(machine.profiles(STAGED), ["dummy0"]);
}

#[tests::case]
fn a_document_that_asks_for_nothing_changes_nothing() {
    let machine = Machine::with_card().host("cluster", "description: nothing yet\n");
    let said = machine.boot().exits(0);
    let expected = "nmgen: /etc/nmgen/cluster.yml:1:1: the document configures nothing [empty-document]\n\
         nmgen: /etc/nmgen/cluster.yml configures no network (no host file matches)\n";
    assert_eq!(said.console, expected);
    assert!(machine.is_untouched());
}

#[tests::case]
fn networkmanager_reads_them() {
    let machine = booted(&format!("{STATIC}- name: ens4\n{BOTH}"), "");
    skip::unless_installed("nmcli", "network-manager");
    for (name, text) in machine.files(EARLY) {
        let mut nmcli = Command::new("nmcli");
        nmcli.args(["--offline", "connection", "modify", "connection.zone", "trusted"]);
        let output = program::with_input(&mut nmcli, &text).unwrap();
        let (stdout, stderr) = (output.out(), output.err());
        assert!(output.status.success() && stderr.is_empty(), "{name}: {stderr}");
        assert!(stdout.contains("autoconnect-priority=100\n"), "{name}: {stdout}");
        if name == "ens4.nmconnection" {
            assert!(stdout.contains("method=link-local\n"), "{stdout}");
        }
    }
}
