//! ARCHITECTURE.md, the map: its rooms exist, and each folder has one. Files that a page names exist.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use tests::{program::root, tree::files};

/// A map is read at a glance: beyond this, detail moves to a decision or to the code.
const LINES: usize = 125;
const ROWS: usize = 32;

fn map() -> String {
    fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap()
}

/// The words in backticks of a text, without its blocks of code.
fn names(text: &str) -> Vec<&str> {
    let outside = text.split("```").step_by(2);
    outside.flat_map(|text| text.split('`').skip(1).step_by(2)).collect()
}

/// The rows of the table of rooms.
fn rows(map: &str) -> Vec<&str> {
    let rows = map.lines().skip_while(|line| !line.starts_with("| room |")).skip(2);
    rows.take_while(|line| line.starts_with('|')).collect()
}

/// The folders in the first column.
fn rooms(map: &str) -> BTreeSet<PathBuf> {
    let first = |row: &str| row.split('|').nth(1).unwrap_or_default().to_owned();
    let columns: Vec<String> = rows(map).into_iter().map(first).collect();
    columns.iter().flat_map(|column| names(column)).map(PathBuf::from).collect()
}

/// Folders at the top that are no part of the repository. In the tarball of `make dist`, and a build from it, `vendor` has crates,
/// and `debian` is a copy of packaging's.
const NOT_OURS: [&str; 3] = ["target", "vendor", "debian"];

/// The files of the repository, without what was built and what only git or a workplace knows.
fn tree() -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(root()).unwrap() {
        let entry = entry.unwrap();
        let name = PathBuf::from(entry.file_name());
        let is_hidden = name.to_str().is_some_and(|name| name.starts_with('.'));
        if entry.path().is_dir()
            && !is_hidden
            && !NOT_OURS.iter().any(|folder| name.ends_with(folder))
        {
            found.extend(files(&entry.path()).unwrap().into_keys().map(|path| name.join(path)));
        }
    }
    assert!(found.len() > 1000, "{found:?}");
    found
}

#[tests::case]
fn the_map_is_one_page() {
    let map = map();
    assert!(map.lines().count() <= LINES, "{} lines", map.lines().count());
    let rows = rows(&map).len();
    assert!((20..=ROWS).contains(&rows), "{rows} rows of rooms");
}

#[tests::case]
fn rooms_exist() {
    let missing: Vec<_> =
        rooms(&map()).into_iter().filter(|room| !root().join(room).is_dir()).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// A room has all that is below it. One with further rooms inside has its own files alone: a new folder there is a new room.
#[tests::case]
fn every_folder_has_a_room() {
    let rooms = rooms(&map());
    let has_rooms =
        |room: &Path| rooms.iter().any(|other| other != room && other.starts_with(room));
    let is_in_room = |folder: &Path| {
        let mut above = folder.ancestors().filter(|ancestor| rooms.contains(*ancestor));
        above.next().is_some_and(|room| room == folder || !has_rooms(room))
    };
    let folders: BTreeSet<PathBuf> =
        tree().iter().filter_map(|path| path.parent()).map(Path::to_owned).collect();
    // A hall has the way to its rooms, and a manifest or a page.
    let without: Vec<_> =
        folders.iter().filter(|folder| !is_in_room(folder) && !has_rooms(folder)).collect();
    assert!(without.is_empty(), "{without:#?}");
}

/// A file of Rust by the end of its path; another file, or a folder, by the whole.
#[tests::case]
fn files_that_pages_name_exist() {
    let tree = tree();
    let halls =
        ["agent/", "doc/", "ignition-snippets/", "nmgen/", "packaging/", "systemd/", "tests/"];
    let is_one = |name: &str| {
        // A placeholder stands for any name.
        let is_path =
            !name.contains(['<', '>', '$', '*', ' ', '=', ':']) && !name.contains("TARGET");
        is_path && (name.ends_with(".rs") || halls.iter().any(|hall| name.starts_with(hall)))
    };
    let mut pages: Vec<PathBuf> =
        ["ARCHITECTURE.md", "CONTRIBUTING.md", "README.md"].map(PathBuf::from).into();
    pages.extend(
        tree.iter()
            .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
            .cloned(),
    );
    pages.retain(|page| !page.starts_with("tests/fixtures"));
    let (mut checked, mut missing) = (0, Vec::new());
    for page in &pages {
        let text = fs::read_to_string(root().join(page)).unwrap();
        for name in names(&text).into_iter().filter(|name| is_one(name)) {
            checked += 1;
            let exists = match name.ends_with(".rs") {
                true => tree.iter().any(|path| path.ends_with(name)),
                false => root().join(name).exists(),
            };
            if !exists {
                missing.push(format!("{}: {name}", page.display()));
            }
        }
    }
    assert!(checked > 80, "{checked}");
    assert!(missing.is_empty(), "{missing:#?}");
}
