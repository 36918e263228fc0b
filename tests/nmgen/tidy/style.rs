//! The form of the source files.

use std::{fs, path::PathBuf};

use tests::program::root;
use tests::tidy::guards::guards_with_let;
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

/// rustc 1.95 has them, and the stated minimum of Rust does not; neither cargo nor clippy looks.
#[tests::case]
fn no_guard_of_a_match_has_a_let() {
    for path in sources() {
        let found = guards_with_let(&fs::read_to_string(&path).unwrap()).unwrap();
        assert!(found.is_empty(), "{}: {found:?}", path.display());
    }
}

#[tests::case]
fn a_guard_with_a_let_is_found_and_other_conditions_are_not() {
    let found = |text: &str| guards_with_let(text).unwrap();
    for arm in [
        "Some(a) if let Some(b) = f(a) => b,",
        "Foo { a } if a > 1 && let Some(b) = g(|x| { x }) => b,",
        "_ if let [a, ..] = list => { if let Some(b) = a { b } }",
    ] {
        assert_eq!(found(&format!("fn f() {{ match x {{ {arm} }} }}")).len(), 1, "{arm}");
    }
    assert_eq!(found("fn f() -> bool { matches!(x, Some(a) if let Some(_) = a) }").len(), 1);
    for other in [
        "match x { Some(a) if a > 1 => if let Some(b) = a { b } else { c }, }",
        "if let Some(a) = x && let Some(b) = a { b }",
        "let y = matches!(x, Some(a) if a > 1); if let Some(a) = y {}",
        "while let Some(a) = x { let b = if a { 1 } else { 2 }; }",
        "match x { A { a } => {} B => { if let C = b { 1 } else { 2 } } }",
    ] {
        assert_eq!(found(&format!("fn f() {{ {other} }}")), Vec::<String>::new(), "{other}");
    }
}
