//! Cases that a page of the documentation names: each exists.

use std::fs;
use std::path::{Path, PathBuf};

use tests::program::root;

/// The names in the last column of each row of the page's tables that have cases there.
fn named(page: &str) -> Vec<Vec<String>> {
    let (mut has_cases, mut rows) = (false, Vec::new());
    for line in page.lines().filter(|line| !line.starts_with("|--")) {
        let cell = line.strip_suffix('|').and_then(|row| row.rsplit('|').next());
        match cell.map(str::trim) {
            None => has_cases = false,
            Some(cell) if cell == "case" || cell.starts_with("case of ") => has_cases = true,
            Some(cell) if has_cases => {
                rows.push(cell.split('`').skip(1).step_by(2).map(str::to_owned).collect());
            }
            Some(_) => {}
        }
    }
    rows
}

/// The files that may have the module: a suite's, or the agent's, whose tests are in a module of their own or in the file's.
fn files(module: &str) -> Vec<PathBuf> {
    let path = |module: &str| format!("{}.rs", module.replace("::", "/"));
    let agent = root().join("agent/src");
    let suites = ["tests/dayone", "tests/nmgen", "tests/two_stage"].map(|suite| root().join(suite));
    let mut files: Vec<PathBuf> =
        suites.iter().chain([&agent]).map(|place| place.join(path(module))).collect();
    files.extend(module.strip_suffix("::tests").map(|module| agent.join(path(module))));
    files
}

/// Whether the file has this test.
fn has_test(file: &Path, name: &str) -> bool {
    let text = fs::read_to_string(file).unwrap_or_default();
    let Some((before, _)) = text.split_once(&format!("fn {name}(")) else { return false };
    let attributes = before.rsplit("\n\n").next().unwrap_or_default();
    // The last is a case for each release of the field.
    ["#[tests::case]", "#[test]", "#[tokio::test", "each_release!("]
        .iter()
        .any(|attribute| attributes.contains(attribute))
}

/// The case, and the node of the field that it names behind.
fn of_a_node(name: &str) -> (&str, Option<&str>) {
    let nodes = ["release_", "two_nodes_", "single_node_"];
    match name.rsplit_once("::") {
        Some((case, node)) if nodes.iter().any(|prefix| node.starts_with(prefix)) => {
            (case, Some(node))
        }
        _ => (name, None),
    }
}

/// Whether the case runs on this node.
fn is_on(file: &Path, case: &str, node: &str) -> bool {
    let text = fs::read_to_string(file).unwrap_or_default();
    let list = text.split(&format!("each_release!({case}:")).nth(1).unwrap_or_default();
    let list = list.split(')').next().unwrap_or_default();
    list.split(',').any(|name| name.trim() == node)
}

/// Each row of the page has cases, and they exist.
fn has_its_cases(page: &str, least: usize) {
    let rows = named(&fs::read_to_string(root().join(page)).unwrap());
    assert!(rows.len() >= least, "{rows:?}");
    for names in rows {
        assert!(!names.is_empty(), "{page}: a row without a case");
        for name in &names {
            let (case, node) = of_a_node(name);
            let (module, test) = case.rsplit_once("::").expect("a module");
            let has = |file: &PathBuf| {
                has_test(file, test) && node.is_none_or(|node| is_on(file, test, node))
            };
            assert!(files(module).iter().any(has), "{name} is not there");
        }
    }
}

#[tests::case]
fn each_fault_of_a_nodes_life_has_its_cases() {
    has_its_cases("agent/doc/life.md", 21);
}

#[tests::case]
fn each_wait_of_a_boot_has_its_cases() {
    has_its_cases("doc/decisions/memory.md", 15);
}

#[tests::case]
fn each_release_has_its_cases() {
    has_its_cases("agent/doc/releases.md", 7);
}

#[tests::case]
fn each_state_that_a_later_boot_finds_has_its_cases() {
    has_its_cases("nmgen/doc/boot.md", 8);
}

#[tests::case]
fn each_probe_of_the_wire_has_its_cases() {
    has_its_cases("agent/doc/wire.md", 6);
}
