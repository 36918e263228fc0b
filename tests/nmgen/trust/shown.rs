//! Text of others controls no reader: neither a terminal, nor a console, a log, a program that reads JSON, or a browser.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStringExt as _;
use std::path::Path;

use proptest::prelude::*;
use proptest::sample::select;
use tests::machine::Machine;
use tests::program::Exits as _;
use tests::tree;

use super::{run, said, shown_by_a_boot};
use crate::property::runner;

/// Where an output is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reader {
    /// A person.
    Person,
    /// A program, which reads one JSON value.
    Json,
    /// A person, who gets the document itself.
    Document,
    /// A runner of GitHub's, for which each line that begins with `::` is a command.
    Runner,
    /// Another program, which gets the document in its own form: only the messages are shown.
    Consumer,
}

use Reader::{Consumer, Document, Json, Person, Runner};

/// Each sink of nmgen that shows a document or its name: the source is the last argument.
const SINKS: &[(Reader, &[&str])] = &[
    (Person, &["check"]),
    (Json, &["check", "--format", "json"]),
    (Json, &["check", "--format", "sarif"]),
    (Runner, &["check", "--format", "github"]),
    (Person, &["check", "--format", "short"]),
    (Person, &["check", "--verbose"]),
    (Person, &["show"]),
    (Json, &["show", "--format", "json"]),
    (Person, &["show", "--format", "svg"]),
    (Person, &["show", "--format", "html"]),
    (Person, &["show", "--br-ex"]),
    (Person, &["diff", "none.yml"]),
    (Json, &["diff", "--format", "json", "none.yml"]),
    (Person, &["diff", "--format", "html", "none.yml"]),
    (Consumer, &["gc"]),
    (Consumer, &["generate", "--to", "keyfiles", "-o", "out"]),
    (Consumer, &["generate", "--to", "hosts", "-o", "out"]),
    (Consumer, &["generate", "--to", "machine-config", "--role", "worker"]),
    (Consumer, &["generate", "--to", "nodepool-config", "--role", "worker"]),
    (Consumer, &["generate", "--to", "policy"]),
    (Consumer, &["generate", "--to", "bmh-secret"]),
    (Consumer, &["generate", "--to", "nmstateconfig"]),
    (Consumer, &["generate", "--to", "initrd"]),
    (Json, &["generate", "--to", "ignition"]),
    (Person, &["generate", "--to", "kargs"]),
    (Document, &["nmstatectl", "validate"]),
    (Consumer, &["nmstatectl", "gc"]),
];

/// The agent's, for a document outside its places.
const OF_THE_AGENT: &[(Reader, &[&str])] = &[
    (Person, &["dayone", "check", "--document"]),
    (Json, &["dayone", "check", "--format", "json", "--document"]),
];

/// The agent's, for the root directory that follows.
const OF_A_NODE: &[(Reader, &[&str])] = &[
    (Person, &["dayone", "check", "--root"]),
    (Json, &["dayone", "check", "--format", "json", "--root"]),
    (Person, &["dayone", "status", "--root"]),
    (Json, &["dayone", "status", "--json", "--root"]),
    (Person, &["dayone", "health", "--root"]),
];

/// Characters of each kind that controls what shows it, as a document's text and as a file's name.
const CONTROLS: &[char] = &[
    '\u{1}', '\u{7}', '\u{8}', '\r', '\u{1b}', '\u{7f}', '\u{85}', '\u{90}', '\u{9b}', '\u{9d}',
    '\u{61c}', '\u{200e}', '\u{200f}', '\u{2028}', '\u{2029}', '\u{202a}', '\u{202e}', '\u{2066}',
    '\u{2069}',
];

/// `TEXT` is in each place of a document that an output may show.
const SHOWN: &[&str] = &[
    "interfaces: [{name: TEXT, type: ethernet}]",
    "interfaces: [{name: eth0, type: TEXT}]",
    "interfaces: [{name: eth0, TEXT: 1}]",
    "TEXT: 1",
    "interfaces: [{name: eth0, state: TEXT}]",
    "interfaces: [{name: eth0, mac-address: TEXT, mtu: TEXT}]",
    "interfaces: [{name: eth0, profile-name: TEXT, description: TEXT}]",
    "interfaces: [{name: eth0, alt-names: [{name: TEXT}]}]",
    "interfaces: [{name: eth0, ipv4: {enabled: true, dhcp: false, address: [{ip: TEXT, prefix-length: 24}]}}]",
    "interfaces: [{name: b0, type: bond, link-aggregation: {mode: TEXT, port: [TEXT]}}]",
    "interfaces: [{name: b0, type: bond, link-aggregation: {mode: active-backup, port: [TEXT]}}]",
    "interfaces: [{name: v0, type: vlan, vlan: {id: 5, base-iface: TEXT}}]",
    "interfaces: [{name: v0, type: vlan, vlan: {id: TEXT, base-iface: eth0}}]",
    "interfaces: [{name: b0, type: ovs-bridge, bridge: {port: [{name: TEXT}]}, ovs-db: {external_ids: {TEXT: TEXT}}}]",
    "routes: {config: [{destination: TEXT, next-hop-interface: TEXT, next-hop-address: TEXT}]}",
    "routes: {config: [{destination: 192.0.2.0/24, next-hop-interface: TEXT}]}",
    "route-rules: {config: [{iif: TEXT, route-table: 5}]}",
    "dns-resolver: {config: {server: [TEXT], search: [TEXT], options: [TEXT]}}",
    "hostname: {config: TEXT}",
    "interfaces: [{name: eth0, 802.1x: {identity: TEXT, eap-methods: [TEXT]}}]",
    "capture: {TEXT: TEXT}\ndesiredState: {}",
    "apiVersion: v1\nkind: TEXT\nmetadata: {name: TEXT}",
    "apiVersion: agent-install.openshift.io/v1beta1\nkind: NMStateConfig\nmetadata: {name: TEXT, namespace: TEXT}\nspec: {config: {TEXT: 1}, interfaces: [{name: TEXT, macAddress: TEXT}]}",
    "{{ TEXT }}",
];

/// The first line of what a program writes that controls who reads it.
fn controlling(shown: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(shown);
    let is_one = |c: char| CONTROLS.contains(&c) || c.is_control() && c != '\t';
    let line = text.split('\n').find(|line| line.contains(is_one));
    line.map(|line| line.escape_debug().to_string())
}

#[tests::case]
fn no_output_has_a_character_that_controls_what_shows_it() {
    let place = tempfile::tempdir().unwrap();
    let at = place.path();
    fs::write(at.join("none.yml"), "interfaces:\n- {name: eth0, type: ethernet}\n").unwrap();
    fs::create_dir(at.join("out")).unwrap();
    let all: String = CONTROLS.iter().collect();
    for (number, document) in SHOWN.iter().enumerate() {
        // As escapes, all at once, and as themselves, one after the other: YAML refuses some.
        let quoted: String = all.chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect();
        let one = CONTROLS[number % CONTROLS.len()];
        for text in [format!("\"a{quoted}b\""), format!("a{one}b"), "\"a\u{202e}b\"".to_owned()] {
            // The first is named like the characters too.
            let name = if number == 0 { format!("a{all}.yml") } else { "a.yml".to_owned() };
            fs::write(at.join(&name), document.replace("TEXT", &text)).unwrap();
            for sinks in [SINKS, OF_THE_AGENT] {
                faults(at, sinks, OsStr::new(&name)).unwrap();
            }
        }
        let text = document.replace("TEXT", &format!("\"a{quoted}b\""));
        for shown in shown_by_a_boot(&Machine::with_card().host("cluster", &text)) {
            assert_eq!(controlling(shown.as_bytes()), None, "boot {document}");
        }
    }
    // Names of files that cannot be read, of a directory's, and other words of a command line.
    let words: &[(Reader, &[&str])] = &[
        (Person, &["explain"]),
        (Person, &["completion"]),
        (Person, &["check", "none.yml", "--allow"]),
        (Person, &["check", "none.yml", "--host"]),
        (Person, &["check", "none.yml", "--cluster"]),
        (Person, &["nmstatectl"]),
    ];
    fs::create_dir(at.join("hosts")).unwrap();
    for extension in ["yml", "yaml"] {
        fs::write(at.join(format!("hosts/a{all}.{extension}")), "interfaces: []\n").unwrap();
    }
    let missing = format!("{all}.yml");
    for source in [&*missing, "hosts"] {
        for sinks in [SINKS, OF_THE_AGENT, words] {
            faults(at, sinks, OsStr::new(source)).unwrap();
        }
    }
}

#[tests::case]
fn a_name_with_a_control_of_direction_is_an_error() {
    let place = tempfile::tempdir().unwrap();
    for (document, rule) in [
        (
            "interfaces: [{name: \"e\u{202e}0hte\", type: dummy, state: up}]",
            "interface-name-characters",
        ),
        (
            "interfaces: [{name: eth0, type: dummy, state: up, profile-name: \"a\u{2066}b\"}]",
            "profile-name-unsafe",
        ),
    ] {
        fs::write(place.path().join("a.yml"), document).unwrap();
        run(place.path(), &["check", "a.yml"]).reports(&format!("error[{rule}]"));
    }
}

/// Text that ends lines, values, elements and commands, or starts what a terminal obeys.
const PIECES: &[&str] = &[
    "a",
    "eth0",
    "é",
    " ",
    "\t",
    "\n",
    "\r\n",
    "\0",
    "\u{1b}[2J",
    "\u{1b}]0;a\u{7}",
    "\u{1b}P",
    "\u{9b}31m",
    "\u{9d}0;a\u{9c}",
    "\u{85}",
    "\u{2028}",
    "\u{202e}",
    "\u{2066}",
    "\u{200f}",
    "\u{61c}",
    "\u{feff}",
    "::error::",
    "\n::stop-commands::a",
    ":",
    ": ",
    "%0A",
    "\"",
    "'",
    "\\",
    "\\u001b",
    "]",
    "}",
    ",",
    "<b>",
    "</script>",
    "]]>",
    "-->",
    "&#27;",
    "{{",
    "#",
    " #",
];

/// Any text of these, and of any control character.
fn hostile() -> impl Strategy<Value = String> {
    let control = prop_oneof![(0_u8..0x20).boxed(), (0x7f_u8..0xa0).boxed()];
    let control = control.prop_map(|byte| char::from(byte).to_string());
    let piece = prop_oneof![4 => select(PIECES).prop_map(str::to_owned), 1 => control];
    prop::collection::vec(piece, 1..6).prop_map(|pieces| pieces.concat())
}

/// A document with the text at one place: as an escaped value, as it is, or beside a byte that is no text.
fn hostile_document() -> impl Strategy<Value = Vec<u8>> {
    (select(SHOWN), hostile(), 0..5).prop_map(|(document, text, how)| match how {
        0 => document.replace("TEXT", &text).into_bytes(),
        1 => [document.replace("TEXT", &text).as_bytes(), b" # \xff\x9b\n"].concat(),
        _ => document.replace("TEXT", &serde_json::to_string(&text).unwrap()).into_bytes(),
    })
}

/// The name of a file, which may have every byte but two.
fn hostile_name() -> impl Strategy<Value = OsString> {
    (hostile(), any::<Option<u8>>(), select(&["", ".yml", ".yaml", ".json"])).prop_map(
        |(text, byte, extension)| {
            let mut name: Vec<u8> = text.into_bytes();
            name.extend(byte);
            name.retain(|byte| !matches!(byte, 0 | b'/'));
            name.insert(0, b'h');
            name.extend(extension.as_bytes());
            OsString::from_vec(name)
        },
    )
}

/// The fault of what a reader gets.
fn fault(reader: Reader, output: &[u8], messages: &[u8]) -> Option<String> {
    let is_command = |line: &&str| line.trim_start().starts_with("::");
    let is_ours = |line: &&str| {
        reader == Runner && ["::error ", "::warning "].iter().any(|start| line.starts_with(start))
    };
    let command = |text: &str| {
        text.lines().find(|line| is_command(line) && !is_ours(line)).map(str::to_owned)
    };
    let texts = [String::from_utf8_lossy(messages), String::from_utf8_lossy(output)];
    let (shown, named) = match reader {
        Consumer => (&texts[..1], &texts[..1]),
        Document => (&texts[..], &texts[..1]),
        Person | Json | Runner => (&texts[..], &texts[..]),
    };
    if let Some(line) = shown.iter().find_map(|text| controlling(text.as_bytes())) {
        return Some(line);
    }
    if let Some(line) = named.iter().find_map(|text| command(text)) {
        return Some(format!("a command: {line}"));
    }
    let is_json = || serde_json::from_slice::<serde_json::Value>(output);
    let refused = (reader == Json && !output.is_empty()).then(|| is_json().err()).flatten();
    refused.map(|error| format!("no JSON: {error}: {}", output.escape_ascii()))
}

/// [`fault`] of each of these commands.
fn faults(at: &Path, sinks: &[(Reader, &[&str])], source: &OsStr) -> Result<(), TestCaseError> {
    for (reader, command) in sinks {
        let words: Vec<&OsStr> = command.iter().map(OsStr::new).chain([source]).collect();
        let said = said(at, &words);
        if let Some(fault) = fault(*reader, &said.output, &said.messages) {
            return Err(TestCaseError::fail(format!("{command:?} {source:?}: {fault}")));
        }
    }
    Ok(())
}

#[tests::case]
fn no_text_of_others_controls_who_reads_it() {
    let place = tempfile::tempdir().unwrap();
    let at = place.path();
    fs::write(at.join("none.yml"), "interfaces:\n- {name: eth0, type: ethernet}\n").unwrap();
    runner(64)
        .run(&(hostile_document(), hostile_name(), any::<bool>()), |(document, name, is_host)| {
            let _ = (fs::remove_dir_all(at.join("hosts")), fs::remove_dir_all(at.join("out")));
            fs::create_dir(at.join("hosts")).unwrap();
            fs::create_dir(at.join("out")).unwrap();
            let path = at.join("hosts").join(&name);
            fs::write(&path, &document).unwrap();
            let source = if is_host { at.join("hosts") } else { path };
            faults(at, SINKS, source.as_os_str())?;
            for (file, _) in tree::files(&at.join("out")).unwrap() {
                let line = controlling(file.as_os_str().as_encoded_bytes());
                prop_assert!(line.is_none(), "a file's name: {file:?}");
            }
            Ok(())
        })
        .unwrap();
}

#[tests::case]
fn no_text_of_others_controls_a_nodes_console_or_its_status() {
    let place = tempfile::tempdir().unwrap();
    let at = place.path();
    let inputs = (hostile_document(), hostile_name(), hostile());
    runner(6)
        .run(&inputs, |(document, name, text)| {
            fs::write(at.join("a.yml"), &document).unwrap();
            faults(at, OF_THE_AGENT, OsStr::new("a.yml"))?;
            let node = tempfile::tempdir().unwrap();
            let write = |directory: &str, name: &OsStr, content: &[u8]| {
                let directory = node.path().join(directory);
                fs::create_dir_all(&directory).unwrap();
                fs::write(directory.join(name), content).unwrap();
            };
            let quoted = serde_json::to_string(&text).unwrap();
            write("etc/nmstate/openshift", OsStr::new("cluster.yml"), &document);
            write("etc/nmstate/openshift", &name, &document);
            write("etc", OsStr::new("hostname"), text.as_bytes());
            write("etc/dayone", OsStr::new("dayone.toml"), format!("a = {quoted}\n").as_bytes());
            write("run/dayone", OsStr::new("status.json"), format!("{{{quoted}: 1}}").as_bytes());
            faults(at, OF_A_NODE, node.path().as_os_str())?;
            let machine = Machine::with_card();
            let name = format!("etc/nmgen/{}", name.to_string_lossy());
            for path in ["etc/nmgen/cluster.yml", &name] {
                machine.try_write(path, &document).unwrap();
            }
            for shown in shown_by_a_boot(&machine) {
                let fault = fault(Consumer, &[], shown.as_bytes());
                prop_assert!(fault.is_none(), "boot: {fault:?}");
            }
            Ok(())
        })
        .unwrap();
}
