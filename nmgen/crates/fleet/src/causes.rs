//! One mistake, one finding: what follows from another finding of the same document is not told.
//!
//! A finding is a consequence of an error if it goes when the error's value is mended. The document is changed at that one place,
//! as the error's remedy says, else without the value, and is judged again.

mod change;

use nmgen_core::check::Purpose;
use nmgen_core::convert;
use nmgen_core::source::{Host, HostNetwork};
use nmgen_document::Document;
use nmgen_document::diagnostic::{Diagnostic, Diagnostics, Place};
use nmgen_document::text::{Position, Span};

use self::change::{Way, places, suggestion, ways};
use crate::check::document;

/// Values of documents to judge again for one host, for each finding: a mistake in each of a thousand interfaces has no need to be
/// explained, nor a file that is no NMState at all.
const MOST_VALUES: usize = 400_000;

/// The findings of a host's document without consequences of its errors.
pub(crate) fn only(host: &Host, purpose: Purpose, mut found: Diagnostics) -> Diagnostics {
    let Some(document) = host.document() else { return found };
    if found.len() < 2 || !found.has_errors() {
        return found;
    }
    let places = places(document);
    // nmstate is asked about each finding's place again.
    let cost = (places.len() + 1) * found.len();
    let mut left = MOST_VALUES / cost;
    // A suggestion is the better proof of a mistake.
    let mut causes: Vec<Diagnostic> = found.iter().filter(|it| it.is_error()).cloned().collect();
    causes.sort_by_key(|cause| suggestion(cause).is_none());
    for cause in causes {
        if !is_in(&cause, &found) {
            continue;
        }
        let mut best: Option<Diagnostics> = None;
        for way in ways(&cause, &document.root, &places) {
            if left == 0 || found.len() < 2 {
                return found;
            }
            left -= 1;
            let Some(after) = judge(host, document, &way, purpose) else { continue };
            let is_new = |it: &Diagnostic| way.is_bold() || it.is_error();
            if is_in(&cause, &after) || after.iter().any(|it| is_new(it) && !is_in(it, &found)) {
                continue;
            }
            let is_small = way.is_small(&document.root);
            let is_inside = |it: &Diagnostic| {
                // Several findings about one value are one mistake.
                if is_small && it.place == cause.place {
                    return false;
                }
                let mut at = places.iter().filter(|(_, place)| it.place == *place).peekable();
                at.peek().is_some() && at.all(|(at, _)| way.takes_away(at.path()))
            };
            let is_left =
                |it: &&Diagnostic| is_same(it, &cause) || is_in(it, &after) || is_inside(it);
            let rest: Diagnostics = found.iter().filter(is_left).cloned().collect();
            if best.as_ref().is_none_or(|best| rest.len() < best.len()) {
                best = Some(rest);
            }
            if way.is_meant {
                break;
            }
        }
        found = best.unwrap_or(found);
    }
    found
}

/// Drops warnings of comparisons, the findings behind the first `known`, about documents that have errors: a mistake in a document
/// makes it differ from others.
pub(crate) fn between(hosts: &[Host], has_errors: &[bool], known: usize, found: &mut Diagnostics) {
    let faulty = hosts.iter().zip(has_errors).filter(|(_, has_errors)| **has_errors);
    let ends = |host: &Host| {
        let document = host.document()?;
        let Span { start, end } = document.root.span;
        let at = |position: Position| document.place(Span { start: position, end: position });
        Some((at(start), at(end)))
    };
    let ranges: Vec<(Place, Place)> = faulty.filter_map(|(host, _)| ends(host)).collect();
    let line = |place: &Place| place.position.as_ref().map(|at| at.start.line);
    let is_within = |place: &Place, (first, last): &(Place, Place)| {
        place.file == first.file && (line(first)..=line(last)).contains(&line(place))
    };
    let mut index = 0;
    found.retain(|it| {
        index += 1;
        let is_faulty = || ranges.iter().any(|range| is_within(&it.place, range));
        index <= known || it.is_error() || !is_faulty()
    });
}

fn is_same(one: &Diagnostic, other: &Diagnostic) -> bool {
    one.rule == other.rule && one.place == other.place
}

fn is_in(wanted: &Diagnostic, found: &Diagnostics) -> bool {
    found.iter().any(|it| is_same(it, wanted))
}

/// The findings of the changed document; `None` if it is the same one.
fn judge(
    host: &Host,
    document: &Document<'static>,
    way: &Way,
    purpose: Purpose,
) -> Option<Diagnostics> {
    let mut document = document.clone();
    way.apply(&mut document.root).then(|| {
        let network = HostNetwork::Written(document);
        let host = Host { network, ..Host::new(host.name.clone(), host.place.clone()) };
        let mut found = convert::convert(&host, purpose).diagnostics;
        document::check(&host, &mut found);
        found
    })
}
