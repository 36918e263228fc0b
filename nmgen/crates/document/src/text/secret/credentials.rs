//! Passwords in addresses: `https://user:password@host`, and dracut.cmdline(7)'s `netroot=iscsi:user:password@host`.

use std::ops::Range;

use super::HIDDEN;

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
    let behind = |(at, _): (usize, &str)| match &text[at..] {
        rest if rest.starts_with("://") => password(text, at + 3, Some('/')),
        _ if text[..at].ends_with("iscsi") => password(text, at + 1, None),
        _ => None,
    };
    text.match_indices(':').filter_map(behind).collect()
}

/// The part between the first colon and the last `@` of the address at this place, which ends at white space, a quote or `end`.
fn password(text: &str, start: usize, end: Option<char>) -> Option<Range<usize>> {
    let rest = text.get(start..)?;
    let is_end = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '\\') || end == Some(c);
    let address = rest.split(is_end).next()?;
    let (who, _) = address.rsplit_once('@')?;
    let (user, _) = who.split_once(':')?;
    Some(start + user.len() + 1..start + who.len())
}

#[cfg(test)]
mod tests {
    use super::without_credentials;

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
