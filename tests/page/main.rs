//! The pages of `nmgen show` and `nmgen diff` in a real browser. `make check-page` runs it, `make check-all` does not.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod browser;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;
use tests::program;

use self::browser::Browser;

/// Two hosts without a fault; one with the address of one of them and another error; one with hostile names.
const HOSTS: [(&str, &str); 4] = [
    (
        "worker-0.yml",
        "interfaces:
- {name: eno1, type: ethernet, state: up}
- {name: eno2, type: ethernet, state: up}
- {name: bond0, type: bond, state: up, link-aggregation: {mode: active-backup, port: [eno1, eno2]}}
- {name: bond0.100, type: vlan, state: up, vlan: {base-iface: bond0, id: 100}, \
   ipv4: {enabled: true, address: [{ip: 192.0.2.10, prefix-length: 24}]}}
routes: {config: [{destination: 0.0.0.0/0, next-hop-address: 192.0.2.1, next-hop-interface: bond0.100}]}
dns-resolver: {config: {server: [192.0.2.53]}}
",
    ),
    (
        "worker-1.yml",
        "interfaces:
- {name: eno1, type: ethernet, state: up, ipv4: {enabled: true, address: [{ip: 192.0.2.10, prefix-length: 24}]}}
- {name: eno1.5000, type: vlan, state: up, vlan: {base-iface: eno1, id: 5000}}
routes: {config: [{destination: 0.0.0.0/0, next-hop-address: 192.0.2.1, next-hop-interface: eno1}]}
dns-resolver: {config: {server: [192.0.2.53]}}
",
    ),
    (
        "worker-2.yml",
        "interfaces:
- {name: \"<script>document.title='taken'</script>\", type: ethernet, state: up}
- {name: \"\\\"'><img src=http://192.0.2.1/x>\", type: ethernet, state: up}
",
    ),
    ("worker-3.yml", "interfaces:\n- {name: ens3, type: ethernet, state: up, ipv4: {enabled: true, dhcp: true}}\n"),
];

/// A directory with the hosts, and what nmgen makes of it.
struct Fleet(tempfile::TempDir);

impl Fleet {
    fn new() -> Self {
        let place = tempfile::tempdir().unwrap();
        for (directory, change) in [("hosts", ("", "")), ("hosts.new", ("id: 100", "id: 101"))] {
            let directory = place.path().join(directory);
            fs::create_dir(&directory).unwrap();
            for (name, text) in HOSTS {
                fs::write(directory.join(name), text.replace(change.0, change.1)).unwrap();
            }
        }
        fs::remove_file(place.path().join("hosts.new/worker-2.yml")).unwrap();
        Self(place)
    }

    fn page(&self, arguments: &[&str]) -> PathBuf {
        let mut command = Command::new(program::nmgen());
        let output = command.args(arguments).current_dir(self.0.path()).output().unwrap();
        let path = self.0.path().join(format!("{}.html", arguments[0]));
        fs::write(&path, output.stdout).unwrap();
        path
    }

    fn fleet(&self) -> PathBuf {
        self.page(&["show", "--format", "html", "hosts"])
    }
}

/// The names of the hosts that the reader sees.
const SEEN: &str = "[...document.querySelectorAll('details.host')].filter((it) => it.checkVisibility()) \
    .map((it) => it.querySelector('b').textContent)";

/// Chooses an entry of a list.
fn choose(browser: &mut Browser, list: &str, value: &str) {
    browser.value(&format!(
        "(() => {{ const list = document.getElementById({}); list.value = {}; \
         list.dispatchEvent(new Event('change')); }})()",
        json!(list),
        json!(value)
    ));
}

/// Only the page itself was asked for, and nothing on it was refused.
fn asks_for_nothing(browser: &mut Browser, page: &Path) {
    let (requests, complaints) = browser.requests_and_complaints();
    assert_eq!(requests, [format!("file://{}", page.display())]);
    assert!(complaints.is_empty(), "{complaints:#?}");
}

#[tests::case]
fn the_search_leaves_the_hosts_with_every_word_and_a_host_opens_with_picture_and_findings() {
    let (fleet, mut browser) = (Fleet::new(), Browser::start());
    let page = fleet.fleet();
    browser.open(&page);
    assert_eq!(browser.value(SEEN), json!(["worker-0", "worker-1", "worker-2", "worker-3"]));
    // By the keyboard alone.
    browser.press("/");
    browser.write("192.0.2.10 VLAN-ID-RANGE");
    assert_eq!(browser.value(SEEN), json!(["worker-1"]));
    assert_eq!(browser.value("document.getElementById('count').textContent"), "1 of 4 hosts");
    browser.press("Escape");
    assert_eq!(browser.value(SEEN).as_array().unwrap().len(), 4);
    browser.write("bond0.100");
    assert_eq!(browser.value(SEEN), json!(["worker-0"]));
    browser.press("Escape");
    // A finding between two hosts is at both.
    choose(&mut browser, "state", "error warning");
    assert_eq!(browser.value(SEEN), json!(["worker-0", "worker-1", "worker-2"]));
    // Its interface is marked in the pictures of both.
    let faulty = "[...document.querySelectorAll('main svg .error .name')].map((it) => it.textContent.trim())";
    let faulty = browser.value(&format!("{faulty}.slice(0, 3)"));
    assert_eq!(faulty, json!(["bond0.100", "eno1", "eno1.5000"]));
    choose(&mut browser, "state", "");

    browser.value("document.querySelectorAll('details.host')[1].id = 'second'; 0");
    let host = "#second";
    let seen = |selector: &str| {
        format!(
            "[...document.querySelectorAll({})].filter((it) => it.checkVisibility()).map((it) => it.textContent.trim())",
            json!(format!("{host} {selector}"))
        )
    };
    // A page of few hosts opens with all of them.
    browser.click("#close");
    assert_eq!(browser.value(&seen("svg .name")), json!([]));
    browser.click(&format!("{host} summary"));
    assert_eq!(browser.value(&seen("svg .name")), json!(["eno1", "eno1.5000"]));
    let findings = browser.value(&seen("li.error p")).to_string();
    assert!(findings.contains("vlan-id-range"), "{findings}");
    browser.press("Enter");
    assert_eq!(browser.value(&seen("svg .name")), json!([]), "Enter closes the host in focus");
    asks_for_nothing(&mut browser, &page);
}

#[tests::case]
fn the_text_of_strangers_runs_nothing_and_asks_for_nothing() {
    let (fleet, mut browser) = (Fleet::new(), Browser::start());
    for page in [fleet.fleet(), fleet.page(&["diff", "--format", "html", "hosts", "hosts.new"])] {
        browser.open(&page);
        browser.click("#open");
        assert_eq!(browser.value("document.images.length"), 0);
        assert_eq!(browser.value("document.scripts.length"), 1);
        assert_ne!(browser.value("document.title"), "taken");
        asks_for_nothing(&mut browser, &page);
        // The page's own rule: what got into it nevertheless would not run.
        browser.value(
            "const image = document.createElement('img'); image.src = 'http://192.0.2.1/x'; document.body.append(image)",
        );
        let (_, complaints) = browser.requests_and_complaints();
        assert!(
            complaints
                .iter()
                .any(|complaint| complaint.to_string().contains("Content Security Policy"))
        );
    }
}

/// A colour as the browser has it, and its lightness from 0 to 255.
fn lightness(browser: &mut Browser, selector: &str, property: &str) -> f64 {
    let colour = browser.value(&format!(
        "getComputedStyle(document.querySelector({})).{property}",
        json!(selector)
    ));
    let colour = colour.as_str().unwrap().to_owned();
    let numbers = colour.split(|c: char| !c.is_ascii_digit()).filter(|number| !number.is_empty());
    numbers.take(3).map(|number| number.parse::<f64>().unwrap()).sum::<f64>() / 3.0
}

#[tests::case]
fn light_and_dark_readers_see_text_that_differs_from_what_is_behind_it() {
    let (fleet, mut browser) = (Fleet::new(), Browser::start());
    browser.open(&fleet.fleet());
    browser.click("#open");
    let mut screens = Vec::new();
    for (scheme, is_light) in [("light", true), ("dark", false)] {
        browser.prefer(scheme);
        for (behind, property, text, colour) in [
            ("body", "backgroundColor", "h1", "color"),
            ("body", "backgroundColor", ".findings p", "color"),
            ("svg .page", "fill", "svg .title", "fill"),
            ("svg .brick", "fill", "svg .name", "fill"),
            ("svg .details", "fill", "svg .detail", "fill"),
        ] {
            let (behind, text) =
                (lightness(&mut browser, behind, property), lightness(&mut browser, text, colour));
            assert_eq!(behind > text, is_light, "{scheme} {behind} {text}");
            assert!((behind - text).abs() > 90.0, "{scheme} {behind} {text}");
        }
        screens.push(browser.screenshot());
    }
    assert_ne!(screens[0], screens[1]);
}

#[tests::case]
fn a_change_shows_both_states_side_by_side() {
    let (fleet, mut browser) = (Fleet::new(), Browser::start());
    let page = fleet.page(&["diff", "--format", "html", "hosts", "hosts.new"]);
    browser.open(&page);
    assert_eq!(browser.value(SEEN), json!(["worker-0", "worker-2"]));
    let stages = "[...document.querySelectorAll('svg .stage')].filter((it) => it.checkVisibility()) \
        .map((it) => [it.textContent.trim(), it.getBoundingClientRect().y])";
    let stages = browser.value(stages);
    assert_eq!(stages[0][0], "before");
    assert_eq!(stages[1][0], "after");
    assert_eq!(stages[0][1], stages[1][1]);
    let changed =
        browser.value("document.querySelector('main svg .changed .name').textContent.trim()");
    assert_eq!(changed, "bond0.100");
    asks_for_nothing(&mut browser, &page);
}

#[tests::case]
fn without_scripts_every_host_can_be_read() {
    let (fleet, mut browser) = (Fleet::new(), Browser::start());
    browser.disable_scripts();
    browser.open(&fleet.fleet());
    assert_eq!(browser.value(SEEN), json!(["worker-0", "worker-1", "worker-2", "worker-3"]));
    assert_eq!(browser.value("document.getElementById('search').checkVisibility()"), false);
    let is_seen = "document.querySelector('main svg .name').checkVisibility()";
    assert_eq!(browser.value(is_seen), true, "a page of few hosts opens with all of them");
    for is_open in [false, true] {
        browser.click("details.host summary");
        assert_eq!(browser.value(is_seen), is_open);
    }
}

/// An install-config with a role of three and a role of `workers`, which differ in addresses only; two of the latter share one, and
/// one has a faulty VLAN.
fn cluster(workers: usize) -> String {
    let mut text = "apiVersion: v1beta1\nkind: AgentConfig\nmetadata: {name: edge}\nrendezvousIP: 10.0.0.10\nhosts:\n".to_owned();
    for number in 0..3 + workers {
        let role = if number < 3 { "master" } else { "worker" };
        let address = if number == 4 { 3 } else { number };
        let id = if number == 5 { 5000 } else { 100 };
        text += &format!(
            "- hostname: {role}-{number}
  role: {role}
  interfaces: [{{name: eno1, macAddress: '52:54:00:00:00:{number:02x}'}}]
  networkConfig:
    interfaces:
    - {{name: eno1, type: ethernet, state: up, mtu: 9000, mac-address: '52:54:00:00:00:{number:02x}'}}
    - name: eno1.100
      type: vlan
      state: up
      vlan: {{base-iface: eno1, id: {id}}}
      ipv4: {{enabled: true, address: [{{ip: 10.0.{address}.10, prefix-length: 24}}]}}
    dns-resolver: {{config: {{server: [192.0.2.53]}}}}
    routes: {{config: [{{destination: 0.0.0.0/0, next-hop-address: 10.0.{address}.1, next-hop-interface: eno1.100}}]}}
"
        );
    }
    text
}

#[tests::case]
fn equal_hosts_are_one_entry_whose_rows_are_filtered_and_lead_to_it() {
    let (fleet, mut browser) = (Fleet::new(), Browser::start());
    fs::write(fleet.0.path().join("agent-config.yaml"), cluster(20)).unwrap();
    let page = fleet.page(&["show", "--format", "html", "--br-ex", "agent-config.yaml"]);
    browser.open(&page);
    let all = json!([
        "master-0 and 2 others",
        "worker-3 and 1 other",
        "worker-5",
        "worker-6 and 16 others"
    ]);
    assert_eq!(browser.value(SEEN), all);
    let rows = "[...document.querySelectorAll('tbody tr')].filter((it) => it.checkVisibility()) \
        .map((it) => [...it.cells].map((cell) => cell.textContent))";
    let row = |browser: &mut Browser, at: usize| browser.value(rows)[at].clone();
    assert_eq!(
        row(&mut browser, 0),
        json!([
            "master-0",
            "master",
            "10.0.0.10/24",
            "eno1",
            "",
            "100",
            "9000",
            "no findings",
            "agent-config.yaml"
        ])
    );
    choose(&mut browser, "role", "master");
    assert_eq!(browser.value(SEEN), json!(["master-0 and 2 others"]));
    choose(&mut browser, "role", "");
    choose(&mut browser, "state", "error");
    assert_eq!(browser.value(SEEN), json!(["worker-3 and 1 other", "worker-5"]));
    choose(&mut browser, "state", "");
    // Each host is found by its own address.
    browser.press("/");
    browser.write("10.0.20.10");
    assert_eq!(browser.value(SEEN), json!(["worker-6 and 16 others"]));
    assert_eq!(browser.value("document.getElementById('count').textContent"), "1 of 23 hosts");
    browser.click("#close");
    browser.click("tbody tr:not([hidden]) button");
    assert_eq!(browser.value("document.querySelector('details.host:not([hidden])').open"), true);
    browser.press("Escape");
    // The picture marks the interface of a finding.
    browser.click("#open");
    let faulty = "[...document.querySelectorAll('main svg .error .name')].map((it) => it.closest('details').querySelector('b') \
        .textContent.trim() + ' ' + it.textContent.trim())";
    let faulty = browser.value(faulty);
    for expected in ["worker-3 and 1 other eno1.100", "worker-5 eno1.100"] {
        assert!(faulty.as_array().unwrap().iter().any(|name| name == expected), "{faulty}");
    }
    // On a phone the stages are one below the other.
    let stages = "[...document.querySelectorAll('details.host .picture')][0].querySelectorAll('svg').values() \
        .map((it) => it.getBoundingClientRect()).map((it) => [it.x, it.y]).toArray()";
    let beside = browser.value(stages);
    assert_eq!(beside[0][1], beside[1][1], "{beside}");
    browser.resize(390, 844);
    let stacked = browser.value(stages);
    assert_eq!(stacked[0][0], stacked[1][0], "{stacked}");
    assert!(stacked[0][1].as_f64() < stacked[1][1].as_f64(), "{stacked}");
    assert_eq!(browser.value("document.documentElement.scrollWidth <= 390"), true);
    asks_for_nothing(&mut browser, &page);
}

fn main() -> std::process::ExitCode {
    tests::suite::run()
}
