//! The signs of a picture.

use nmgen_document::diagnostic::Severity;

use super::drawing;
use super::stack::{Brick, DIFFERS, Detail, Mark, Stack};
use super::stages::Picture;

/// A picture that explains the signs of the others.
pub(crate) fn legend() -> Vec<String> {
    let brick = |name: &str, property: &str| Brick {
        name: name.to_owned(),
        properties: vec![property.to_owned()],
        ..Brick::default()
    };
    let marked = |mark, property| Brick { mark: Some(mark), ..brick("interface", property) };
    let faulty = |fault, property| Brick { fault: Some(fault), ..brick("interface", property) };
    let detail =
        |text: String, other: Option<&str>| Detail { text, other: other.map(str::to_owned) };
    let upper = Brick {
        details: vec![
            detail("addresses and routes".to_owned(), None),
            detail(format!("192.0.2.10/24{DIFFERS}"), None),
            detail("192.0.2.1".to_owned(), Some("\u{2192} interface of the other stage")),
        ],
        base: Some(1),
        below: vec![1],
        ..brick("interface", "type, MAC address, MTU")
    };
    let bricks = vec![
        upper,
        Brick { below: vec![2], ..brick("controller", "a bond, a bridge, a VRF") },
        Brick { frame: Some(1), ..brick("port", "in one frame with it") },
        Brick { is_ghost: true, ..brick("interface", "referred to, not declared") },
        marked(Mark::New, "the other one lacks it"),
        marked(Mark::Gone, "the other one lacks it"),
        marked(Mark::Changed, "the other one differs"),
        faulty(Severity::Error, "a finding is at it"),
        faulty(Severity::Warning, "a finding is at it"),
    ];
    let rest = vec![format!("{} the hosts differ here", DIFFERS.trim())];
    let stack = Stack { title: "Legend".to_owned(), others: Vec::new(), stage: None, rest, bricks };
    drawing::stages(&Picture(vec![stack]))
}
