//! base64, `data:` URLs and gzip; faults have their place.

use std::io::Read;

use base64::alphabet::STANDARD;
use base64::engine::{GeneralPurpose, GeneralPurposeConfig};
use base64::{DecodeError, Engine};
use nmgen_document::diagnostic::{Rule, rules};
use percent_encoding::percent_decode_str;

rules! {
    pub(super) error BASE64 = "base64";
    error DATA_URL = "data-url";
}

/// Accepts what Go's `base64.StdEncoding` accepts, which Kubernetes and Ignition use.
const ENGINE: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true),
);

/// A fault at a byte of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct EncodingFault {
    pub(super) rule: Rule,
    pub(super) message: String,
    pub(super) help: Option<&'static str>,
    pub(super) offset: usize,
}

/// Decodes base64; line breaks are ignored.
pub(super) fn base64(text: &str) -> Result<Vec<u8>, EncodingFault> {
    let is_break = |byte: &u8| matches!(byte, b'\n' | b'\r');
    let compact: Vec<u8> = text.bytes().filter(|byte| !is_break(byte)).collect();
    ENGINE.decode(&compact).map_err(|error| {
        let (message, help, at) = match error {
            DecodeError::InvalidByte(at, byte) => not_base64(byte, at),
            DecodeError::InvalidLastSymbol(at, byte) => not_base64(byte, at),
            DecodeError::InvalidLength(_) | DecodeError::InvalidPadding => (
                format!("the base64 text ends too early, after {} characters", compact.len()),
                Some("base64 has groups of four characters, the last one padded with '='"),
                compact.len(),
            ),
        };
        let bytes = text.bytes().enumerate().filter(|(_, byte)| !is_break(byte));
        let offset = bytes.map(|(offset, _)| offset).nth(at);
        // A truncated text is reported at its last character.
        let offset = offset.unwrap_or_else(|| text.trim_end().len().saturating_sub(1));
        EncodingFault { rule: BASE64, message, help, offset }
    })
}

fn not_base64(byte: u8, at: usize) -> (String, Option<&'static str>, usize) {
    let help = match byte {
        b'-' | b'_' => Some("this is base64 for URLs; write '+' for '-' and '/' for '_'"),
        b' ' => Some("a line break became a space: write it in one line, or behind a '|'"),
        b'=' => Some("'=' is padding, at the end only"),
        _ => None,
    };
    let shown = match byte {
        b' '..=b'~' => format!("'{}'", char::from(byte)),
        _ => format!("byte 0x{byte:02x}"),
    };
    (format!("{shown} cannot stand here in base64"), help, at)
}

/// The data of a `data:` URL (RFC 2397).
pub(super) fn data_url(url: &str) -> Result<Vec<u8>, EncodingFault> {
    let fault = |message: &str, help, offset| EncodingFault {
        rule: DATA_URL,
        message: message.to_owned(),
        help,
        offset,
    };
    let Some(rest) = url.strip_prefix("data:") else {
        let is_encoded = url.len() > 16 && base64(url).is_ok();
        let help = Some(match is_encoded {
            true => "write \"data:;base64,\" before it",
            false => "nmgen downloads nothing; put the contents into a data: URL",
        });
        return Err(fault("the contents are not in a data: URL", help, 0));
    };
    let Some((media_type, data)) = rest.split_once(',') else {
        return Err(fault("the data: URL has no ',' before its data", None, 0));
    };
    let start = url.len() - data.len();
    let unescaped = unescape(data).map_err(|at| {
        let help = Some("write %25 for a '%' itself");
        fault("two hexadecimal digits must follow a '%'", help, start + at)
    })?;
    if !media_type.ends_with(";base64") {
        return Ok(unescaped);
    }
    match std::str::from_utf8(&unescaped) {
        Ok(text) => base64(text).map_err(|fault| {
            // After an escape the two texts have different offsets.
            let offset = if data.contains('%') { start } else { start + fault.offset };
            EncodingFault { offset, ..fault }
        }),
        Err(_) => Err(EncodingFault { rule: BASE64, ..fault("this is not base64", None, start) }),
    }
}

/// Decodes percent escapes; an error is the offset of a '%' without digits.
fn unescape(text: &str) -> Result<Vec<u8>, usize> {
    let is_escape = |at: usize| {
        let digits = text.as_bytes().get(at + 1..at + 3);
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    };
    match text.match_indices('%').find(|(at, _)| !is_escape(*at)) {
        Some((at, _)) => Err(at),
        None => Ok(percent_decode_str(text).collect()),
    }
}

/// Decompresses at most one byte beyond the limit.
pub(super) fn gunzip(bytes: &[u8], limit: usize) -> std::io::Result<Vec<u8>> {
    let mut text = Vec::new();
    flate2::read::MultiGzDecoder::new(bytes).take(limit as u64 + 1).read_to_end(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn a_character_that_is_not_base64_is_at_its_place_with_a_remedy() {
        let fault = |text: &str| {
            let fault = base64(text).map_or_else(|fault| fault, |_| unreachable!("{text}"));
            (fault.offset, fault.help.unwrap_or_default())
        };
        for (text, offset, help) in [
            ("YW-i", 2, "for URLs"),
            ("YW_i", 2, "for URLs"),
            ("YWFh\nYW i", 7, "a line break became a space"),
            ("YW=h", 2, "'=' is padding"),
            ("YW!h", 2, ""),
            ("YWFhY", 4, "padded with '='"),
        ] {
            let (at, told) = fault(text);
            assert!(at == offset && told.contains(help), "{text}: {at} {told}");
            assert_eq!(told.is_empty(), help.is_empty(), "{text}: {told}");
        }
    }

    #[test]
    fn a_data_url_is_text_or_base64() {
        let read = |url: &str| {
            let rule = |fault: EncodingFault| (fault.rule.name, fault.offset);
            data_url(url).map_err(rule)
        };
        assert_eq!(read("data:,a%20b"), Ok(b"a b".to_vec()));
        assert_eq!(read("data:text/plain;base64,YQ=="), Ok(b"a".to_vec()));
        assert_eq!(read("data:;base64,Y%51=="), Ok(b"a".to_vec()));
        assert_eq!(read("data:,a%2"), Err(("data-url", 7)));
        assert_eq!(read("data:,a%2g"), Err(("data-url", 7)));
        assert_eq!(read("data:;base64,YQ!="), Err(("base64", 15)));
        assert_eq!(read("data:;base64,%ff"), Err(("base64", 13)));
        assert_eq!(read("data:YQ=="), Err(("data-url", 0)));
        assert_eq!(read("https://example.com/a"), Err(("data-url", 0)));
    }

    #[test]
    fn no_more_than_the_limit_and_one_byte_is_unpacked() -> std::io::Result<()> {
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packer.write_all(&[b'a'; 100])?;
        let packed = packer.finish()?;
        assert_eq!(gunzip(&packed, 10)?.len(), 11);
        assert_eq!(gunzip(&packed, 100)?.len(), 100);
        Ok(())
    }
}
