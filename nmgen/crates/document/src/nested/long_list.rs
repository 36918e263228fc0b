//! A long text that ends in a list, as an agent-config does in its hosts, parsed on all cores: it is cut between two items.
//!
//! Only a text in which every line can be understood by itself is cut. Anything else, and any fault, is left to the parser of
//! the whole.

use std::thread;

use crate::diagnostic::Diagnostics;
use crate::dialect::is_ordinary;
use crate::parse::{self, parse_tree};
use crate::parsed::Document;
use crate::text::lines::Lines;
use crate::tree::{Node, Value};

/// A shorter text is parsed before a thread would start.
const LONG: usize = 256 << 10;

/// Parses any document from the text of `lines`, as [`parse_tree`] does.
pub(super) fn parse(text: &str, lines: Lines) -> Result<Document<'_>, Diagnostics> {
    // The number of cores costs two dozen system calls, which a short text has no use for.
    let threads = match text.len() >= LONG {
        true => thread::available_parallelism().map_or(1, usize::from),
        false => 1,
    };
    match (threads > 1).then(|| in_parts(text, &lines, threads)).flatten() {
        Some(root) => Ok(Document { lines, is_part: false, root }),
        None => parse_tree(text, lines),
    }
}

/// The root of a text without faults, parsed in at most so many parts; `None` for a text that cannot be cut.
fn in_parts<'t>(text: &'t str, lines: &Lines, most: usize) -> Option<Node<'t>> {
    let item = first_item(text)?;
    let parts = cut(text, item, most);
    let [(first, _), rest @ ..] = &*parts else { return None };
    // Where no thread may be started, the whole is parsed in this one.
    let (first, rest) = thread::scope(|scope| {
        let parse = |(text, above): (&'t str, u32), levels_above: usize| {
            // A file may begin with the marker.
            let body = text.strip_prefix("---\n").unwrap_or(text);
            let is_simple = body.lines().all(is_simple);
            is_simple.then(|| parse::part(text, lines, above, levels_above)).flatten()
        };
        // An item is two levels below the root, but one below its part's.
        let start = |part: &(&'t str, u32)| {
            let part = *part;
            thread::Builder::new().spawn_scoped(scope, move || parse(part, 1)).ok()
        };
        let rest: Vec<_> = rest.iter().map(start).collect::<Option<_>>()?;
        let first = parse((first, 0), 0);
        let rest: Option<Vec<_>> =
            rest.into_iter().map(|handle| handle.join().ok().flatten()).collect();
        Some((first?, rest?))
    })?;
    let (mut root, mut values) = first;
    let list = last_list(&mut root, lines, item)?;
    for (more, count) in rest {
        values += count;
        let (Value::Sequence(items), Value::Sequence(more_items)) = (&mut list.value, more.value)
        else {
            return None;
        };
        items.extend(more_items);
    }
    (values <= lines.budget().most() && lines.budget().spend(values)).then_some(root)
}

/// The indentation and the dash of the first item of a list.
fn first_item(text: &str) -> Option<&str> {
    text.lines().find_map(|line| {
        let indentation = line.len() - line.trim_start_matches(' ').len();
        line.get(..indentation + 2).filter(|item| item.ends_with("- "))
    })
}

/// Parts of about equal length, each but the first beginning with such an item; and the number of lines above each.
fn cut<'t>(text: &'t str, item: &str, most: usize) -> Vec<(&'t str, u32)> {
    let mark = format!("\n{item}");
    let (mut parts, mut start, mut above) = (Vec::new(), 0, 0);
    for part in 1..most {
        let from = (text.len() / most * part).max(start);
        let Some(found) = memchr::memmem::find(&text.as_bytes()[from..], mark.as_bytes()) else {
            break;
        };
        let end = from + found + 1;
        parts.push((&text[start..end], above));
        above += memchr::memchr_iter(b'\n', &text.as_bytes()[start..end]).count() as u32;
        start = end;
    }
    parts.push((&text[start..], above));
    parts
}

/// True for a line that neither belongs to a scalar of several lines nor begins one, unless it is indented further than the
/// scalar's key or item.
fn is_simple(line: &str) -> bool {
    // A lone carriage return is a line break too.
    let is_comment = line.trim_start_matches(' ').starts_with('#') && !line.contains('\r');
    is_comment || is_ordinary(line) && closes_its_quotes(line)
}

fn closes_its_quotes(line: &str) -> bool {
    let Some(at) = line.find(['\'', '"']) else { return true };
    let (before, quoted) = line.split_at(at);
    let (quote, rest) = quoted.split_at(1);
    (before.ends_with(": ") || before.ends_with("- "))
        && rest.trim_end().strip_suffix(quote).is_some_and(|inner| !inner.contains(quote))
}

/// The value that a text ends in, if it is a list of such items.
fn last_list<'n, 't>(
    root: &'n mut Node<'t>,
    lines: &Lines,
    item: &str,
) -> Option<&'n mut Node<'t>> {
    let Value::Mapping(entries) = &mut root.value else { return None };
    let last = entries.last_mut().map(|entry| &mut entry.node)?;
    let is_list = matches!(last.value, Value::Sequence(_));
    (is_list && lines.line(last.span.start.line).starts_with(item)).then_some(last)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use proptest::prelude::*;

    use super::{in_parts, parse_tree};
    use crate::text::Source;
    use crate::text::lines::Lines;
    use crate::tree::{Node, Value};

    /// Without the ends of lists and mappings, which nothing uses.
    fn without_ends(mut node: Node<'_>) -> Node<'_> {
        match &mut node.value {
            Value::Scalar { .. } => return node,
            Value::Sequence(items) => {
                *items = std::mem::take(items).into_iter().map(without_ends).collect();
            }
            Value::Mapping(entries) => {
                for entry in entries {
                    entry.node = without_ends(entry.node.take());
                }
            }
        }
        node.span.end = node.span.start;
        node
    }

    /// Whether the text was cut; the trees are then the same.
    fn is_cut(text: &str, parts: usize) -> bool {
        let source = Source { name: "test".into(), text: text.into() };
        let whole = parse_tree(text, Lines::new(&source)).map(|document| document.root);
        let in_parts = in_parts(text, &Lines::new(&source), parts);
        let is_cut = in_parts.is_some();
        if is_cut {
            assert_eq!(in_parts.map(without_ends), whole.ok().map(without_ends), "{text}");
        }
        is_cut
    }

    #[test]
    fn texts_whose_lines_stand_for_themselves_are_cut() {
        for text in [
            "a: 1\nb:\n- x\n- y\n- z\n",
            "---\n# it's a <comment>\na: 1\nb:\n  - x: 1\n    y: '2'\n\n  # two\n  - x: \"it's\"\n    y:\n    - 3\n  - z\n",
            "a: 1\r\nb:\r\n- x: 1\r\n- y\r\n",
            "ntp:\n- x\nb:\n- c:\n  - d\n- c: e: f\n".replace(": e: f", ": e").as_str(),
        ] {
            assert!(is_cut(text, 2), "{text}");
        }
        for text in [
            "- x\n- y\n",
            "b:\n- x\n- y\nc: 1\n",
            "b:\n  - x\n  - y\nc: 1\n",
            "b:\n- |\n- y\n",
            "b: 'x\n\n- y\n- z'\n",
            "b:\n- x: 1\n  x: 2\n- y\n",
            "b: &b\n- x\n- *b\n",
            "b: {c:\n- x\n- y\n}\n",
            "b:\n- x\n---\nb:\n- y\n",
            "b:\n - x\n- y\n",
            "b:\n- x\n# \r  y: |\n- y\n",
            "a: 1\n",
        ] {
            assert!(!is_cut(text, 2), "{text}");
        }
    }

    const LINE: &str = r#"( {0,4}(- ){0,2}([ab]: ?)?([ab]|1|'a'|"b"|'|#|- a)?\n){1,12}"#;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn parts_are_what_the_whole_is(text in LINE, parts in 2..5_usize) {
            is_cut(&format!("a:\n- b\n{text}"), parts);
            is_cut(&text, parts);
        }
    }
}
