//! The keys whose values are secrets.

/// The words in a secret's place.
pub const HIDDEN: &str = "<hidden>";

/// The fields below an interface that nmstate hides in output; a test compares them with the crate's own.
pub const FIELDS: &[[&str; 2]] = &[
    ["802.1x", "password"],
    ["802.1x", "private-key-password"],
    ["libreswan", "psk"],
    ["macsec", "mka-cak"],
];

/// Parts of other keys whose values are secrets: those of misplaced fields, and of a cluster's manifests.
const PARTS: &[&str] = &["password", "passphrase", "passwd", "pullsecret"];
const WORDS: &[&str] = &["psk", "cak"];

/// True for a key whose value is a secret, misspelt or not.
pub fn is_key(key: &str) -> bool {
    const LONGEST: usize = 64;
    if !(2..=LONGEST).contains(&key.len()) {
        return false;
    }
    let plain = |text: &str| text.replace(['-', '_', '.', ' '], "").to_ascii_lowercase();
    let found = plain(key);
    let is_alike = |word: &str| {
        let word = plain(word);
        let allowed = if word.len() < 8 { 1 } else { 2 };
        found.len().abs_diff(word.len()) <= allowed
            && strsim::osa_distance(&found, &word) <= allowed
    };
    PARTS.iter().any(|part| found.contains(part))
        || key.split(['-', '_', '.', ' ']).any(|it| WORDS.contains(&&*it.to_ascii_lowercase()))
        || FIELDS.iter().any(|[_, name]| is_alike(name))
}
