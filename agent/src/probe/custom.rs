//! Custom targets: HTTP. (`api` has TCP.)

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::{
    answer::{Answer, Targets},
    api::stream,
};

/// The parts of `http://host[:port]/path`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Url {
    /// The value of the Host header.
    authority: String,
    /// `host:port`.
    address: String,
    path: String,
}

impl Url {
    /// `None` for anything but plain HTTP.
    fn parse(text: &str) -> Option<Self> {
        let rest = text.strip_prefix("http://")?;
        let (authority, path) = match rest.find('/') {
            Some(slash) => rest.split_at(slash),
            None => (rest, "/"),
        };
        let bad = |c: char| c.is_whitespace() || c.is_control();
        if authority.is_empty() || authority.contains('@') || text.contains(bad) {
            return None;
        }
        let has_port = authority.rsplit_once(':').is_some_and(|(_, p)| p.parse::<u16>().is_ok());
        let address = if has_port { authority.to_owned() } else { format!("{authority}:80") };
        Some(Self { authority: authority.to_owned(), address, path: path.to_owned() })
    }
}

/// A GET; any status below 500 is an answer.
pub(super) async fn get(url: &str, targets: &Targets) -> Answer {
    let Some(Url { authority, address, path }) = Url::parse(url) else {
        return Err(format!("{url} is not http://host[:port]/path"));
    };
    let failed = |e: std::io::Error| format!("{url}: {e}");
    let mut stream = stream(&address, targets).await.map_err(failed)?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.map_err(failed)?;
    let mut head = [0; 12];
    stream.read_exact(&mut head).await.map_err(failed)?;
    match status(&head) {
        Some(status) if status < 500 => Ok(format!("{url} says {status}")),
        Some(status) => Err(format!("{url} says {status}")),
        None => Err(format!("{url} does not speak HTTP")),
    }
}

/// The status code of `HTTP/1.1 200`.
fn status(head: &[u8; 12]) -> Option<u16> {
    let text = std::str::from_utf8(head).ok()?;
    text.strip_prefix("HTTP/1.")?.get(2..)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{Url, status};

    #[test]
    fn urls() {
        let url = Url::parse("http://[2001:db8::1]:8080/healthz?x");
        assert_eq!(
            url.map(|u| (u.address, u.path)),
            Some(("[2001:db8::1]:8080".into(), "/healthz?x".into()))
        );
        assert_eq!(Url::parse("http://mirror").map(|u| u.address).as_deref(), Some("mirror:80"));
        for bad in ["https://x/", "http://", "http://a@b/", "http://x/\r\nHost: y", "x"] {
            assert_eq!(Url::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn statuses() {
        assert_eq!(status(b"HTTP/1.1 204"), Some(204));
        assert_eq!(status(b"SSH-2.0-Open"), None);
    }
}
