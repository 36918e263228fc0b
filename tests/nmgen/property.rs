//! No document, however malformed, causes a file outside the target, a section or key that the library does not write, or a
//! panic.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use serde_yaml::{Mapping, Value};
use tests::documents::{self, Document};
use tests::{keyfile, yaml};

/// A runner with the same cases in each run, unless `PROPERTY_CASES` asks for more.
pub(crate) fn runner(cases: u32) -> TestRunner {
    let asked = std::env::var("PROPERTY_CASES").ok().and_then(|cases| cases.parse().ok());
    let config = ProptestConfig {
        cases: asked.unwrap_or(cases),
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
}

#[tests::case]
fn changed_fixtures_give_safe_profiles() {
    let documents = documents::fixtures();
    let known = Known::gather(&documents);
    let values: Vec<Value> =
        documents.iter().map(|document| serde_yaml::from_str(&document.text).unwrap()).collect();
    let changes = prop::collection::vec((any::<Index>(), awkward_scalar(), any::<u8>()), 1..4);
    runner(1500)
        .run(&(any::<Index>(), changes), |(fixture, changes)| {
            let mut value = values[fixture.index(values.len())].clone();
            for (place, scalar, how) in changes {
                change(&mut value, &place, scalar, how);
            }
            known.assert_safe(&serde_yaml::to_string(&value).unwrap());
            Ok(())
        })
        .unwrap();
}

#[tests::case]
fn documents_of_any_shape_give_safe_profiles() {
    let known = Known::gather(&documents::fixtures());
    let keys: Vec<String> = known.yaml_keys.iter().cloned().collect();
    runner(1500)
        .run(&document(keys), |value| {
            let yaml = serde_yaml::to_string(&value).unwrap();
            known.assert_safe(&yaml);
            assert_read(&value, &yaml);
            assert_read(&value, &serde_json::to_string(&value).unwrap());
            Ok(())
        })
        .unwrap();
}

#[tests::case]
fn what_serde_yaml_refuses_is_refused() {
    let pieces = select(vec![
        "interfaces",
        ":",
        ": ",
        "\n",
        "\n  ",
        "\n    ",
        "- ",
        "[",
        "]",
        "{",
        "}",
        ",",
        "name",
        "eth0",
        "'",
        "\"",
        "#",
        " #",
        "|",
        ">",
        "&a",
        "*a",
        "!!str ",
        "!x ",
        "---",
        "...",
        "?",
        "\t",
        "\r",
        "\u{0}",
        "%",
        "@",
        "~",
        "null",
        "0x10",
        "1e3",
        "<<",
        "é",
        "🦀",
        "=",
        "type",
        "\\",
    ]);
    let text = prop::collection::vec(pieces, 0..24).prop_map(|pieces| pieces.concat());
    runner(4000)
        .run(&text, |text| {
            let outcome = documents::convert("any.yml", &text);
            let refused = serde_yaml::from_str::<Value>(&text).is_err();
            prop_assert!(!refused || outcome.has_errors(), "not refused: {text:?}");
            Ok(())
        })
        .unwrap();
}

/// The parser with positions agrees with serde_yaml. Line breaks of YAML 1.1 are excluded: serde_yaml accepts them, YAML 1.2
/// does not.
fn assert_read(value: &Value, text: &str) {
    if text.contains(['\u{85}', '\u{2028}', '\u{2029}']) {
        return;
    }
    if serde_yaml::from_str::<Value>(text).is_ok_and(|theirs| theirs == *value) {
        let diagnostics = documents::convert("any.yml", text).diagnostics;
        let syntax = diagnostics.iter().find(|found| found.rule.name == "syntax");
        assert!(syntax.is_none(), "{syntax:?} in {text}");
    }
}

/// The library's output for the fixtures, which have every field of NMState.
struct Known {
    /// Section to keys; numbers in keys are `#`.
    keys: BTreeMap<String, BTreeSet<String>>,
    yaml_keys: BTreeSet<String>,
}

/// Keys for values that no fixture has.
const MORE_KEYS: &[(&str, &str)] =
    &[("ipv4", "dhcp-fqdn"), ("ipv4", "dhcp-hostname"), ("ipv6", "dhcp-hostname")];

impl Known {
    fn gather(documents: &[Document]) -> Self {
        let mut keys: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let mut yaml_keys = BTreeSet::new();
        for document in documents {
            for profile in &document.convert().hosts[0].configuration.profiles {
                for section in &profile.keyfile.sections {
                    let known = keys.entry(section.name.to_string()).or_default();
                    known.extend(section.entries.iter().map(|(key, _)| without_numbers(key)));
                }
            }
            let value: Value = serde_yaml::from_str(&document.text).unwrap();
            yaml_keys.extend(yaml::leaves(&value).iter().flat_map(|(path, _)| {
                path.iter().filter_map(|step| match step {
                    yaml::Step::Key(key) => Some(key.clone()),
                    yaml::Step::Index(_) => None,
                })
            }));
        }
        // A key of one address family is allowed in the other.
        let both: BTreeSet<String> =
            ["ipv4", "ipv6"].iter().flat_map(|family| keys.remove(*family).unwrap()).collect();
        keys.extend(["ipv4", "ipv6"].map(|family| (family.to_owned(), both.clone())));
        for (section, key) in MORE_KEYS {
            keys.entry((*section).to_owned()).or_default().insert((*key).to_owned());
        }
        Self { keys, yaml_keys }
    }

    fn assert_safe(&self, text: &str) {
        let outcome = documents::convert("any.yml", text);
        // An error prevents all output.
        if outcome.has_errors() {
            return;
        }
        let mut paths = BTreeSet::new();
        for (file, content) in documents::files(&outcome) {
            for name in file.directories.iter().chain([&file.name]) {
                let safe = !name.is_empty()
                    && name != "."
                    && name != ".."
                    && !name.contains('/')
                    && !name.chars().any(char::is_control);
                assert!(safe, "{name:?} from {text}");
            }
            assert!(paths.insert(file.path()), "{:?} twice from {text}", file.path());
            if file.name.ends_with(".nmconnection") {
                self.assert_known_keys(&content, text);
            }
        }
    }

    fn assert_known_keys(&self, content: &str, text: &str) {
        let mut names = BTreeSet::new();
        for (section, entries) in keyfile::parse(content) {
            assert!(names.insert(section.clone()), "[{section}] twice from {text}");
            let known = self.keys.get(&section);
            let mut keys = BTreeSet::new();
            for (key, value) in entries {
                assert!(keys.insert(key.clone()), "{key} twice from {text}");
                assert!(
                    !value.chars().any(|c| c.is_control() && c != '\t'),
                    "{value:?} from {text}"
                );
                // Keys of these sections come from the document.
                let is_free = matches!(section.as_str(), "ovs-external-ids" | "ovs-other-config")
                    && key.starts_with("data.");
                let is_feature = section == "ethtool" && key.starts_with("feature-");
                let is_known = known.is_some_and(|known| known.contains(&without_numbers(&key)));
                assert!(is_free || is_feature || is_known, "[{section}] {key} from {text}");
            }
            assert!(known.is_some(), "[{section}] from {text}");
        }
    }
}

fn without_numbers(key: &str) -> String {
    let mut text = String::new();
    for character in key.chars() {
        match (character.is_ascii_digit(), text.ends_with('#')) {
            (true, true) => {}
            (true, false) => text.push('#'),
            (false, _) => text.push(character),
        }
    }
    text
}

/// Text that tries to escape from its place in the output.
fn awkward_text() -> impl Strategy<Value = String> {
    let pieces = select(vec![
        "eth0",
        "br-ex",
        "bond0",
        "lo",
        "/",
        "../",
        "..",
        ".",
        "\\",
        "\0",
        "\n",
        "\r\n",
        "\n[connection]\n",
        "\n[ipv4]\nmethod=auto\n",
        "\nid=x",
        "\nevil=1",
        "[user]",
        "=",
        ";",
        "#",
        " ",
        "\t",
        "\u{7f}",
        "\u{2028}",
        "é",
        "🦀",
        "%",
        ":",
        "~",
        "a",
        "1",
        "-",
        ".nmconnection",
        "192.0.2.1",
        "52:54:00:00:00:01",
    ]);
    prop::collection::vec(pieces, 0..5).prop_map(|pieces| pieces.concat())
}

fn awkward_scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => awkward_text().prop_map(Value::from),
        1 => any::<bool>().prop_map(Value::from),
        1 => any::<i64>().prop_map(Value::from),
        1 => (0_u32..70_000).prop_map(Value::from),
        1 => Just(Value::Null),
        1 => Just(Value::Sequence(Vec::new())),
        1 => Just(Value::Mapping(Mapping::new())),
    ]
}

/// Inserts a scalar, removes a value, or repeats an item of a list.
fn change(value: &mut Value, place: &Index, scalar: Value, how: u8) {
    let mut paths = Vec::new();
    yaml::walk(value, &mut Vec::new(), &mut |path, _| {
        if !path.is_empty() {
            paths.push(path.to_vec());
        }
    });
    if paths.is_empty() {
        return;
    }
    let path = &paths[place.index(paths.len())];
    let (last, parent) = path.split_last().unwrap();
    match (how % 8, yaml::find_mut(value, parent), last) {
        (0, Some(Value::Mapping(mapping)), yaml::Step::Key(key)) => {
            mapping.shift_remove(key.as_str());
        }
        (0, Some(Value::Sequence(items)), yaml::Step::Index(index)) => {
            items.remove(*index);
        }
        (1, Some(Value::Sequence(items)), yaml::Step::Index(index)) => {
            items.push(items[*index].clone());
        }
        (2, Some(Value::Mapping(mapping)), yaml::Step::Key(key)) => {
            let moved = mapping.shift_remove(key.as_str()).unwrap();
            mapping.insert(scalar.as_str().unwrap_or("key").into(), moved);
        }
        _ => *value = yaml::replaced(value, path, scalar),
    }
}

/// Random trees of NMState's keys; half of them with interfaces.
fn document(keys: Vec<String>) -> impl Strategy<Value = Value> {
    let key = prop_oneof![6 => select(keys), 1 => awkward_text()];
    let tree = awkward_scalar().prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Sequence),
            prop::collection::vec((key.clone(), inner), 0..6).prop_map(|entries| {
                Value::Mapping(entries.into_iter().map(|(k, v)| (k.into(), v)).collect())
            }),
        ]
    });
    let kinds = select(vec![
        "ethernet",
        "bond",
        "vlan",
        "linux-bridge",
        "ovs-bridge",
        "ovs-interface",
        "dummy",
        "vrf",
        "unknown",
    ]);
    let interface = (awkward_text(), kinds, proptest::option::of(awkward_text()), tree.clone());
    let interfaces = prop::collection::vec(interface, 1..4).prop_map(|interfaces| {
        let interfaces = interfaces.into_iter().map(|(name, kind, text, tree)| {
            let mut mapping = Mapping::new();
            mapping.insert("name".into(), name.into());
            mapping.insert("type".into(), kind.into());
            if let Some(text) = text {
                mapping.insert("description".into(), text.clone().into());
                mapping.insert("profile-name".into(), text.into());
            }
            if let Value::Mapping(more) = tree {
                mapping.extend(more.into_iter().take(1));
            }
            Value::Mapping(mapping)
        });
        let mut mapping = Mapping::new();
        mapping.insert("interfaces".into(), Value::Sequence(interfaces.collect()));
        Value::Mapping(mapping)
    });
    prop_oneof![tree, interfaces]
}
