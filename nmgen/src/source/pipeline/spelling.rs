//! Slips of the pen in keys and words.

/// True for a key that is probably meant to be `key`, and is not it in other letters only.
pub(super) fn is_slip(found: &str, key: &str) -> bool {
    !found.eq_ignore_ascii_case(key) && is_alike(found, key)
}

/// True where one or two letters differ, in a long word, and '-' or '_' do not count.
pub(super) fn is_alike(found: &str, word: &str) -> bool {
    let plain = |text: &str| text.replace(['-', '_'], "").to_ascii_lowercase();
    let allowed = if word.len() < LONG { 1 } else { 2 };
    // What is much longer is another word, and costs time.
    found.len() <= word.len() + LONG && strsim::osa_distance(&plain(found), &plain(word)) <= allowed
}

const LONG: usize = 8;
