//! The form of the source files.

use std::{fs, path::PathBuf};

use tests::program::root;
use tests::tree::files;

/// rustfmt keeps code within 100; comments may be wider.
const WIDTH: usize = 132;

fn sources() -> Vec<PathBuf> {
    let members = ["nmgen", "agent", "packaging", "tests"].map(|member| root().join(member));
    let all = members.iter().flat_map(|member| {
        files(member).unwrap().into_keys().map(|path| member.join(path)).collect::<Vec<_>>()
    });
    let found: Vec<_> =
        all.filter(|path| path.extension().is_some_and(|extension| extension == "rs")).collect();
    assert!(found.len() > 200, "{found:?}");
    found
}

#[tests::case]
fn modules_are_a_file_beside_their_folder() {
    let others: Vec<_> = sources().into_iter().filter(|path| path.ends_with("mod.rs")).collect();
    assert!(others.is_empty(), "{others:?}");
}

#[tests::case]
fn comments_are_not_too_wide() {
    let mut wide = Vec::new();
    for path in sources() {
        let text = fs::read_to_string(&path).unwrap();
        for (number, line) in text.lines().enumerate() {
            if line.trim_start().starts_with("//") && line.chars().count() > WIDTH {
                wide.push(format!("{}:{}", path.display(), number + 1));
            }
        }
    }
    assert!(wide.is_empty(), "{wide:?}");
}
