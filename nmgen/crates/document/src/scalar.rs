//! The type of a plain scalar, by the rules of `serde_yaml` (YAML 1.2's core schema, and `0b`
//! numbers).

/// The type and value of a plain scalar.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Scalar {
    Null,
    Boolean(bool),
    Unsigned(u128),
    /// Below zero, or zero with a minus sign.
    Negative(i128),
    Float(f64),
    Text,
}

impl Scalar {
    pub(super) fn plain(text: &str) -> Self {
        match text {
            "" | "~" | "null" | "Null" | "NULL" => return Self::Null,
            "true" | "True" | "TRUE" => return Self::Boolean(true),
            "false" | "False" | "FALSE" => return Self::Boolean(false),
            _ => {}
        }
        // Numbers start with these characters; most scalars are words.
        if !text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.')) {
            return Self::Text;
        }
        unsigned(text)
            .map(Self::Unsigned)
            .or_else(|| negative(text).map(Self::Negative))
            .or_else(|| float(text).map(Self::Float))
            .unwrap_or(Self::Text)
    }
}

fn unsigned(text: &str) -> Option<u128> {
    let digits = text.strip_prefix('+').unwrap_or(text);
    if let Some((radix, digits)) = radix(digits) {
        return u128::from_str_radix(digits, radix).ok();
    }
    // Two signs or a leading zero make it a word.
    let is_number = digits.starts_with(|c: char| c.is_ascii_digit()) && !has_leading_zero(digits);
    is_number.then(|| digits.parse().ok())?
}

fn negative(text: &str) -> Option<i128> {
    let digits = text.strip_prefix('-')?;
    let magnitude = match radix(digits) {
        Some((radix, digits)) => i128::from_str_radix(&format!("-{digits}"), radix),
        None if has_leading_zero(digits) => return None,
        None => text.parse(),
    };
    magnitude.ok()
}

/// The base and the digits after its prefix, which have no sign.
fn radix(text: &str) -> Option<(u32, &str)> {
    let bases = [("0x", 16), ("0o", 8), ("0b", 2)];
    let (base, digits) =
        bases.iter().find_map(|(prefix, base)| Some((*base, text.strip_prefix(prefix)?)))?;
    (!digits.starts_with(['+', '-'])).then_some((base, digits))
}

fn has_leading_zero(digits: &str) -> bool {
    digits.len() > 1 && digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn float(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix('+').unwrap_or(text);
    match (unsigned, text) {
        (".inf" | ".Inf" | ".INF", _) => return Some(f64::INFINITY),
        (_, "-.inf" | "-.Inf" | "-.INF") => return Some(f64::NEG_INFINITY),
        (_, ".nan" | ".NaN" | ".NAN") => return Some(f64::NAN),
        _ => {}
    }
    let is_signed_twice = text.starts_with('+') && unsigned.starts_with(['+', '-']);
    if is_signed_twice || has_leading_zero(text.strip_prefix(['+', '-']).unwrap_or(text)) {
        return None;
    }
    unsigned.parse().ok().filter(|number: &f64| number.is_finite())
}
