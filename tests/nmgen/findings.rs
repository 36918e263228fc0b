//! The forms of findings: for people, for programs, and the explanation of each rule.

use std::fs;
use std::process::{Command, Output};

use serde_json::Value;
use tests::program::{self, Exits as _};

const WRONG: &str = "interfaces:\n- name: eno1\n  type: ethernet\n  fo,o: 100%\n";

fn nmgen(arguments: &[&str]) -> Output {
    Command::new(program::nmgen()).args(arguments).output().unwrap()
}

fn check(form: &str) -> String {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("worker 0.yml");
    fs::write(&file, WRONG).unwrap();
    let output = nmgen(&["check", "--format", form, file.to_str().unwrap()]).exits(2);
    assert!(output.stderr.is_empty());
    output.out().replace(directory.path().to_str().unwrap(), "/d")
}

#[tests::case]
fn json_has_the_end_of_the_fault() {
    let value: Value = serde_json::from_str(&check("json")).unwrap();
    let first = &value["findings"][0];
    let (line, column, end) = (&first["line"], &first["column"], &first["end_column"]);
    assert_eq!((line, column, end), (&Value::from(4), &Value::from(3), &Value::from(7)));
}

#[tests::case]
fn sarif_names_rule_file_and_region() {
    let log: Value = serde_json::from_str(&check("sarif")).unwrap();
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    assert_eq!(run["tool"]["driver"]["name"], "nmgen");
    let result = &run["results"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
    assert_eq!(rules[index]["id"], result["ruleId"]);
    assert_eq!(result["ruleId"], "unknown-field");
    assert_eq!(result["level"], "error");
    assert!(result["message"]["text"].as_str().unwrap().contains("fo,o"));
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "file:///d/worker%200.yml");
    assert_eq!(place["region"]["startLine"], 4);
    assert_eq!(place["region"]["startColumn"], 3);
    assert_eq!(place["region"]["endColumn"], 7);
}

#[tests::case]
fn sarif_describes_each_rule_and_knows_a_finding_that_moved() {
    let directory = tempfile::tempdir().unwrap();
    let log = |text: &str| -> Value {
        let file = directory.path().join("worker-0.yml");
        fs::write(&file, text).unwrap();
        let output = nmgen(&["check", "--format", "sarif", file.to_str().unwrap()]);
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let before = log(WRONG);
    let rule = &before["runs"][0]["tool"]["driver"]["rules"][0];
    let name = rule["id"].as_str().unwrap();
    assert!(
        rule["shortDescription"]["text"].as_str().is_some_and(|text| text.len() > 10),
        "{rule}"
    );
    let help = rule["help"]["markdown"].as_str().unwrap();
    assert!(help.starts_with(&format!("### {name}\n")), "{help}");
    // The page that packages bring has the section.
    let page = rule["helpUri"].as_str().unwrap();
    assert_eq!(page, format!("file:///usr/share/doc/nmgen/checks.md#{name}"));
    let print = |log: &Value, index: usize| {
        let print = &log["runs"][0]["results"][index]["partialFingerprints"]["nmgenFinding/v1"];
        print.as_str().unwrap().to_owned()
    };
    let moved = log(&format!("# a comment\n\n{WRONG}"));
    assert_eq!(print(&before, 0), print(&moved, 0));
    assert_ne!(
        before["runs"][0]["results"][0]["locations"],
        moved["runs"][0]["results"][0]["locations"]
    );
    let twice = log(&format!("{WRONG}- name: eno2\n  type: ethernet\n  fo,o: 100%\n"));
    assert_eq!(print(&twice, 0), print(&before, 0));
    assert_ne!(print(&twice, 1), print(&twice, 0), "two lines of the same words are two findings");
}

#[tests::case]
fn the_short_form_is_a_line_a_finding_as_compilers_write_it() {
    let found = check("short");
    let expected = "/d/worker 0.yml:4:3: error: NMState has no field \"fo,o\"";
    assert!(found.starts_with(expected) && found.ends_with(" [unknown-field]\n"), "{found}");
    assert_eq!(found.lines().count(), 1);
}

#[tests::case]
fn github_gets_an_escaped_annotation_a_line() {
    let found = check("github");
    let line = found.lines().next().unwrap();
    assert!(
        line.starts_with(
            "::error file=/d/worker 0.yml,line=4,col=3,endColumn=7,title=unknown-field::NMState has no field \"fo,o\""
        ),
        "{line}"
    );
    assert_eq!(found.lines().count(), 1, "{found}");
}

#[tests::case]
fn without_a_finding_one_line_tells_what_was_read() {
    let hosts = program::root().join("tests/fixtures/demo/bond-vlan.yml");
    let hosts = hosts.to_str().unwrap();
    let output = nmgen(&["check", hosts]);
    assert!(output.stdout.is_empty());
    let told = output.err();
    assert!(told.ends_with(&format!("in {hosts}, no errors\n")), "{told}");
    assert_eq!(told.lines().count(), 1, "{told}");
}

#[tests::case]
fn a_mistake_of_all_hosts_is_shown_once() {
    let directory = tempfile::tempdir().unwrap();
    for host in 0..50 {
        let file = directory.path().join(format!("worker-{host:02}.yml"));
        fs::write(file, WRONG).unwrap();
    }
    let path = directory.path().to_str().unwrap();
    let output = nmgen(&["check", path]);
    let told = output.err();
    assert_eq!(told.matches("error[unknown-field]").count(), 1, "{told}");
    let more = format!("= and 49 more of the same, the next in {path}/worker-01.yml:4:3");
    assert!(told.contains(&more), "{told}");
    assert!(told.contains("50 errors, 0 warnings"), "{told}");
    let all = nmgen(&["check", "--format", "json", path]).json();
    let all = all["findings"].as_array().unwrap();
    assert_eq!(all.len(), 50, "programs get each of them");
    assert_eq!((&all[0]["host"], &all[49]["host"]), (&"worker-00".into(), &"worker-49".into()));
}

#[tests::case]
fn every_rule_is_explained_with_its_section() {
    let list = nmgen(&["explain"]);
    for rule in nmgen::rules() {
        assert!(list.out().contains(rule.name), "{}", rule.name);
        let output = nmgen(&["explain", rule.name]);
        let section = output.out();
        assert!(section.starts_with(&format!("### {}\n", rule.name)), "{section}");
        assert!(section.contains(" bad") && section.contains(" good"), "{section}");
        assert_eq!(section.matches("\n### ").count(), 0, "{section}");
    }
    nmgen(&["explain", "[vlan-id-rnage]"]).exits(2).reports("did you mean vlan-id-range?");
}
