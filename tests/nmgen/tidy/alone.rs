//! The tests read nothing outside of the repository: a stranger has nothing else.

use std::fs;

use tests::program::root;
use tests::tree::files;

/// Words of a path that leads out of the repository, or of a directory that only some machine has. In two pieces each, since this
/// file is read too.
const OUTSIDE: [[&str; 2]; 4] = [
    ["../", "shared"],
    ["root().", "parent()"],
    ["root().join(\"", "..\")"],
    ["var_os(\"SHA", "RED\")"],
];

#[tests::case]
fn no_test_names_a_file_outside_of_the_repository() {
    let mut found = Vec::new();
    let mut read = 0;
    for folder in [".ci", "agent", "nmgen", "packaging", "tests"].map(|name| root().join(name)) {
        for path in files(&folder).unwrap().into_keys().map(|path| folder.join(path)) {
            let Ok(text) = fs::read_to_string(&path) else { continue };
            read += 1;
            let outside = OUTSIDE.iter().map(|words| words.concat());
            found.extend(
                outside.filter(|words| text.contains(words)).map(|words| (path.clone(), words)),
            );
        }
    }
    assert!(read > 500, "{read}");
    assert!(found.is_empty(), "{found:?}");
}

#[tests::case]
fn ci_runs_the_readmes_command_of_every_test_in_a_clone_in_an_empty_directory() {
    let script = fs::read_to_string(root().join(".ci/run")).unwrap();
    let steps = [
        "place=$(mktemp -d)",
        "git clone ",
        "cd \"$place/clone\"",
        "unset CORPUS",
        "\nmake check-all\n",
    ];
    let found: Vec<Option<usize>> = steps.iter().map(|words| script.find(words)).collect();
    assert!(found.iter().all(Option::is_some) && found.is_sorted(), "{steps:?} at {found:?}");
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    for command in ["\nmake check ", "\nmake check-all "] {
        assert!(readme.contains(command), "the README's commands of tests");
    }
}
