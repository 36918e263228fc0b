//! Insertions into a source text. Lines stay as they are, so that messages have the places of the original.

use std::ops::Range;

/// The text of one insertion, with the mutant to which it belongs if it is one's alone.
pub(crate) type Part = (String, Option<usize>);

/// Where an insertion goes among others at the same offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Side {
    /// The inner ones first.
    Close(std::cmp::Reverse<usize>),
    Middle,
    /// The outer ones first.
    Open(usize),
}

#[derive(Debug)]
struct Insertion {
    replaced: Range<usize>,
    side: Side,
    group: usize,
    parts: Vec<Part>,
}

/// The insertions of one file.
#[derive(Debug, Default)]
pub(crate) struct Edits {
    insertions: Vec<Insertion>,
    /// The mutants of each construct.
    groups: Vec<Vec<usize>>,
}

/// A file with its mutants, and where each is in it.
#[derive(Debug, Default)]
pub(crate) struct Switched {
    pub(crate) text: String,
    /// The smallest that contains an error has the mutants that cause it.
    pub(crate) ranges: Vec<(Range<usize>, Vec<usize>)>,
}

impl Switched {
    /// Puts a text in front.
    pub(crate) fn prepend(&mut self, text: &str) {
        self.text.insert_str(0, text);
        for (range, _) in &mut self.ranges {
            *range = range.start + text.len()..range.end + text.len();
        }
    }
}

impl Edits {
    /// A construct with these mutants; constructs come in the order of the source, outer ones first.
    pub(crate) fn group(&mut self, mutants: Vec<usize>) -> usize {
        self.groups.push(mutants);
        self.groups.len() - 1
    }

    pub(crate) fn open(&mut self, group: usize, at: usize, text: &str) {
        self.open_parts(group, at, vec![(text.to_owned(), None)]);
    }

    pub(crate) fn open_parts(&mut self, group: usize, at: usize, parts: Vec<Part>) {
        self.insertions.push(Insertion { replaced: at..at, side: Side::Open(group), group, parts });
    }

    pub(crate) fn replace(&mut self, group: usize, replaced: Range<usize>, text: &str) {
        let parts = vec![(text.to_owned(), None)];
        self.insertions.push(Insertion { replaced, side: Side::Middle, group, parts });
    }

    pub(crate) fn close(&mut self, group: usize, at: usize, parts: Vec<Part>) {
        let side = Side::Close(std::cmp::Reverse(group));
        self.insertions.push(Insertion { replaced: at..at, side, group, parts });
    }

    pub(crate) fn apply(mut self, source: &str) -> Switched {
        self.insertions.sort_by_key(|it| (it.replaced.start, it.side));
        let mut text = String::with_capacity(source.len() * 2);
        let mut ranges = Vec::new();
        let mut extents: Vec<Option<Range<usize>>> = vec![None; self.groups.len()];
        let mut done = 0;
        for insertion in self.insertions {
            text.push_str(&source[done..insertion.replaced.start]);
            done = insertion.replaced.end;
            let start = text.len();
            for (part, mutant) in insertion.parts {
                let start = text.len();
                text.push_str(&part);
                ranges.extend(mutant.map(|mutant| (start..text.len(), vec![mutant])));
            }
            let extent = extents[insertion.group].get_or_insert(start..start);
            extent.end = text.len();
        }
        text.push_str(&source[done..]);
        let extents = extents.into_iter().zip(self.groups);
        ranges.extend(extents.filter_map(|(extent, mutants)| Some((extent?, mutants))));
        Switched { text, ranges }
    }
}
