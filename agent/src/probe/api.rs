//! TCP connections, and the API's address.

use std::{
    net::{IpAddr, SocketAddr},
    time::Duration,
};

use tokio::net::{TcpStream, lookup_host};

use super::answer::{Answer, Targets};
use crate::paths::Paths;

/// `host:port` from the installer's file of shell assignments.
pub(super) fn address(paths: &Paths) -> Option<String> {
    parse(&std::fs::read_to_string(paths.apiserver_env()).ok()?)
}

fn parse(text: &str) -> Option<String> {
    let get = |key: &str| {
        text.lines()
            .filter_map(|line| line.trim().trim_start_matches("export ").split_once('='))
            .find(|(k, _)| *k == key)
            .map(|(_, value)| value.trim_matches(['\'', '"']).to_owned())
            .filter(|value| !value.is_empty())
    };
    let host = get("KUBERNETES_SERVICE_HOST")?;
    let port = get("KUBERNETES_SERVICE_PORT").unwrap_or_else(|| "6443".to_owned());
    let bare_v6 = host.contains(':') && !host.starts_with('[');
    Some(if bare_v6 { format!("[{host}]:{port}") } else { format!("{host}:{port}") })
}

/// The time for a lookup of which a person waits for the end.
const LOOKUP: Duration = Duration::from_secs(1);

/// Returns the addresses of `host:port`; none if no name server answers in time.
pub(super) async fn targets(address: &str) -> Vec<IpAddr> {
    match tokio::time::timeout(LOOKUP, lookup_host(address)).await {
        Ok(Ok(found)) => found.map(|target| target.ip()).collect(),
        Ok(Err(_)) | Err(_) => Vec::new(),
    }
}

/// Connects to `host:port`, whose addresses are the targets.
pub(super) async fn stream(address: &str, targets: &Targets) -> std::io::Result<TcpStream> {
    let found: Vec<SocketAddr> = lookup_host(address).await?.collect();
    targets.replace(found.iter().map(SocketAddr::ip).collect());
    TcpStream::connect(&found[..]).await
}

/// Connects and closes again.
pub(super) async fn connect(address: &str, targets: &Targets) -> Answer {
    match stream(address, targets).await {
        Ok(_) => Ok(format!("{address} accepts connections")),
        Err(e) => Err(format!("{address}: {e}")),
    }
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn reads_the_installers_file() {
        let v4 = "KUBERNETES_SERVICE_HOST='api-int.example.org'\nKUBERNETES_SERVICE_PORT='6443'\n";
        assert_eq!(parse(v4).as_deref(), Some("api-int.example.org:6443"));
        assert_eq!(
            parse("KUBERNETES_SERVICE_HOST=2001:db8::1").as_deref(),
            Some("[2001:db8::1]:6443")
        );
        assert_eq!(parse("KUBERNETES_SERVICE_HOST=''"), None);
        assert_eq!(parse(""), None);
    }
}
