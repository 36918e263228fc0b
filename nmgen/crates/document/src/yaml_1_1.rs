//! Plain scalars that YAML 1.1 reads otherwise. Programs in Go read manifests with sigs.k8s.io/yaml (`goyaml.v2/resolve.go`):
//! a number with a leading zero is octal, one may have underscores, and `yes` or `off` is a boolean. nmstate reads each as text.

use super::scalar::Scalar;

/// Returns how these programs write the scalar again; `None` if nmstate reads it as they do.
pub fn reading(text: &str) -> Option<String> {
    match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => return Some("true".to_owned()),
        "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => return Some("false".to_owned()),
        _ => {}
    }
    if !text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-'))
        || Scalar::plain(text) != Scalar::Text
    {
        return None;
    }
    let plain = text.replace('_', "");
    let digits = plain.trim_start_matches(['+', '-']);
    if plain.len() > digits.len() + 1 {
        return None;
    }
    let octal = digits.strip_prefix('0').and_then(|octal| u64::from_str_radix(octal, 8).ok());
    // A leading zero that is not octal belongs to a decimal number.
    let decimal = [digits.trim_start_matches('0'), digits].map(Scalar::plain);
    let number = decimal.into_iter().find_map(|scalar| match scalar {
        Scalar::Unsigned(number) => Some(number.to_string()),
        Scalar::Float(number) => Some(number.to_string()),
        Scalar::Null | Scalar::Boolean(_) | Scalar::Negative(_) | Scalar::Text => None,
    });
    let number = octal.map(|octal| octal.to_string()).or(number)?;
    let sign = if plain.starts_with('-') { "-" } else { "" };
    Some(format!("{sign}{number}"))
}

#[cfg(test)]
mod tests {
    use super::reading;

    #[test]
    fn octal_numbers_underscores_and_words_are_read_otherwise() {
        for (text, expected) in [
            ("0100", Some("64")),
            ("-010", Some("-8")),
            ("+010", Some("8")),
            ("007", Some("7")),
            ("08", Some("8")),
            ("1_0.5", Some("10.5")),
            ("1_500", Some("1500")),
            ("0x_10", Some("16")),
            ("on", Some("true")),
            ("NO", Some("false")),
            ("0", None),
            ("100", None),
            ("1.5", None),
            ("08.5", None),
            ("0x64", None),
            ("0o100", None),
            ("0b1", None),
            ("1:30", None),
            ("--010", None),
            ("10.0.0.010", None),
            ("2026-11-29", None),
            ("00:11:22:33:44:55", None),
            ("true", None),
            ("oN", None),
            ("eno1_1", None),
            ("-", None),
            ("_", None),
            ("", None),
        ] {
            assert_eq!(reading(text).as_deref(), expected, "{text}");
        }
    }
}
