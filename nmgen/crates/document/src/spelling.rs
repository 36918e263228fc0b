//! Lists of words, and misspellings of keys and names.

const LONG: usize = 8;
/// Two letters, and two missing hyphens.
const MOST: usize = 4;

/// True for a word of a list. Each list is one text: the ramdisk's program needs 40 bytes for each item of a list.
pub fn is_among(word: &str, list: &str) -> bool {
    list.split(' ').any(|known| known == word)
}

/// True when one letter differs, or two in a long word, ignoring '-' and '_'. Names with different
/// numbers are different names.
pub fn is_alike(found: &str, word: &str) -> bool {
    // Most words differ in length, which is cheap to compare.
    if found.len().abs_diff(word.len()) > MOST {
        return false;
    }
    let digits = |text: &'_ str| text.bytes().filter(u8::is_ascii_digit).collect::<Vec<_>>();
    let plain = |text: &str| text.replace(['-', '_'], "").to_ascii_lowercase();
    let allowed = if word.len() < LONG { 1 } else { 2 };
    digits(found) == digits(word) && strsim::osa_distance(&plain(found), &plain(word)) <= allowed
}
