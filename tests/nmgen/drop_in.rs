//! The calls of `nmstatectl gc` in image pipelines, and their parsing of the output.
//!
//! image-customization-controller runs `nmstatectl gc /dev/stdin` and reads `NetworkManager` as a list of
//! lists of strings; assisted-service hands over JSON and reads the same list, which must not be empty.

use std::collections::BTreeMap;
use std::process::{Command, Output};

use tests::{
    documents::{self, Document},
    program::{self, Exits as _},
};

/// Like Go's `struct { NetworkManager [][]string }`, which accepts only strings.
type Answer = BTreeMap<String, Vec<Vec<String>>>;

fn nmstatectl(arguments: &[&str], input: &str) -> Output {
    let (_directory, link) = program::nmgen_as("nmstatectl").unwrap();
    program::with_input(Command::new(link).args(arguments), input).unwrap()
}

fn answer(output: &Output) -> Answer {
    serde_yaml::from_slice(&output.stdout).unwrap()
}

/// Some fixtures have settings that no profile can carry.
fn usable() -> impl Iterator<Item = Document> {
    documents::fixtures().into_iter().filter(|document| !document.convert().has_errors())
}

#[tests::case]
fn every_fixture_comes_back_as_pairs_of_strings() {
    let mut profiles = 0;
    for document in usable() {
        let expected: Vec<Vec<String>> = documents::files(&document.convert())
            .into_iter()
            .filter(|(file, _)| file.directories.is_empty())
            .map(|(file, text)| vec![file.name, text])
            .collect();
        let from_yaml = nmstatectl(&["gc", "/dev/stdin"], &document.text);
        assert!(from_yaml.status.success(), "{}", document.name);
        let read = answer(&from_yaml);
        assert_eq!(read, Answer::from([("NetworkManager".to_owned(), expected)]));
        profiles += read["NetworkManager"].len();
    }
    assert!(profiles > 50, "{profiles} profiles");
}

#[tests::case]
fn every_fixture_as_json_is_answered_like_its_yaml() {
    for document in usable() {
        let from_yaml = nmstatectl(&["gc", "/dev/stdin"], &document.text);
        let value: serde_json::Value = serde_yaml::from_str(&document.text).unwrap();
        let from_json = nmstatectl(&["gc", "-"], &value.to_string());
        assert!(from_json.status.success(), "{} as JSON", document.name);
        assert_eq!(from_json.stdout, from_yaml.stdout, "{} as JSON", document.name);
    }
}

#[tests::case]
fn a_document_that_asks_for_nothing_is_an_empty_list() {
    for text in ["interfaces: []\n", "---\n", "{}\n", "", "# worker-0\n"] {
        let output = nmstatectl(&["gc", "/dev/stdin"], text).exits(0);
        assert_eq!(answer(&output), Answer::from([("NetworkManager".to_owned(), Vec::new())]));
    }
}

/// A block scalar ends in a line break, which nmstate's profile leaves out.
#[tests::case]
fn a_description_may_be_a_block_scalar() {
    let document = |description: &str| {
        format!(
            "interfaces:\n- name: eth0\n  type: ethernet\n  state: up\n  description: {description}\n- {{name: v, type: dummy}}\n"
        )
    };
    let expected = nmstatectl(&["gc", "-"], &document("uplink of rack 4")).exits(0);
    for block in
        ["|\n    uplink of rack 4", ">\n    uplink of\n    rack 4", "|+\n    uplink of rack 4\n\n"]
    {
        let output = nmstatectl(&["gc", "-"], &document(block));
        let told = output.err();
        assert_eq!((output.status.code(), &output.stdout), (Some(0), &expected.stdout), "{told}");
        assert!(told.contains("warning[final-line-break]"), "{told}");
    }
    nmstatectl(&["gc", "-"], &document("|\n    uplink\n    id=evil")).exits(2);
}

/// nmstatectl puts ordinary ones in their place before it parses.
#[tests::case]
fn non_breaking_spaces_are_spaces() {
    let document = "interfaces:\n- name: eth0\n  type: ethernet\n  state: up\n  description: a b\n";
    let expected = nmstatectl(&["gc", "-"], document).exits(0);
    for text in [
        document.replace("  type", "\u{a0} type"),
        document.replace("ethernet", "ethernet\u{a0}"),
        document.replace("type: ", "type:\u{a0}"),
        document.replace(' ', "\u{a0}"),
    ] {
        let output = nmstatectl(&["gc", "-"], &text);
        let told = output.err();
        assert_eq!((output.status.code(), &output.stdout), (Some(0), &expected.stdout), "{told}");
        assert!(told.contains("warning[non-breaking-space-replaced]"), "{told}");
        nmstatectl(&["validate"], &text).exits(0);
    }
    let place = nmstatectl(&["gc", "-"], &document.replace("ethernet", "ethernet\u{a0}"));
    assert!(place.err().contains("--> <stdin>:3:17"), "{place:?}");
}

/// A template without a value.
#[tests::case]
fn an_empty_mac_address_is_none() {
    let document =
        |more: &str| format!("interfaces: [{{name: eth0, type: ethernet, state: up{more}}}]\n");
    let expected = nmstatectl(&["gc", "-"], &document(""));
    let output = nmstatectl(&["gc", "-"], &document(", mac-address: ''")).exits(0);
    let told = output.err();
    assert!(told.contains("warning[mac-empty]"), "{told}");
    let without = |output: &Output| output.out().replace("\n    [ethernet]\n", "");
    assert_eq!(without(&output).trim_end(), without(&expected).trim_end());
    let identifies =
        nmstatectl(&["gc", "-"], &document(", mac-address: '', identifier: mac-address"));
    assert_eq!(identifies.status.code(), Some(2));
}

/// nmstatectl takes a NetworkPolicy, if it captures nothing.
#[tests::case]
fn a_policy_without_captures_is_its_desired_state() {
    let state = "interfaces: [{name: eth0, type: ethernet, state: up}]";
    let expected = nmstatectl(&["gc", "-"], state).exits(0);
    for key in ["desired", "desiredState"] {
        let policy = format!("{key}: {{{state}}}\n");
        let output = nmstatectl(&["gc", "-"], &policy).exits(0);
        assert_eq!(output.stdout, expected.stdout);
        for nothing in ["capture: {}", "capture:"] {
            let output = nmstatectl(&["gc", "-"], &format!("{nothing}\n{policy}"));
            assert_eq!(
                (output.status.code(), &output.stdout),
                (Some(0), &expected.stdout),
                "{key}"
            );
        }
        let captures = format!("capture: {{card: interfaces.name == \"eth0\"}}\n{policy}");
        assert_eq!(nmstatectl(&["gc", "-"], &captures).status.code(), Some(2), "{key}");
    }
}

#[tests::case]
fn another_subcommand_says_what_this_program_is() {
    for name in ["apply", "show", "persist-nic-names", "gcc"] {
        let output = nmstatectl(&[name, "-"], "");
        assert_eq!(output.status.code(), Some(2), "{name}");
        assert!(output.stdout.is_empty());
        let message = output.err();
        let expected = format!(
            "error: this is nmgen in the place of nmstatectl: it has `gc`, `validate` and `version`, and no `{name}`;"
        );
        assert!(message.starts_with(&expected), "{message}");
    }
}

#[tests::case]
fn a_fault_is_an_exit_code_and_a_message_and_no_answer() {
    let broken = "interfaces:\n- name: eth0\n  type: ethernet\n  profile-name: ../../evil\n";
    let output = nmstatectl(&["gc", "/dev/stdin"], broken).exits(2);
    assert!(output.stdout.is_empty());
    let message = output.err();
    assert!(message.contains("--> /dev/stdin:4:17"), "{message}");
}
