//! Slips of the pen in keys and names.

const LONG: usize = 8;
/// Two letters, and two hyphens that may be missing.
const MOST: usize = 4;

/// True where one or two letters differ, in a long word, and '-' or '_' do not count. Names with other
/// numbers are names of others.
pub(crate) fn is_alike(found: &str, word: &str) -> bool {
    // Most words are told apart by their length, at no cost.
    if found.len().abs_diff(word.len()) > MOST {
        return false;
    }
    let digits = |text: &'_ str| text.bytes().filter(u8::is_ascii_digit).collect::<Vec<_>>();
    let plain = |text: &str| text.replace(['-', '_'], "").to_ascii_lowercase();
    let allowed = if word.len() < LONG { 1 } else { 2 };
    digits(found) == digits(word) && strsim::osa_distance(&plain(found), &plain(word)) <= allowed
}
