//! The examples of the README and of the guides are the programs' output.
//!
//! A `console` block is a command and what it prints. The README's input is in `examples/`, to which a block of it leads. In a
//! guide, a block marked `file=NAME` is a file that the commands behind it find; commands run in the order of the text, in one
//! directory. Commands behind `#` are for a node, where `dayone::bridge::life` follows them.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use tests::guide::blocks;
use tests::{
    program::{self, Exits as _},
    skip,
};

/// Where commands run, and where they find the programs.
struct Place {
    directory: tempfile::TempDir,
    path: OsString,
    /// Commands before each one.
    way: String,
}

impl Place {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let programs = directory.path().join(".programs");
        fs::create_dir(&programs).unwrap();
        for name in ["nmgen", "nmstatectl"] {
            symlink(program::nmgen(), programs.join(name)).unwrap();
        }
        symlink(program::dayone(), programs.join("dayone")).unwrap();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = [programs].into_iter().chain(std::env::split_paths(&path));
        Self { path: std::env::join_paths(path).unwrap(), directory, way: String::new() }
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Writes the files and runs the commands of a text; returns the number of commands.
    fn follow(&self, text: &str) -> usize {
        let mut commands = 0;
        for block in blocks(text).filter(|block| !block.is_of_node()) {
            if let Some(name) = block.file() {
                let file = self.path().join(name);
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                fs::write(file, format!("{}\n", block.text)).unwrap();
            } else if block.kind == "console" {
                let (command, expected) = block.text.split_once('\n').unwrap_or((block.text, ""));
                let command = command.strip_prefix("$ ").unwrap();
                assert_eq!(self.run(command).trim_end(), expected.trim_end(), "{command}");
                commands += 1;
            }
        }
        commands
    }

    fn run(&self, command: &str) -> String {
        let output = Command::new("sh")
            .args(["-c", &format!("{}{{ {command}; }} 2>&1", self.way)])
            .env("PATH", &self.path)
            .current_dir(self.path())
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    }
}

/// The README's lines that lead from a clone to where its commands work; cargo's part is done.
fn way_to_the_examples(readme: &str) -> String {
    let way =
        blocks(readme).find(|block| block.kind.is_empty() && block.text.contains("cd examples"));
    way.unwrap().text.replace("make nmgen", "test -x target/quick/nmgen").replace('\n', " && ")
}

#[tests::case]
fn every_command_of_the_readme_works_as_printed_in_a_clone() {
    let readme = fs::read_to_string(program::root().join("README.md")).unwrap();
    let makefile = fs::read_to_string(program::root().join("Makefile")).unwrap();
    assert!(makefile.contains("\nQUICK_BINARY := target/quick/nmgen\n"), "what make nmgen builds");
    let mut place = Place::new();
    // Commands may write: they run in a copy.
    let examples = program::root().join("examples");
    assert!(
        Command::new("cp").arg("-r").args([&examples, place.path()]).status().unwrap().success()
    );
    let quick = place.path().join("target/quick");
    fs::create_dir_all(&quick).unwrap();
    symlink(program::nmgen(), quick.join("nmgen")).unwrap();
    place.path = std::env::var_os("PATH").unwrap_or_default();
    place.way = way_to_the_examples(&readme) + " && ";
    assert_eq!(place.follow(&readme), 3);
    // The picture's command is within a line.
    let picture = readme.split('`').find(|piece| piece.starts_with("nmgen show --br-ex")).unwrap();
    assert!(place.run(picture).starts_with("<svg "), "{picture}");
}

#[tests::case]
fn without_arguments_the_program_says_three_things_to_try() {
    let output = Command::new(program::nmgen()).output().unwrap();
    assert_eq!((output.status.code(), &*output.stdout), (Some(2), &b""[..]));
    let told = output.err();
    let commands: Vec<&str> =
        told.lines().filter_map(|line| line.strip_prefix("  nmgen ")).collect();
    assert_eq!(commands.len(), 3, "{told}");
    assert!(told.lines().count() <= 10, "{told}");
    let place = Place::new();
    let input = program::root().join("examples/cluster/install-config.yaml");
    fs::copy(input, place.path().join("install-config.yaml")).unwrap();
    for command in commands {
        let (command, _) = command.split_once("  ").unwrap_or((command, ""));
        let status = place.run(&format!("nmgen {command} >&2 && echo done"));
        assert!(status.ends_with("done\n"), "{command}: {status}");
    }
}

#[tests::case]
fn every_guide_can_be_followed() {
    skip::unless_installed("cpio", "cpio");
    let guides = program::root().join("nmgen/doc/guides");
    let mut found = 0;
    for guide in fs::read_dir(guides).unwrap() {
        let guide = guide.unwrap();
        let text = fs::read_to_string(guide.path()).unwrap();
        assert!(Place::new().follow(&text) > 0);
        if blocks(&text).any(|block| block.is_of_node()) {
            let name = guide.file_name().to_string_lossy().into_owned();
            assert!(
                ["migration.md", "waves.md"].contains(&&*name),
                "no case follows {name} on a node"
            );
        }
        found += 1;
    }
    assert_eq!(found, 13);
}
