//! Passwords in addresses: `https://user:password@host`, and dracut.cmdline(7)'s `netroot=iscsi:user:password@host`.

use std::ops::Range;

use super::keys::HIDDEN;

/// The text with [`HIDDEN`] in place of each such password.
pub fn without_credentials(text: &str) -> String {
    let (mut shown, mut at) = (String::with_capacity(text.len()), 0);
    for password in passwords(text) {
        shown.push_str(text.get(at..password.start).unwrap_or_default());
        shown.push_str(HIDDEN);
        at = password.end.max(at);
    }
    shown + text.get(at..).unwrap_or_default()
}

/// The passwords' bytes, in order.
pub(super) fn passwords(text: &str) -> Vec<Range<usize>> {
    // Most texts have none.
    if memchr::memchr(b'@', text.as_bytes()).is_none() {
        return Vec::new();
    }
    // An address is read once: it may have the beginnings of many others.
    let mut read = 0;
    let behind = |(at, _): (usize, &str)| {
        let (start, end) = match &text[at..] {
            _ if at < read => return None,
            rest if rest.starts_with("://") => (at + 3, Some('/')),
            _ if text[..at].ends_with("iscsi") => (at + 1, None),
            _ => return None,
        };
        let address = address(text.get(start..)?, end);
        let found = password(address);
        read =
            start + found.as_ref().map_or(address.rfind('@').unwrap_or(address.len()), |it| it.end);
        found.map(|it| start + it.start..start + it.end)
    };
    text.match_indices(':').filter_map(behind).collect()
}

/// The address that a text begins with: it ends at white space, a quote or `end`.
fn address(text: &str, end: Option<char>) -> &str {
    let is_end = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '\\') || end == Some(c);
    text.split(is_end).next().unwrap_or_default()
}

/// The part between the first colon and the last `@` of an address.
fn password(address: &str) -> Option<Range<usize>> {
    let (who, _) = address.rsplit_once('@')?;
    let (user, _) = who.split_once(':')?;
    Some(user.len() + 1..who.len())
}

#[cfg(test)]
mod tests {
    use super::{passwords, without_credentials};

    #[test]
    fn addresses_within_addresses_are_read_once() {
        let text = "iscsi:".repeat(200_000);
        assert!(passwords(&format!("{text}x")).is_empty());
        assert_eq!(passwords(&format!("{text}x@y")).len(), 1);
        assert!(passwords(&format!("@ {text}")).is_empty());
    }

    #[test]
    fn the_password_of_an_address_is_hidden() {
        for (text, expected) in [
            (
                "proxy: http://user:s3cret@proxy:3128, b",
                "proxy: http://user:<hidden>@proxy:3128, b",
            ),
            ("[http://a:b@c,http://d:e@f]", "[http://a:<hidden>@c,http://d:<hidden>@f]"),
            ("'http://a:b:c@d@e' f@g", "'http://a:<hidden>@e' f@g"),
            ("netroot=iscsi:u:p:v:p/q@192.0.2.1::3260", "netroot=iscsi:u:<hidden>@192.0.2.1::3260"),
            (
                "ip=a:b@c root=http://h/a:b@c http://user@host",
                "ip=a:b@c root=http://h/a:b@c http://user@host",
            ),
        ] {
            assert_eq!(without_credentials(text), expected);
        }
    }
}
