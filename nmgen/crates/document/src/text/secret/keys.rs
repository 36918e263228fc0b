//! The keys whose values are secrets, in any of the forms in which programs write a key: `api-key`, `API_KEY`, `apiKey`.

use std::collections::BTreeSet;
use std::net::Ipv6Addr;
use std::sync::Mutex;

/// The words in a secret's place.
pub const HIDDEN: &str = "<hidden>";

/// The fields below an interface that nmstate hides in output; a test compares them with the crate's own.
pub const FIELDS: &[[&str; 2]] = &[
    ["802.1x", "password"],
    ["802.1x", "private-key-password"],
    ["libreswan", "psk"],
    ["macsec", "mka-cak"],
];

/// The section of a profile that has nothing else.
pub(super) const VPN_SECRETS: &str = "vpn-secrets";

/// The section of a profile whose private key is never a path.
pub(super) const WIREGUARD: &str = "wireguard";

/// Parts of keys whose values are secrets wherever they stand.
const PASSWORDS: &str = "password passphrase passwd pullsecret";

/// Words of such keys.
const SHARED_KEYS: &str = "psk cak";

/// Parts, words and whole keys of other programs. A value is hidden at its own place; elsewhere if nothing else has the value.
const PARTS: &str =
    "apikey accesskey secretkey authkey privatekey sharedkey keyfile keydata vpnsecrets";
const WORDS: &str = "secret token authorization";
const WHOLE: &str = "auth pass pin pw pwd";

/// Last words of keys that are about a secret and have none: `password-flags`, `secretName`, `pullSecretRef`.
const ABOUT: &str = "flags name ref type";

/// The most keys of each answer of [`is_key`] that are kept.
const MOST_ANSWERS: usize = 4_096;

/// The keys that are none of a secret, and those that are: a document has the same few keys many times.
static ANSWERS: Mutex<[BTreeSet<String>; 2]> = Mutex::new([BTreeSet::new(), BTreeSet::new()]);

/// True for a key whose value is a secret, misspelt or not, unless the value [is public](is_public).
pub fn is_key(key: &str) -> bool {
    if !is_of_length(key) {
        return false;
    }
    let answer = || is_password(key) || is_of_others(key);
    // While another thread asks, an answer costs less than the wait.
    let Ok(mut answers) = ANSWERS.try_lock() else { return answer() };
    if let Some(answer) = answers.iter().position(|keys| keys.contains(key)) {
        return answer == 1;
    }
    let answer = answer();
    let keys = &mut answers[usize::from(answer)];
    if keys.len() >= MOST_ANSWERS {
        keys.clear();
    }
    keys.insert(key.to_owned());
    answer
}

/// True for a key and its value that is a secret.
pub fn is_secret(key: &str, value: &str) -> bool {
    is_key(key) && !is_public(key, value)
}

/// True for a value that is no secret below a secret's key: the path of a private key, the token of an IPv6 address, a switch.
pub fn is_public(key: &str, value: &str) -> bool {
    if is_password(key) {
        return false;
    }
    let key = plain(key);
    let is_path = ["/", "file:/", "pkcs11:"].iter().any(|start| value.starts_with(start));
    let is_place = is_path && !is_key_of_wireguard(value);
    matches!(value, "true" | "false" | "null" | "~")
        || ["privatekey", "keyfile"].iter().any(|part| key.contains(part)) && is_place
        || key.ends_with("token") && value.parse::<Ipv6Addr>().is_ok()
}

/// True for a word of a comment behind which a secret stands: `# psk abc`.
pub(super) fn is_in_prose(word: &str) -> bool {
    let word = plain(word);
    let is_one = |list: &str| list.split(' ').any(|known| known == word);
    is_one(SHARED_KEYS)
        || is_one(WORDS)
        || PASSWORDS.split(' ').any(|part| word.contains(part))
        || PARTS.split(' ').any(|part| part.ends_with("key") && word.contains(part))
}

/// True for two such words: `# API key abc`.
pub(super) fn is_pair(before: &str, word: &str) -> bool {
    let both = plain(before) + &plain(word);
    PARTS.split(' ').any(|part| part.ends_with("key") && part == both)
}

/// True for a key of NMState's secrets, or of a cluster's passwords: its value is a secret wherever it stands.
pub(super) fn is_password(key: &str) -> bool {
    if !is_of_length(key) || is_about(key) {
        return false;
    }
    let found = plain(key);
    let is_alike = |word: &str| {
        let word = plain(word);
        let allowed = if word.len() < 8 { 1 } else { 2 };
        // An edit brings one letter at most: most keys lack more of them, and the distance is slow.
        let lacking = word.bytes().filter(|letter| !found.as_bytes().contains(letter)).count();
        found.len().abs_diff(word.len()) <= allowed
            && lacking <= allowed
            && strsim::osa_distance(&found, &word) <= allowed
    };
    PASSWORDS.split(' ').any(|part| found.contains(part))
        || words(key).any(|word| SHARED_KEYS.split(' ').any(|part| word.eq_ignore_ascii_case(part)))
        || FIELDS.iter().any(|[_, name]| is_alike(name))
}

fn is_of_others(key: &str) -> bool {
    if !is_of_length(key) || is_about(key) {
        return false;
    }
    let found = plain(key);
    // `wep-key0`, and `KEY1` of an ifcfg file.
    let is_numbered = || {
        found.strip_suffix(|c: char| c.is_ascii_digit()).is_some_and(|word| word.ends_with("key"))
    };
    PARTS.split(' ').any(|part| found.contains(part))
        || words(key).any(|word| WORDS.split(' ').any(|part| word.eq_ignore_ascii_case(part)))
        || WHOLE.split(' ').any(|whole| found == whole)
        || is_numbered()
}

fn is_of_length(key: &str) -> bool {
    const LONGEST: usize = 64;
    (2..=LONGEST).contains(&key.len())
}

fn is_about(key: &str) -> bool {
    let last = words(key).last().unwrap_or_default();
    ABOUT.split(' ').any(|part| last.eq_ignore_ascii_case(part))
}

/// The letters and digits of a key.
fn plain(key: &str) -> String {
    key.replace(['-', '_', '.', ' '], "").to_ascii_lowercase()
}

/// The words of a key; a capital letter behind a small one begins one too.
fn words(key: &str) -> impl Iterator<Item = &str> {
    let parts = key.split(['-', '_', '.', ' ']);
    parts.flat_map(|part| {
        let bytes = part.as_bytes();
        let is_start =
            |at: &usize| bytes[*at - 1].is_ascii_lowercase() && bytes[*at].is_ascii_uppercase();
        let starts: Vec<usize> = (1..part.len()).filter(is_start).collect();
        let ends: Vec<usize> = starts.iter().copied().chain([part.len()]).collect();
        std::iter::once(0).chain(starts).zip(ends).map(move |(start, end)| &part[start..end])
    })
}

/// 32 bytes in base64. One such key in 64 begins with `/`.
fn is_key_of_wireguard(value: &str) -> bool {
    let is_of_it = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/');
    value.strip_suffix('=').is_some_and(|digits| digits.len() == 43 && digits.chars().all(is_of_it))
}

#[cfg(test)]
mod tests {
    use super::{is_key, is_secret};

    #[test]
    fn a_key_is_known_in_every_spelling() {
        for key in [
            "api-key",
            "API_KEY",
            "apiKey",
            "x.api-key",
            "TOKEN",
            "authToken",
            "auth-token",
            "clientSecret",
            "AWS_SECRET_ACCESS_KEY",
            "DB_PASSWORD",
            "wep-key0",
            "KEY1",
            "preshared-key",
            "private_key",
            "keyFile",
            "client-key-data",
            "auth",
            "_auth",
            "Authorization",
            "Proxy-Authorization",
            "pin",
            "pwd",
            "vpn-secrets",
            "mka_cak",
            "PSK",
            "pasword",
            "IPSec secret",
        ] {
            assert!(is_key(key), "{key}");
        }
        for key in [
            "identity",
            "mka-ckn",
            "port",
            "state",
            "authby",
            "phase2-auth",
            "key",
            "secretName",
            "pullSecretRef",
            "password-flags",
            "private-key-password-flags",
            "wep-key-type",
            "tokens-of-nobody",
            "passthrough",
            "spin",
        ] {
            assert!(!is_key(key), "{key}");
        }
    }

    #[test]
    fn a_path_an_ipv6_token_and_a_switch_are_none() {
        let wireguard = format!("/Hm0c{}=", "A".repeat(38));
        for (key, value, expected) in [
            ("private-key", "/etc/k.pem", false),
            ("phase2-private-key", "file:///etc/k.pem", false),
            ("private-key", "pkcs11:object=a", false),
            ("private-key", "data:;base64,abc", true),
            ("private-key", &wireguard, true),
            ("token", "::1:2", false),
            ("token", "abc", true),
            ("secret", "true", false),
            ("password", "/etc/k", true),
            ("psk", "true", true),
        ] {
            assert_eq!(is_secret(key, value), expected, "{key}: {value}");
        }
    }
}
