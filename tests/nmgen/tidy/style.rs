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

/// Words before which a reader does not know yet what a comment is about.
const LATE: [&str; 6] = ["What", "Of", "Those", "The same", "That of", "Whose"];

/// The first line of each paragraph counts: later ones may begin anywhere in a sentence.
#[tests::case]
fn comments_begin_with_the_noun() {
    let is_late = |comment: &str| {
        let mut behind = LATE.iter().filter_map(|words| comment.strip_prefix(words));
        behind.any(|rest| !rest.starts_with(char::is_alphanumeric))
    };
    let mut found = Vec::new();
    for path in sources() {
        let text = fs::read_to_string(&path).unwrap();
        let mut is_first = true;
        for (number, line) in text.lines().enumerate() {
            let comment = line.trim_start().strip_prefix("//");
            let comment = comment.map(|rest| rest.trim_start_matches(['/', '!']).trim());
            if is_first && comment.is_some_and(is_late) {
                found.push(format!("{}:{}", path.display(), number + 1));
            }
            is_first = comment.is_none_or(str::is_empty);
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}
