//! Documents that nmgen derives from a host's early one, and the network that a device has of them.

use std::{collections::BTreeMap, fs, io, process::Command};

use crate::{
    lab::{Inside, Result},
    program,
};

/// The profiles of the early network, by file.
///
/// # Errors
/// If nmgen refuses the document.
pub fn profiles(early: &str) -> io::Result<BTreeMap<String, String>> {
    generated(early, &["--to", "keyfiles"])
}

/// The document for the running node; `uplink` only where the default route does not tell it.
///
/// # Errors
/// If nmgen refuses the document.
pub fn document(early: &str, uplink: Option<&str>) -> io::Result<String> {
    let uplink = uplink.map(|name| format!("--uplink={name}"));
    with(early, uplink.as_deref())
}

/// The document whose uplink's cards are a bond of Open vSwitch.
///
/// # Errors
/// If nmgen refuses the document.
pub fn balance_slb(early: &str) -> io::Result<String> {
    with(early, Some("--balance-slb"))
}

fn with(early: &str, option: Option<&str>) -> io::Result<String> {
    let mut arguments = vec!["--br-ex", "--to", "hosts"];
    arguments.extend(option);
    let mut files = generated(early, &arguments)?;
    files.remove("cluster.yml").ok_or_else(|| io::Error::other("no document"))
}

/// The document for the datapath of containers, whose host's kernel may have none.
///
/// # Panics
/// If it has no bridge.
#[must_use]
pub fn in_userspace(document: &str) -> String {
    let bridge = "  type: ovs-bridge\n  state: up\n  bridge:\n";
    assert!(document.contains(bridge), "{document}");
    document.replace(bridge, &format!("{bridge}    options:\n      datapath: netdev\n"))
}

/// The files of `nmgen generate`, by name.
fn generated(early: &str, arguments: &[&str]) -> io::Result<BTreeMap<String, String>> {
    let place = tempfile::tempdir()?;
    let (input, directory) = (place.path().join("early.yml"), place.path().join("out"));
    fs::write(&input, early)?;
    let mut nmgen = Command::new(program::nmgen());
    nmgen.arg("generate").args(arguments).arg("-o").arg(&directory).arg(&input);
    let output = nmgen.output()?;
    if !output.status.success() {
        return Err(io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    let text = |entry: fs::DirEntry| -> io::Result<_> {
        let name = entry.file_name().to_string_lossy().into_owned();
        Ok((name, fs::read_to_string(entry.path())?))
    };
    fs::read_dir(directory)?.map(|entry| text(entry?)).collect()
}

/// The network of a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Network {
    /// Its MAC address and MTU.
    pub link: String,
    /// Its addresses.
    pub addresses: String,
    /// The node's name servers and search domains.
    pub dns: String,
    /// Its routes without the device's name, each with its metric.
    pub routes: BTreeMap<String, u32>,
    /// Routing rules.
    pub rules: String,
}

impl Network {
    /// The network that the device has now.
    ///
    /// # Errors
    /// If the node does not answer.
    pub fn of(inside: &Inside, device: &str) -> Result<Self> {
        Ok(Self::parse(&inside.sh(&reader(device))?))
    }

    fn parse(text: &str) -> Self {
        let mut parts = text.split("--\n");
        let mut part = || parts.next().unwrap_or_default().trim().to_owned();
        let (link, addresses, dns) = (part(), part(), part());
        let (routes, rules) = (part(), part());
        let route = |line: &str| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let (mut route, mut metric) = (Vec::new(), 0);
            for (index, word) in words.iter().enumerate() {
                match (*word, index.checked_sub(1).map(|before| words[before])) {
                    // Where a route comes from, and how long it lasts, is the owner's.
                    ("metric" | "proto" | "pref" | "expires" | "dev", _)
                    | (_, Some("proto" | "pref" | "expires" | "dev")) => {}
                    (word, Some("metric")) => metric = word.parse().unwrap_or_default(),
                    (word, _) => route.push(word),
                }
            }
            (route.join(" "), metric)
        };
        Self { link, addresses, dns, routes: routes.lines().map(route).collect(), rules }
    }

    /// The routes without metrics.
    pub fn destinations(&self) -> Vec<&str> {
        self.routes.keys().map(String::as_str).collect()
    }
}

/// The shell command that prints the network of a device for [`Network::parse`].
fn reader(device: &str) -> String {
    format!(
        "cat /sys/class/net/{device}/address /sys/class/net/{device}/mtu; echo --; \
         ip -oneline address show dev {device} scope global | awk '{{print $3, $4}}' | sort; echo --; \
         sed '/^#/d; s/%{device}$/%uplink/' /etc/resolv.conf || :; echo --; \
         for family in -4 -6; do ip $family route show table all type unicast dev {device}; done | sed /^fe80/d; echo --; \
         ip -4 rule show; ip -6 rule show"
    )
}

/// The row of the route to a static address's own network in the table of `nmgen/doc/conversions.md`.
pub const OWN_NETWORK: &str = "metric of the route to a static address's own network";
/// The row of the other routes.
pub const STATIC_ROUTE: &str = "metric of a static route without one";

/// The metrics in a row of the table: by the derived document, and by the automatic bridge.
///
/// # Panics
/// If there is no such row.
#[must_use]
pub fn metrics(row: &str) -> (u32, u32) {
    let text = include_str!("../../nmgen/doc/conversions.md");
    let cells = text.lines().find_map(|line| line.strip_prefix("| ")?.strip_prefix(row));
    let mut numbers = cells.expect("the table of differences").split(" | ").skip(1).map(|cell| {
        let digits = cell.chars().skip_while(|character| !character.is_ascii_digit());
        let number: String = digits.take_while(char::is_ascii_digit).collect();
        number.parse().expect("a metric")
    });
    let mut next = || numbers.next().expect("a metric");
    (next(), next())
}
