//! The place of a key that nmstate's refusal names.

use nmgen_document::{Node, Path};

use super::words::unknown_field;

/// Returns the place of the unknown field, if one mapping only has such a key: no question to nmstate is needed then.
pub(super) fn only(root: &Node<'_>, reason: &str) -> Option<Path> {
    let (field, _) = unknown_field(reason)?;
    if occurrences(field, root) == 1 { way_to(field, root) } else { None }
}

/// Counts the mappings that have the key.
fn occurrences(key: &str, node: &Node<'_>) -> usize {
    let own = usize::from(node.entry(key).is_some());
    own + node.below().map(|child| occurrences(key, child)).sum::<usize>()
}

/// Returns the way to the first such key.
fn way_to(key: &str, mut node: &Node<'_>) -> Option<Path> {
    let mut way = Path::default();
    while node.entry(key).is_none() {
        let mut below = node.below().enumerate();
        let (index, child) = below.find(|(_, child)| occurrences(key, child) > 0)?;
        way = match node.entries().get(index) {
            Some(entry) => way.key(&entry.key),
            None => way.index(index),
        };
        node = child;
    }
    Some(way.key(key))
}

#[cfg(test)]
mod tests {
    use nmgen_document::text::Source;

    use super::only;

    #[test]
    fn a_key_that_stands_once_is_found_and_another_is_not()
    -> Result<(), nmgen_document::diagnostic::Diagnostics> {
        let text = "interfaces: [{name: a, mut: 1}, {name: b, ipv4: {dchp: true}, mut: 2}]";
        let source = Source { name: "test".into(), text: text.into() };
        let root = nmgen_document::parse(&source)?.root;
        let place = |field: &str| {
            only(&root, &format!("unknown field `{field}`, expected one of `mtu`"))
                .map(|path| path.to_string())
        };
        assert_eq!(place("dchp").as_deref(), Some("interfaces[1].ipv4.dchp"));
        assert_eq!(place("mut"), None);
        assert_eq!(place("other"), None);
        Ok(())
    }
}
