//! `nmgen show --format svg`: the documentation's pictures, golden (`BLESS=1` rewrites them), and hostile text.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;
use std::process::Command;

use tests::program;

/// A picture, and the arguments that draw it, in the directory of its source.
struct Picture {
    file: &'static str,
    here: &'static str,
    arguments: &'static [&'static str],
}

const PICTURES: &[Picture] = &[
    Picture {
        file: "tests/fixtures/pictures/cluster.svg",
        here: "examples/cluster",
        arguments: &["--br-ex", "install-config.yaml"],
    },
    Picture {
        file: "tests/fixtures/pictures/every-kind.svg",
        here: "tests/fixtures/pictures",
        arguments: &["every-kind.yml"],
    },
];

fn svg(here: &Path, arguments: &[&str]) -> String {
    let output = Command::new(program::nmgen())
        .args(["show", "--format", "svg"])
        .args(arguments)
        .current_dir(here)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn compare(file: &str, found: &str) {
    let path = program::root().join(file);
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, found).unwrap();
    }
    assert!(fs::read_to_string(&path).unwrap_or_default() == found, "{file} is out of date");
}

#[tests::case]
fn every_picture_shows_its_document() {
    for picture in PICTURES {
        compare(picture.file, &svg(&program::root().join(picture.here), picture.arguments));
    }
}

/// The picture of both stages, from the document in the guide that shows it.
fn both_stages() -> String {
    let guide = program::root().join("nmgen/doc/guides/stages.md");
    let guide = fs::read_to_string(guide).unwrap();
    let (_, document) = guide.split_once("```yaml file=worker-0.yml\n").unwrap();
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("worker-0.yml"), document.split_once("```").unwrap().0).unwrap();
    svg(place.path(), &["--br-ex", "worker-0.yml"])
}

#[tests::case]
fn the_picture_of_both_stages_shows_the_guides_document() {
    compare("nmgen/doc/pictures/two-stages.svg", &both_stages());
}

/// The words of a picture, in its order.
fn words(svg: &str) -> Vec<&str> {
    let texts = svg.split("<text ").skip(1).filter_map(|text| text.split_once('>'));
    texts.map(|(_, text)| text.split_once("</text>").unwrap().0.trim()).collect()
}

#[tests::case]
fn what_moves_between_two_stages_is_marked_in_both_without_colour() {
    let svg = both_stages();
    let words = words(&svg);
    assert!(words.contains(&"192.0.2.10/24 \u{2192} br-ex"), "{words:?}");
    assert!(words.contains(&"192.0.2.10/24 \u{2190} bond0.100"), "{words:?}");
    assert!(words.contains(&"198.51.100.10/24"), "{words:?}");
    assert_eq!(words.iter().filter(|word| **word == "new").count(), 2);
}

#[tests::case]
fn the_text_of_strangers_is_text_in_a_picture() {
    let place = tempfile::tempdir().unwrap();
    let document = "interfaces:\n- {name: \"<script>&'\\\"\\e[2J\\uFFFE\", type: ethernet}\n";
    fs::write(place.path().join("a.yml"), document).unwrap();
    let svg = svg(place.path(), &["a.yml"]);
    assert!(!svg.contains("<script"));
    assert!(words(&svg).contains(&"&lt;script&gt;&amp;'\"\u{fffd}[2J\u{fffd}"), "{svg}");
    assert!(svg.chars().all(|c| c == '\n' || !c.is_control()), "{svg}");
}

#[tests::case]
fn interfaces_in_a_circle_and_a_thousand_of_them_are_drawn() {
    let place = tempfile::tempdir().unwrap();
    let circle = "interfaces:\n- {name: a, type: vlan, vlan: {base-iface: b, id: 1}}\n\
        - {name: b, type: vlan, vlan: {base-iface: a, id: 1}}\n";
    fs::write(place.path().join("a.yml"), circle).unwrap();
    assert_eq!(words(&svg(place.path(), &["a.yml"])), ["a.yml", "a", "vlan 1", "b", "vlan 1"]);
    let many: String = (0..1_000)
        .map(|id| format!("- {{name: e.{id}, type: vlan, vlan: {{base-iface: e, id: {id}}}}}\n"))
        .collect();
    fs::write(place.path().join("a.yml"), format!("interfaces:\n{many}")).unwrap();
    let svg = svg(place.path(), &["a.yml"]);
    assert_eq!(svg.matches("class=\"name\"").count(), 1_001);
}
