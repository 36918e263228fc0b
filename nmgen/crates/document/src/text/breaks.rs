//! What ends a line: CR LF, LF, or CR alone (YAML 1.2, 5.4).

use super::Position;

/// The lines of a text; a line break at its end begins no further line.
pub fn split(text: &str) -> impl Iterator<Item = &str> {
    lines(text).map(without_break)
}

/// [`split`], with the line breaks.
pub(super) fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut start = 0;
    let ends = ends(text).chain(std::iter::once(text.len()));
    let lines = ends.map(move |end| &text[std::mem::replace(&mut start, end)..end]);
    lines.filter(|line| !line.is_empty())
}

/// The position of a byte of a text.
pub fn position(text: &str, offset: usize) -> Option<Position> {
    let before = ends(text).take_while(|end| *end <= offset);
    let (line, start) = before.fold((1, 0), |(line, _), end| (line + 1, end));
    Some(Position { line, column: text.get(start..offset)?.chars().count() as u32 + 1 })
}

pub(super) fn without_break(line: &str) -> &str {
    line.trim_end_matches(['\n', '\r'])
}

/// The offset behind each line break.
pub(crate) fn ends(text: &str) -> impl Iterator<Item = usize> {
    let bytes = text.as_bytes();
    let is_break = |at: &usize| bytes[*at] == b'\n' || bytes.get(at + 1) != Some(&b'\n');
    memchr::memchr2_iter(b'\n', b'\r', bytes).filter(is_break).map(|at| at + 1)
}
