//! The source tree: no circular imports, a true map in ARCHITECTURE.md, one style.

mod advisories;
mod alone;
mod cases;
mod dependencies;
mod links;
mod map;
mod style;

use std::collections::BTreeMap;
use std::path::Path;

use tests::tidy::imports::{Circle, Imports, read};

/// The largest allowed circle of files: a type and its two halves.
const MOST: usize = 3;

fn imports_of(crate_directory: &str) -> Imports {
    read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(crate_directory).join("src"))
        .unwrap()
}

fn no_large_circle(imports: &Imports) {
    let large = |circle: &Circle| circle.members.len() > MOST;
    assert_eq!(imports.circles_of_files().into_iter().find(large), None);
}

#[tests::case]
fn the_agent_has_no_circles_of_imports() {
    let imports = imports_of("agent");
    assert_eq!(imports.circles_of_folders(), []);
    no_large_circle(&imports);
    assert!(imports.of("network/real.rs").contains(&"network/clients.rs"));
}

#[tests::case]
fn nmgen_has_no_circles_of_imports() {
    for directory in ["nmgen", "nmgen/boot", "nmgen/crates/document", "nmgen/crates/core"] {
        no_large_circle(&imports_of(directory));
    }
    let fleet = imports_of("nmgen/crates/fleet");
    no_large_circle(&fleet);
    assert!(fleet.of("derive/wanted.rs").contains(&"missing_host.rs"));
}

fn imports(files: &[(&str, &str)]) -> Imports {
    let text = |(path, text): &(&str, &str)| ((*path).to_owned(), (*text).to_owned());
    Imports::new(&files.iter().map(text).collect::<BTreeMap<_, _>>()).unwrap()
}

fn members(circles: &[Circle]) -> Vec<Vec<&str>> {
    circles.iter().map(|circle| circle.members.iter().map(String::as_str).collect()).collect()
}

#[tests::case]
fn a_circle_of_files_is_found_through_every_form_of_an_import() {
    let found = imports(&[
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "mod x; mod y; pub use x::X;"),
        ("a/x.rs", "use super::y::{self, Y as Other};"),
        ("a/y.rs", "pub(crate) struct Y; fn f() -> u8 { crate::b::g() }"),
        ("b.rs", "#[path = \"elsewhere.rs\"] mod c; fn h() { c::k() }"),
        ("elsewhere.rs", "use crate::{a::x::X, std};"),
    ]);
    assert_eq!(members(&found.circles_of_files()), [["a/x.rs", "a/y.rs", "b.rs", "elsewhere.rs"]]);
    assert_eq!(found.circles_of_folders()[0].members, ["a", "b"]);
    let between = [("a/y.rs", "b.rs"), ("elsewhere.rs", "a/x.rs")];
    let between = between.map(|(from, to)| (from.to_owned(), to.to_owned()));
    assert_eq!(found.circles_of_folders()[0].imports, between);
}

#[tests::case]
fn comments_strings_tests_and_inner_folders_make_no_circle() {
    let found = imports(&[
        ("lib.rs", "mod a; mod b;"),
        (
            "a.rs",
            "//! [`crate::b::B`]\nmod inner; // use crate::b;\nfn f() -> &'static str { \"crate::b::B\" }",
        ),
        ("a/inner.rs", "use super::f; #[cfg(test)] mod tests { use crate::b::B; }"),
        ("a/inner/c.rs", "#[cfg(test)] mod tests;"),
        ("a/inner/c/tests.rs", "mod deeper; use crate::b;"),
        ("a/inner/c/tests/deeper.rs", "use super::super; use crate::b;"),
        ("b.rs", "use crate::a::f; #[cfg(test)] #[path = \"b_tests.rs\"] mod tests;"),
        ("b_tests.rs", "use crate::a::inner;"),
    ]);
    assert_eq!(found.circles_of_files(), []);
    assert_eq!(found.circles_of_folders(), []);
    assert_eq!(found.of("b.rs"), ["a.rs"]);
}
