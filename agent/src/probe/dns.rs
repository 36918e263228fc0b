//! DNS queries to all name servers: UDP, and TCP after a truncated or missing answer.

use std::{
    net::{IpAddr, SocketAddr, SocketAddrV6},
    time::Duration,
};

use simple_dns::{CLASS, Name, Packet, PacketFlag, QCLASS, QTYPE, Question, TYPE};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpStream, UdpSocket},
};

use super::answer::Answer;
use crate::{
    client::netlink::Netlink,
    model::{Link, NameServer},
    paths::Paths,
};

/// Bound of one attempt by either transport.
const BOUND: Duration = Duration::from_secs(1);

/// Delay before a datagram without an answer is sent again.
const AGAIN: Duration = Duration::from_millis(200);

/// The reason where there is nobody to ask.
pub(super) const NONE: &str = "no name server is configured";

/// The document's servers and those in `resolv.conf`.
pub(super) fn all(servers: &[NameServer], paths: &Paths) -> Vec<NameServer> {
    let mut all = servers.to_vec();
    all.extend(in_use(&std::fs::read_to_string(paths.resolv_conf()).unwrap_or_default()));
    all.sort_unstable();
    all.dedup();
    all
}

/// Asks these servers at once.
pub(super) async fn any(servers: &[NameServer], name: &str, netlink: &Netlink) -> Answer {
    if servers.is_empty() {
        return Err(NONE.to_owned());
    }
    let links = match servers.iter().any(|server| server.scope.is_some()) {
        true => netlink.links().await.map_err(|e| e.to_string())?,
        false => Vec::new(),
    };
    let asked = servers.iter().map(|server| {
        let links = &links;
        Box::pin(async move { ask(address(server, links)?, name).await })
    });
    futures_util::future::select_ok(asked).await.map(|(detail, _)| detail)
}

/// The server's socket address; a scope is one of `links`, or the number of one.
fn address(server: &NameServer, links: &[Link]) -> Result<SocketAddr, String> {
    let (IpAddr::V6(ip), Some(scope)) = (server.ip, &server.scope) else {
        return Ok(SocketAddr::new(server.ip, 53));
    };
    let index = links.iter().find(|link| link.name == *scope).map(|link| link.index);
    let index = index.or_else(|| scope.parse().ok());
    let index = index.ok_or_else(|| format!("{server}: there is no interface {scope}"))?;
    Ok(SocketAddrV6::new(ip, 53, 0, index).into())
}

fn in_use(resolv_conf: &str) -> impl Iterator<Item = NameServer> {
    resolv_conf
        .lines()
        .filter_map(|line| line.trim().strip_prefix("nameserver"))
        .filter_map(|server| server.trim().parse().ok())
}

async fn ask(server: SocketAddr, name: &str) -> Answer {
    let id = u16::try_from(std::process::id() & 0xffff).unwrap_or(1);
    let query = query(id, name).map_err(|e| format!("{name}: {e}"))?;
    let over_udp = tokio::time::timeout(BOUND, udp(server, &query)).await;
    match over_udp {
        Ok(Ok(answer)) if accepts(&answer, id) == Some(false) => {
            return Ok(format!("{} answers", server.ip()));
        }
        Ok(Ok(_) | Err(_)) | Err(_) => {}
    }
    match tokio::time::timeout(BOUND, tcp(server, &query)).await {
        Ok(Ok(answer)) if accepts(&answer, id).is_some() => {
            Ok(format!("{} answers by TCP", server.ip()))
        }
        Ok(Ok(_)) => Err(format!("{} answers something else", server.ip())),
        Ok(Err(e)) => Err(format!("{}: {e}", server.ip())),
        Err(_) => Err(format!("{} does not answer", server.ip())),
    }
}

fn query(id: u16, name: &str) -> Result<Vec<u8>, simple_dns::SimpleDnsError> {
    let root = name == ".";
    let name = if root { Name::new_unchecked("") } else { Name::new(name.trim_end_matches('.'))? };
    let kind = if root { TYPE::NS } else { TYPE::A };
    let mut packet = Packet::new_query(id);
    packet.set_flags(PacketFlag::RECURSION_DESIRED);
    packet.questions.push(Question::new(
        name.into_owned(),
        QTYPE::TYPE(kind),
        QCLASS::CLASS(CLASS::IN),
        false,
    ));
    packet.build_bytes_vec()
}

/// `None`: not an answer to this query; `Some(cut)`: any answer, truncated if `cut`.
fn accepts(answer: &[u8], id: u16) -> Option<bool> {
    let packet_id = simple_dns::header_buffer::id(answer).ok()?;
    let is = |flag| simple_dns::header_buffer::has_flags(answer, flag).unwrap_or(false);
    (packet_id == id && is(PacketFlag::RESPONSE)).then(|| is(PacketFlag::TRUNCATION))
}

/// An answer is one to its own query only, and a query none; whatever the text, servers are addresses.
#[cfg(any(test, feature = "fuzzing"))]
pub(super) fn reads(bytes: &[u8]) {
    let is_of = |id| accepts(bytes, id).is_some();
    assert!(!(is_of(1) && is_of(2)));
    let text = String::from_utf8_lossy(bytes);
    assert!(in_use(&text).count() <= text.lines().count());
    if let Ok(query) = query(1, text.trim()) {
        assert_eq!(accepts(&query, 1), None, "{text:?}");
    }
}

async fn udp(server: SocketAddr, query: &[u8]) -> std::io::Result<Vec<u8>> {
    let any: IpAddr = match server {
        SocketAddr::V4(_) => std::net::Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => std::net::Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind((any, 0)).await?;
    socket.connect(server).await?;
    let mut answer = vec![0; 4096];
    // The caller bounds the whole.
    loop {
        socket.send(query).await?;
        if let Ok(length) = tokio::time::timeout(AGAIN, socket.recv(&mut answer)).await {
            answer.truncate(length?);
            return Ok(answer);
        }
    }
}

async fn tcp(server: SocketAddr, query: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut stream = TcpStream::connect(server).await?;
    let length = u16::try_from(query.len()).unwrap_or(u16::MAX);
    stream.write_all(&[&length.to_be_bytes()[..], query].concat()).await?;
    let mut answer = vec![0; usize::from(stream.read_u16().await?)];
    stream.read_exact(&mut answer).await?;
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::{accepts, address, in_use, query};
    use crate::model::Link;

    #[test]
    fn a_query_is_no_answer_and_an_answer_is() -> Result<(), simple_dns::SimpleDnsError> {
        let mut bytes = query(7, ".")?;
        assert_eq!(accepts(&bytes, 7), None);
        bytes[2] |= 0x80;
        assert_eq!(accepts(&bytes, 7), Some(false));
        assert_eq!(accepts(&bytes, 8), None);
        bytes[2] |= 0x02;
        assert_eq!(accepts(&bytes, 7), Some(true));
        assert_eq!(accepts(&[], 7), None);
        query(1, "example.org")?;
        Ok(())
    }

    #[test]
    fn resolv_conf() {
        let text = "# x\nsearch example.org\nnameserver 192.0.2.1\nnameserver 2001:db8::1\nnameserver x\n\
                    nameserver fe80::1%eno1\n";
        let servers: Vec<String> = in_use(text).map(|server| server.to_string()).collect();
        assert_eq!(servers, ["192.0.2.1", "2001:db8::1", "fe80::1%eno1"]);
    }

    #[test]
    fn a_link_local_server_is_asked_on_its_interface() {
        let links = [Link { name: "eno1".to_owned(), index: 7, ..Link::default() }];
        let of = |text: &str| address(&text.parse().expect("an address"), &links);
        assert_eq!(of("192.0.2.1"), Ok("192.0.2.1:53".parse().expect("an address")));
        assert_eq!(of("fe80::1%eno1"), Ok("[fe80::1%7]:53".parse().expect("an address")));
        assert_eq!(of("fe80::1%3"), Ok("[fe80::1%3]:53".parse().expect("an address")));
        assert!(of("fe80::1%eno9").is_err());
    }
}
