//! The rule of boot.md, on random machines: the running system never has less network than without nmgen, but for the
//! document's own components, and a card that is left without a profile is named in a warning.
//!
//! `SEED` repeats a machine, `TREES` asks for more of them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
#![allow(clippy::print_stdout, reason = "the seed repeats a run")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::SystemTime;

use nmgen_core::profile::Keyfile;

use crate::kernel_log::Log;
use crate::root::Paths;

const TREES: u64 = 2000;
const CARDS: u64 = 4;
const RUN: &str = "run/NetworkManager/system-connections";
const ETC: &str = "sysroot/etc/NetworkManager/system-connections";
const IFCFG: &str = "sysroot/etc/sysconfig/network-scripts";
const ORIGIN: &str = "[user]\norg.freedesktop.NetworkManager.origin=nm-initrd-generator\n";

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }

    /// True once in so many times.
    fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }
}

type Files = BTreeMap<String, String>;

fn files(directory: &Path) -> Files {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .map(|entry| {
            (entry.file_name().into_string().unwrap(), fs::read_to_string(entry.path()).unwrap())
        })
        .collect()
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
}

fn card(number: u64) -> String {
    format!("eno{number}")
}

fn mac(number: u64) -> String {
    format!("52:54:00:00:00:0{number}")
}

/// A machine before the first step.
struct Machine {
    cards: u64,
    line: String,
    document: String,
    initramfs: Files,
    own: Files,
    ifcfg: Files,
    has_teardown: bool,
}

impl Machine {
    fn random(random: &mut Random) -> Self {
        let cards = 1 + random.below(CARDS);
        let mut line = "nmgen.timeout=0".to_owned();
        for (times, argument) in [
            (2, "rd.neednet=1"),
            (2, "ignition.firstboot"),
            (8, "netroot=iscsi:192.0.2.1::::iqn.2024-01.org.example:disk"),
            (6, "nmgen.persist=1"),
            (6, "nmgen.persist=0"),
            (6, "nmgen.identifier=mac-address"),
            (6, "nmgen.identifier=name"),
            (8, "coreos.no_persist_ip"),
        ] {
            if random.once_in(times) {
                let _ = write!(line, " {argument}");
            }
        }
        let mut initramfs = Files::new();
        for number in 0..random.below(4) {
            profile(random, cards, number, Whose::Generator, &mut initramfs);
        }
        if random.once_in(3) {
            profile(random, cards, 7, Whose::Person, &mut initramfs);
        }
        let mut own = Files::new();
        if random.once_in(4) {
            profile(random, cards, 8, Whose::Person, &mut own);
        }
        let ifcfg = match random.below(8) {
            0 => Files::from([(format!("ifcfg-{}", card(1)), "BOOTPROTO=dhcp\n".to_owned())]),
            _ => Files::new(),
        };
        let document = document(random, cards);
        let has_teardown = random.once_in(2);
        Self { cards, line, document, initramfs, own, ifcfg, has_teardown }
    }

    fn write(&self, root: &Path) {
        for (path, text) in [
            ("dev/kmsg", ""),
            ("etc/initrd-release", ""),
            ("proc/cmdline", self.line.as_str()),
            ("etc/nmgen/worker-0.yml", self.document.as_str()),
            ("proc/sys/kernel/hostname", "worker-0"),
            ("sysroot/etc/machine-id", ""),
        ] {
            write(&root.join(path), text);
        }
        for number in 1..=self.cards {
            let device = root.join("sys/class/net").join(card(number));
            write(&device.join("device/uevent"), "");
            write(&device.join("address"), &mac(number));
        }
        for (directory, files) in [(RUN, &self.initramfs), (ETC, &self.own), (IFCFG, &self.ifcfg)] {
            files.iter().for_each(|(name, text)| write(&root.join(directory).join(name), text));
        }
        if self.has_teardown {
            write(&root.join("usr/sbin/coreos-teardown-initramfs"), "");
        }
    }

    /// coreos-teardown-initramfs at the first boot; elsewhere both directories are the running system's network.
    fn pivot(&self, mut run: Files, mut etc: Files) -> (Files, Files) {
        if !self.has_teardown || !self.line.contains("ignition.firstboot") {
            return (run, etc);
        }
        let is_copied = etc.is_empty()
            && self.ifcfg.is_empty()
            && !self.line.contains("coreos.no_persist_ip")
            && !run.values().all(|text| is_plain_default(text));
        if is_copied {
            etc.append(&mut run);
        }
        (Files::new(), etc)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Whose {
    Generator,
    Person,
}

/// Adds a profile, or a bond with its ports.
fn profile(random: &mut Random, cards: u64, number: u64, whose: Whose, files: &mut Files) {
    let taken = card(1 + random.below(cards));
    let other = card(1 + random.below(cards));
    let head = |name: &str, kind: &str| {
        // The generator's uuids are random at each boot.
        format!("[connection]\nid={name}\nuuid={name}-{number}\ntype={kind}\n")
    };
    let end = if whose == Whose::Generator { ORIGIN } else { "" };
    let priority = if whose == Whose::Generator { "autoconnect-priority=-100\n" } else { "" };
    let mut add = |name: &str, text: String| {
        let text = text.replacen("type=", &format!("{priority}type="), 1);
        files.insert(format!("{name}.nmconnection"), format!("{text}{end}"));
    };
    let by_name = |name: &str| format!("interface-name={name}\n[ipv4]\nmethod=auto\n");
    match random.below(6) {
        0 if whose == Whose::Generator => {
            let servers = if random.once_in(2) { "dns=192.0.2.53;\n" } else { "" };
            let text =
                format!("multi-connect=3\n[ipv4]\nmethod=auto\n{servers}[ipv6]\nmethod=auto\n");
            add("default_connection", head("default", "ethernet") + &text);
        }
        1 => {
            let number = taken.trim_start_matches("eno").parse().unwrap();
            let name = format!("by-address-{number}");
            let text = format!("[ethernet]\nmac-address={}\n[ipv4]\nmethod=auto\n", mac(number));
            add(&name, head(&name, "ethernet") + &text);
        }
        2 => {
            let bond = format!("bond{number}");
            add(&bond, head(&bond, "bond") + &by_name(&bond));
            for port in BTreeSet::from([taken, other]) {
                let text = format!("interface-name={port}\nmaster={bond}\nslave-type=bond\n");
                add(&port, head(&port, "ethernet") + &text);
            }
        }
        3 => {
            let vlan = format!("{taken}.{}", 5 + number);
            let text = format!("interface-name={vlan}\n[vlan]\nid=5\nparent={taken}\n");
            add(&vlan, head(&vlan, "vlan") + &text);
        }
        _ => add(&taken, head(&taken, "ethernet") + &by_name(&taken)),
    }
}

/// A document for some of the cards: one, one with a VLAN, or a bond.
fn document(random: &mut Random, cards: u64) -> String {
    let first = 1 + random.below(cards);
    let second = 1 + random.below(cards);
    let ip = match random.below(3) {
        0 => "ipv4: {enabled: true, dhcp: true}",
        1 => "ipv4: {enabled: true, address: [{ip: 192.0.2.10, prefix-length: 24}]}",
        _ => "ipv4: {enabled: false}",
    };
    let has_address = random.once_in(2);
    let interface = |name: &str, number: u64, ip: &str| {
        let mac =
            if has_address { format!(" mac-address: '{}',", mac(number)) } else { String::new() };
        format!("- {{name: {name}, type: ethernet,{mac} {ip}}}\n")
    };
    let none = "ipv4: {enabled: false}";
    let (text, top) = match random.below(3) {
        0 => (interface(&card(first), first, ip), card(first)),
        1 => {
            let base = card(first);
            let vlan = format!(
                "- {{name: {base}.100, type: vlan, vlan: {{base-iface: {base}, id: 100}}, {ip}}}\n"
            );
            (interface(&base, first, none) + &vlan, format!("{base}.100"))
        }
        _ => {
            let ports = BTreeSet::from([first, second]);
            let names: Vec<String> = ports.iter().map(|port| card(*port)).collect();
            let all: String =
                ports.iter().map(|port| interface(&card(*port), *port, none)).collect();
            let bond = format!(
                "- {{name: bond0, type: bond, link-aggregation: {{mode: active-backup, port: [{}]}}, {ip}}}\n",
                names.join(", ")
            );
            (all + &bond, "bond0".to_owned())
        }
    };
    let route = if ip.contains("192.0.2.10") && random.once_in(2) {
        format!(
            "routes: {{config: [{{destination: 0.0.0.0/0, next-hop-address: 192.0.2.1, next-hop-interface: {top}}}]}}\n"
        )
    } else {
        String::new()
    };
    format!("{route}interfaces:\n{text}")
}

fn is_generated(text: &str) -> bool {
    text.contains(ORIGIN)
}

fn is_default(text: &str) -> bool {
    text.contains("multi-connect=3\n")
}

fn is_plain_default(text: &str) -> bool {
    is_default(text) && !text.contains("dns=")
}

/// The names that a profile stands for or builds on: its interface, its card, its base and its controller.
fn names(text: &str) -> BTreeSet<String> {
    let keyfile = Keyfile::parse_leniently(text);
    let get = |section: &str, key: &str| keyfile.get(section, key).map(str::to_owned);
    let by_mac =
        (1..=CARDS).filter(|number| get("ethernet", "mac-address") == Some(mac(*number))).map(card);
    let keys = [("connection", "interface-name"), ("connection", "master"), ("vlan", "parent")];
    let named = keys.iter().filter_map(|(section, key)| get(section, key));
    named.chain(get("connection", "controller")).chain(by_mac).collect()
}

/// All names that are connected with these, over profiles.
fn connected(mut found: BTreeSet<String>, profiles: &Files) -> BTreeSet<String> {
    loop {
        let before = found.len();
        for text in profiles.values() {
            let names = names(text);
            if !names.is_disjoint(&found) {
                found.extend(names);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

/// The cards that the profiles are for; with the default one all of them.
fn covered(profiles: &Files) -> BTreeSet<String> {
    if profiles.values().any(|text| is_default(text)) {
        return (1..=CARDS).map(card).collect();
    }
    let is_card = |name: &String| (1..=CARDS).any(|number| card(number) == *name);
    let own = |text: &String| {
        let parent = Keyfile::parse_leniently(text).get("vlan", "parent").map(str::to_owned);
        names(text).into_iter().filter(move |name| Some(name) != parent.as_ref())
    };
    profiles.values().flat_map(own).filter(is_card).collect()
}

/// The rule's breach on one machine.
fn breach(machine: &Machine) -> Option<String> {
    let shared = Path::new("/dev/shm");
    let root = if shared.is_dir() { tempfile::tempdir_in(shared) } else { tempfile::tempdir() };
    let root = root.unwrap();
    let at = |path: &str| root.path().join(path);
    machine.write(root.path());
    let paths = Paths::new(root.path());
    let log = Log::without_console(&paths);
    if let Err(fault) = crate::prepare(&paths, &log) {
        return Some(format!("the first step: {fault:?}"));
    }
    let early = files(&at(RUN));
    for (name, text) in &machine.initramfs {
        let is_kept =
            !is_generated(text) || (machine.line.contains("netroot=") && !names(text).is_empty());
        if is_kept && early.get(name) != Some(text) {
            return Some(format!("the initramfs lost {name}"));
        }
    }
    if let Err(fault) = crate::persist::persist(&paths, &log) {
        return Some(format!("the second step: {fault:?}"));
    }
    let told = fs::read_to_string(at("dev/kmsg")).unwrap();
    let (run, etc) = (files(&at(RUN)), files(&at(ETC)));
    for (name, text) in &machine.own {
        if etc.get(name) != Some(text) {
            return Some(format!("the running system's own {name} is another"));
        }
    }
    let has_own = !machine.own.is_empty() || !machine.ifcfg.is_empty();
    if has_own && !machine.line.contains("nmgen.persist=1") && etc.len() > machine.own.len() {
        return Some("a system with its own network got a second one".to_owned());
    }
    let is_ours = |(name, text): &(&String, &String)| {
        let is = |files: &Files| files.get(*name) == Some(text);
        !is(&machine.initramfs) && !is(&machine.own)
    };
    let given: Files =
        etc.iter().filter(is_ours).map(|(name, text)| (name.clone(), text.clone())).collect();
    let ours = given.values().flat_map(|text| names(text)).collect();
    let (before_run, before_etc) = machine.pivot(machine.initramfs.clone(), machine.own.clone());
    let (after_run, after_etc) = machine.pivot(run, etc);
    let uuid =
        |text: &String| Keyfile::parse_leniently(text).get("connection", "uuid").map(str::to_owned);
    if after_run.values().any(|text| given.values().any(|ours| uuid(ours) == uuid(text))) {
        return Some(
            "a profile is in /etc and in /run, where NetworkManager prefers it".to_owned(),
        );
    }
    let before: Files = before_run.into_iter().chain(before_etc).collect();
    let after: Files = after_run.into_iter().chain(after_etc).collect();
    let replaced = connected(ours, &machine.initramfs);
    for (name, text) in &before {
        let is_there = after.get(name) == Some(text);
        let is_excused =
            is_plain_default(text) || (is_generated(text) && !names(text).is_disjoint(&replaced));
        if !is_there && !is_excused {
            return Some(format!("the running system lost {name}"));
        }
    }
    let named: Files = before.into_iter().filter(|(_, text)| !is_plain_default(text)).collect();
    let named: BTreeSet<String> =
        covered(&named).into_iter().filter(|name| *name <= card(machine.cards)).collect();
    let (after, warnings) = (covered(&after), told.lines().filter(|line| line.starts_with("<4>")));
    let warnings: Vec<&str> = warnings.collect();
    for card in named.difference(&after) {
        if !warnings.iter().any(|line| line.contains(card)) {
            return Some(format!("{card} has no profile, and no warning names it"));
        }
    }
    None
}

#[test]
fn the_running_system_never_has_less_network_than_without_nmgen() {
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse::<u64>().ok());
    let (seed, trees) = match number("SEED") {
        Some(seed) => (seed, number("TREES").unwrap_or(1)),
        None => {
            let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
            (now.as_nanos() as u64 >> 8, number("TREES").unwrap_or(TREES))
        }
    };
    println!("SEED={seed} TREES={trees}");
    let one = |number: u64| {
        let seed = seed.wrapping_add(number);
        let machine = Machine::random(&mut Random(seed));
        let breach = breach(&machine)?;
        Some(format!(
            "SEED={seed}: {breach}\n{}\n{}\nthe initramfs: {:#?}\nits own: {:#?} {:?}, teardown: {}",
            machine.line,
            machine.document,
            machine.initramfs,
            machine.own,
            machine.ifcfg,
            machine.has_teardown
        ))
    };
    let half = trees / 2;
    let breach = std::thread::scope(|scope| {
        let other = scope.spawn(|| (half..trees).find_map(one));
        (0..half).find_map(one).or_else(|| other.join().unwrap())
    });
    assert!(breach.is_none(), "{}", breach.unwrap_or_default());
}
