//! Patterns of the shell, glob(7), for names of hosts and of interfaces.

#[derive(Debug)]
enum Part {
    AnyText,
    AnyCharacter,
    Character(char),
    /// Characters and ranges, `a-c`.
    Set {
        members: Vec<char>,
        is_negated: bool,
    },
}

impl Part {
    fn has(&self, character: char) -> bool {
        match self {
            Self::AnyText | Self::AnyCharacter => true,
            Self::Character(wanted) => *wanted == character,
            Self::Set { members, is_negated } => is_member(members, character) != *is_negated,
        }
    }
}

/// Whether the whole text fits: `*` is any text, `?` any character, `[a-c]` one of a set, `[!a-c]` one of no set, and `\` takes
/// the meaning of the next character away. Named classes as `[:digit:]` are not known.
///
/// The time is the product of both lengths, whatever the pattern: it may be a stranger's.
pub fn fits(pattern: &str, text: &str) -> bool {
    let text: Vec<char> = text.chars().collect();
    // The characters of the text that the pattern so far can end before.
    let mut ends = vec![false; text.len() + 1];
    ends[0] = true;
    for part in parts(pattern) {
        let mut next = vec![false; text.len() + 1];
        for at in 0..=text.len() {
            next[at] = match part {
                Part::AnyText => ends[at] || (at > 0 && next[at - 1]),
                Part::AnyCharacter | Part::Character(_) | Part::Set { .. } => {
                    at > 0 && ends[at - 1] && part.has(text[at - 1])
                }
            };
        }
        ends = next;
    }
    ends[text.len()]
}

fn parts(pattern: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    // Behind a bracket that nothing closes no other one is closed.
    let mut is_closed = true;
    let mut characters = pattern.chars();
    while let Some(character) = characters.next() {
        parts.push(match character {
            '*' => Part::AnyText,
            '?' => Part::AnyCharacter,
            '\\' => Part::Character(characters.next().unwrap_or('\\')),
            '[' if is_closed => match set(characters.as_str()) {
                Some((set, rest)) => {
                    characters = rest.chars();
                    set
                }
                None => {
                    is_closed = false;
                    Part::Character('[')
                }
            },
            other => Part::Character(other),
        });
    }
    parts
}

/// The set that begins behind a bracket, and the rest of the pattern. A closing bracket at its start is a member.
fn set(text: &str) -> Option<(Part, &str)> {
    let members = text.strip_prefix(['!', '^']);
    let (is_negated, text) = (members.is_some(), members.unwrap_or(text));
    let first = text.chars().next()?;
    let end = first.len_utf8() + text[first.len_utf8()..].find(']')?;
    let members = text[..end].chars().collect();
    Some((Part::Set { members, is_negated }, &text[end + 1..]))
}

fn is_member(mut members: &[char], character: char) -> bool {
    loop {
        members = match members {
            [first, '-', last, ..] if (*first..=*last).contains(&character) => return true,
            [_, '-', _, rest @ ..] => rest,
            [member, ..] if *member == character => return true,
            [_, rest @ ..] => rest,
            [] => return false,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn a_pattern_fits_as_in_a_shell() {
        for (pattern, text, expected) in [
            ("worker-*", "worker-0", true),
            ("worker-*", "worker-", true),
            ("worker-?", "worker-10", false),
            ("*-0", "master-0", true),
            ("*", "", true),
            ("w*r-*0", "worker-10", true),
            ("worker-0", "worker-01", false),
            ("", "worker-0", false),
            ("worker-[0-2]", "worker-2", true),
            ("worker-[0-2]", "worker-3", false),
            ("worker-[0-24]*", "worker-41", true),
            ("worker-[!0-2]", "worker-2", false),
            ("worker-[^0-2]", "worker-3", true),
            ("worker-[2-]", "worker--", true),
            ("worker-[-2]", "worker-1", false),
            ("w[]o]rker", "worker", true),
            ("w[!]o]rker", "worker", false),
            ("worker-[0", "worker-[0", true),
            ("worker-[]", "worker-[]", true),
            ("worker-\\*", "worker-*", true),
            ("worker-\\*", "worker-0", false),
            ("worker\\", "worker\\", true),
            ("wörk[é-ü]r", "wörkër", true),
        ] {
            assert_eq!(fits(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn a_pattern_of_many_parts_has_its_answer() {
        assert!(!fits(&"*?".repeat(2000), &"a".repeat(1000)));
        assert!(!fits(&format!("{}b", "*".repeat(2000)), &"a".repeat(1000)));
        assert!(fits(&"[".repeat(2000), &"[".repeat(2000)));
    }
}
