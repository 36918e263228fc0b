//! Passwords in addresses: `https://user:password@host`, dracut.cmdline(7)'s `netroot=iscsi:user:password@host`, and the same
//! without a scheme, as somebody pastes it into a list of domains.

use std::net::Ipv6Addr;
use std::ops::Range;

/// The passwords' bytes.
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
        read = start
            + found.as_ref().map_or(address.rfind('@').unwrap_or(address.len()), |range| range.end);
        found.map(|range| start + range.start..start + range.end)
    };
    let mut found: Vec<Range<usize>> = text.match_indices(':').filter_map(behind).collect();
    let is_end = |c: char| c.is_whitespace() || "\"'\\,()[]{}<>".contains(c);
    let mut at = 0;
    for word in text.split_inclusive(is_end) {
        found
            .extend(bare(word.trim_end_matches(is_end)).map(|bare| at + bare.start..at + bare.end));
        at += word.len();
    }
    found
}

/// The password of `user:password@host`. A path, a container's image and an IPv6 address with a link's name have none.
fn bare(word: &str) -> Option<Range<usize>> {
    let password = password(word)?;
    let user = &word[..password.start - 1];
    let is_of_user = |c: char| c.is_alphanumeric() || "-_.+%".contains(c);
    let is_user =
        !user.is_empty() && user.chars().all(is_of_user) && !matches!(user, "mailto" | "iscsi");
    let is_address = word[..password.end].parse::<Ipv6Addr>().is_ok();
    let is_one =
        is_user && !is_address && !password.is_empty() && !word[password.clone()].contains('/');
    is_one.then_some(password)
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
    use super::super::Secrets;
    use super::passwords;

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
            ("search: [user:s3cret@example.com]", "search: [user:<hidden>@example.com]"),
            (
                "fe80::1@eth0 r.io:5000/a@sha256:1 a.yml:1:2 mailto:a@b",
                "fe80::1@eth0 r.io:5000/a@sha256:1 a.yml:1:2 mailto:a@b",
            ),
        ] {
            assert_eq!(Secrets::default().hidden(text.to_owned()), expected);
        }
    }
}
