//! The README's examples are the programs' output.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::os::unix::fs::symlink;
use std::process::Command;

use tests::program;

#[test]
fn every_console_block_shows_what_its_command_prints() {
    let readme = std::fs::read_to_string(program::root().join("README.md")).unwrap();
    let programs = tempfile::tempdir().unwrap();
    for name in ["nmgen", "nmstatectl"] {
        symlink(program::nmgen(), programs.path().join(name)).unwrap();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = [programs.path().to_owned()].into_iter().chain(std::env::split_paths(&path));
    let path = std::env::join_paths(path).unwrap();
    // Commands may write: they run in a copy.
    let place = tempfile::tempdir().unwrap();
    let fixtures = program::root().join("tests/fixtures/readme/.");
    assert!(
        Command::new("cp").arg("-r").args([&fixtures, place.path()]).status().unwrap().success()
    );
    let mut blocks = 0;
    for block in readme.split("```console\n").skip(1) {
        let (block, _) = block.split_once("```").unwrap();
        let (command, expected) = block.split_once('\n').unwrap();
        let command = command.strip_prefix("$ ").unwrap();
        let output = Command::new("sh")
            .args(["-c", &format!("{{ {command}; }} 2>&1")])
            .env("PATH", &path)
            .current_dir(place.path())
            .output()
            .unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), expected, "{command}");
        blocks += 1;
    }
    assert_eq!(blocks, 4);
}
