//! Passwords in addresses: `https://user:password@host`, and dracut.cmdline(7)'s `netroot=iscsi:user:password@host`.

use std::ops::Range;

use memchr::memmem;

use super::HIDDEN;

/// The mark before a user, and the character that ends the address besides white space and quotes.
const MARKS: [(&str, Option<char>); 2] = [("://", Some('/')), ("iscsi:", None)];

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
    let behind = |(mark, end): (&'static str, Option<char>)| {
        let starts = memmem::find_iter(text.as_bytes(), mark).map(move |at| at + mark.len());
        starts.filter_map(move |start| password(text, start, end))
    };
    let mut found: Vec<Range<usize>> = MARKS.into_iter().flat_map(behind).collect();
    found.sort_unstable_by_key(|it| (it.start, it.end));
    found
}

/// The part between the first colon and the last `@` of the address at this place.
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
