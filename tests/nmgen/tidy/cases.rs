//! Cases that a page of the documentation names: each exists.

use std::fs;
use std::path::{Path, PathBuf};

use tests::program::root;

/// The last column of each row of the page's tables.
fn named(page: &str) -> Vec<Vec<String>> {
    let rows = page.lines().filter(|line| line.starts_with('|') && !line.starts_with("|--"));
    let cells = rows.filter_map(|row| row.trim_end_matches('|').rsplit('|').next());
    let names = |cell: &str| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    cells.filter(|cell| cell.trim() != "case").map(names).collect()
}

/// The files that may have the module: the suite's, or the agent's, whose tests are in a module of their own or in the file's.
fn files(module: &str) -> Vec<PathBuf> {
    let path = |module: &str| format!("{}.rs", module.replace("::", "/"));
    let agent = root().join("agent/src");
    let mut files = vec![root().join("tests/dayone").join(path(module)), agent.join(path(module))];
    files.extend(module.strip_suffix("::tests").map(|module| agent.join(path(module))));
    files
}

/// Whether the file has this test.
fn has_test(file: &Path, name: &str) -> bool {
    let text = fs::read_to_string(file).unwrap_or_default();
    let Some((before, _)) = text.split_once(&format!("fn {name}(")) else { return false };
    let attributes = before.rsplit("\n\n").next().unwrap_or_default();
    ["#[tests::case]", "#[test]", "#[tokio::test"].iter().any(|it| attributes.contains(it))
}

#[tests::case]
fn each_fault_of_a_nodes_life_has_its_cases() {
    let page = fs::read_to_string(root().join("agent/doc/life.md")).unwrap();
    let rows = named(&page);
    assert!(rows.len() > 20, "{rows:?}");
    for names in rows {
        assert!(!names.is_empty(), "a row without a case");
        for name in names {
            let (module, test) = name.rsplit_once("::").expect("a module");
            assert!(files(module).iter().any(|file| has_test(file, test)), "{name} is not there");
        }
    }
}
