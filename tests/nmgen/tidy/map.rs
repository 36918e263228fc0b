//! ARCHITECTURE.md's map: its paths exist, and no module is missing.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use tests::program::root;

/// The paths of a row's first column. A further path of a row is relative to the directory of the one before, or to the root.
fn paths(row: &str) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    for name in row.split('`').skip(1).step_by(2) {
        let beside = found.last().and_then(|path| path.parent()).map(|parent| parent.join(name));
        let path = beside.filter(|_| !root().join(name).exists()).unwrap_or(name.into());
        found.push(path);
    }
    found
}

fn map() -> Vec<PathBuf> {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let rows = text.lines().skip_while(|line| *line != "| where | what |").skip(2);
    let rows = rows.take_while(|line| line.starts_with('|'));
    let found: Vec<_> =
        rows.flat_map(|row| paths(row.split('|').nth(1).unwrap_or_default())).collect();
    assert!(found.len() > 50, "the map is not found: {found:?}");
    found
}

/// A path of the map may have a part in angle brackets that stands for any name.
fn exists(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let Some((before, after)) = name.split_once('<') else { return root().join(path).exists() };
    let after = after.split_once('>').map_or("", |(_, after)| after);
    let directory = root().join(path.parent().unwrap_or(Path::new("")));
    fs::read_dir(directory).is_ok_and(|entries| {
        entries.flatten().any(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            name.starts_with(before) && name.ends_with(after)
        })
    })
}

#[tests::case]
fn paths_of_the_map_exist() {
    let missing: Vec<_> = map().into_iter().filter(|path| !exists(path)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// A row for `a.rs`, for `a/` or for anything below it is one for the module `a`.
#[tests::case]
fn no_module_is_missing_from_the_map() {
    let module = |path: &Path| path.with_extension("");
    let map = map();
    let mapped: BTreeSet<PathBuf> =
        map.iter().flat_map(|path| path.ancestors().map(module).collect::<Vec<_>>()).collect();
    let mut missing = Vec::new();
    for member in ["nmgen/crates", "nmgen/src", "nmgen/boot/src", "agent/src"] {
        for entry in fs::read_dir(root().join(member)).unwrap() {
            let path = Path::new(member).join(entry.unwrap().file_name());
            let is_root = ["lib.rs", "main.rs"].iter().any(|name| path.ends_with(name));
            if !is_root && !mapped.contains(&module(&path)) {
                missing.push(path);
            }
        }
    }
    assert!(missing.is_empty(), "{missing:?}");
}
