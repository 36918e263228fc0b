//! serde's and Rust's words for a refusal in YAML's words.

use nmgen_document::text::secret::HIDDEN;

/// The beginning of nmstate's refusal of a value that is no boolean; the words for booleans follow.
pub(super) const BOOLEAN: &str = "Need to be boolean";

/// A list whose items nmstate took for the fields of a mapping.
pub(super) const LIST: &str = "a list, where a mapping is expected";

/// The beginning of nmstate's refusal of an interface's type that is a list or a mapping.
pub(super) const UNTAGGED: &str = "data did not match any variant of untagged enum";

/// The refusal without names of Rust types.
pub(super) fn plain(reason: &str) -> String {
    if let Some((before, _)) = reason.split_once(UNTAGGED) {
        return format!("{before}a mapping or a list, where a word is expected");
    }
    if let Some((before, after)) = reason.split_once("invalid length ")
        && after.contains("expected struct")
    {
        return format!("{before}{LIST}");
    }
    if let Some((before, after)) = reason.split_once("invalid type: ")
        && let Some((found, expected)) = after.split_once(", expected ")
    {
        let found = match found {
            "sequence" => "a list",
            "map" => "a mapping",
            "unit value" | "null" => "nothing",
            other => other,
        };
        return format!("{before}{found}, where {} is expected", kind(expected));
    }
    reason.replace("invalid digit found in string", "not a number")
}

/// Returns the field and the expected ones, from serde's "unknown field `a`, expected one of `b`, `c`".
pub(super) fn unknown_field(text: &str) -> Option<(&str, Vec<&str>)> {
    let rest = text.split_once("unknown field `")?.1;
    let (field, rest) = rest.split_once('`')?;
    Some((field, rest.split('`').skip(1).step_by(2).collect()))
}

/// The words without what they quote.
pub(super) fn without_values(words: &str) -> String {
    let is_quote = |c| matches!(c, '`' | '"' | '\'');
    match (words.find(is_quote), words.rfind(is_quote)) {
        (Some(first), Some(last)) if first < last => {
            format!("{}{HIDDEN}{}", &words[..first], &words[last + 1..])
        }
        _ => words.to_owned(),
    }
}

/// The kind of value that serde expects.
fn kind(expected: &str) -> &str {
    match expected {
        "a map" => "a mapping",
        "a sequence" => "a list",
        "u8" | "u16" | "u32" | "u64" | "i8" | "i16" | "i32" | "i64" => "a number",
        "unit" => "nothing",
        other if other.starts_with("struct ") => "a mapping",
        other if other.starts_with("enum ") => "a word",
        other if other.starts_with(BOOLEAN) => "true or false",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn types_of_rust_do_not_show() {
        for (reason, words) in [
            (
                "invalid length 0, expected struct Routes with 2 elements",
                "a list, where a mapping is expected",
            ),
            ("invalid type: map, expected a sequence", "a mapping, where a list is expected"),
            (
                "invalid type: sequence, expected struct VlanConfig",
                "a list, where a mapping is expected",
            ),
            (
                "invalid type: string \"x\", expected u32",
                "string \"x\", where a number is expected",
            ),
            ("invalid type: sequence, expected enum BondMode", "a list, where a word is expected"),
            ("invalid type: map, expected a string", "a mapping, where a string is expected"),
            ("invalid digit found in string", "not a number"),
            (
                "interfaces[0].type: data did not match any variant of untagged enum InterfaceType",
                "interfaces[0].type: a mapping or a list, where a word is expected",
            ),
            (
                "Autoconf without DHCP is not supported yet",
                "Autoconf without DHCP is not supported yet",
            ),
        ] {
            assert_eq!(plain(reason), words);
        }
    }
}
