//! Accounts of nodes from a stranger cost their reader no more than those of nodes.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use tests::{measure, program};

/// A status of a node, as far as a report looks.
fn status(node: usize, more: &str) -> String {
    format!("{{\"outcome\": 1, \"hostname\": \"w-{node}\", \"verdict\": \"FELL BACK\"{more}}}\n")
}

/// Exit code, output and messages of nmgen, within seconds of CPU and MiB of memory.
fn within(directory: &Path, arguments: &[&str], seconds: f64, memory: u64) -> (i32, String) {
    let mut nmgen = Command::new(program::nmgen());
    nmgen.args(arguments).current_dir(directory);
    let cost = measure::run(&mut nmgen).unwrap();
    let (time, peak) = (cost.cpu.as_secs_f64(), cost.peak_memory >> 20);
    assert!(time < seconds && peak < memory, "{arguments:?}: {time} s, {peak} MiB");
    let output = nmgen.output().unwrap();
    let told = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap(), String::from_utf8(told).unwrap())
}

#[tests::case]
fn a_report_of_strangers_files_has_bounds() {
    let place = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| fs::write(place.path().join(name), text).unwrap();
    // A column as wide as its widest cell.
    let long = "x".repeat(1 << 20);
    let verdict = format!("{{\"outcome\": 1, \"verdict\": \"{long}\", \"error\": \"{long}\"}}");
    put("wide.json", &verdict);
    let (code, text) = within(place.path(), &["report", "wide.json"], 2.0, 100);
    assert_eq!(code, 3, "{text}");
    assert!(text.contains("xxx…") && text.len() < 3000, "{} bytes", text.len());
    // Documents that all differ, beside the one of all.
    let document =
        |node: usize| format!(", \"document\": \"/cluster.yml\", \"digest\": \"{node:064}\"");
    let all =
        |number: usize| (0..number).map(|node| status(node, &document(node))).collect::<String>();
    put("many.json", &all(20_000));
    let (code, text) = within(place.path(), &["report", "many.json"], 3.0, 100);
    assert_eq!(code, 3, "{text}");
    // A small file may unpack to any number of nodes.
    put("bomb.json", &all(300_000));
    assert!(Command::new("gzip").arg(place.path().join("bomb.json")).status().unwrap().success());
    let (code, text) = within(place.path(), &["report", "bomb.json.gz"], 3.0, 200);
    assert_eq!((code, text.contains("more than 20000 accounts of nodes")), (2, true), "{text}");
}

#[tests::case]
fn cards_of_strangers_files_take_a_time_that_grows_with_them() {
    let place = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| fs::write(place.path().join(name), text).unwrap();
    let cards: Vec<String> =
        (0..100_000).map(|number| format!("{{\"name\": \"e{number}\"}}")).collect();
    let heard: Vec<String> = (0..10_000)
        .map(|number| format!("{{\"link\": \"e{number}\", \"vlans\": [1, 2]}}"))
        .collect();
    put(
        "node.json",
        &format!(
            "{{\"hostname\": \"w-0\", \"cards\": [{}], \"facts\": {{\"lldp\": {{\"value\": [{}]}}}}}}",
            cards.join(","),
            heard.join(",")
        ),
    );
    let mut inspected = "apiVersion: metal3.io/v1alpha1\nkind: HardwareData\nmetadata: {name: w-0}\nspec:\n  hardware:\n    nics:\n"
        .to_owned();
    (0..20_000).for_each(|number| writeln!(inspected, "    - {{name: e{number}}}").unwrap());
    put("hardware.yaml", &inspected);
    put("w-0.yml", "interfaces: [{name: e1, type: ethernet, state: up}]\n");
    for file in ["node.json", "hardware.yaml"] {
        let (code, text) = within(place.path(), &["check", "w-0.yml", file], 3.0, 200);
        assert_eq!(code, 0, "{file}: {text}");
    }
}
