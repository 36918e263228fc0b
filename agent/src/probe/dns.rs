//! DNS queries to all name servers: UDP, and TCP after a truncated or missing answer.

use std::{
    net::{IpAddr, SocketAddr},
    time::Duration,
};

use simple_dns::{CLASS, Name, Packet, PacketFlag, QCLASS, QTYPE, Question, TYPE};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpStream, UdpSocket},
};

use super::answer::Answer;
use crate::paths::Paths;

/// Bound of one attempt by either transport.
const BOUND: Duration = Duration::from_secs(1);

/// Delay before a datagram without an answer is sent again.
const AGAIN: Duration = Duration::from_millis(200);

/// Asks the document's servers and those in `resolv.conf` at once.
pub(super) async fn any(servers: &[IpAddr], name: &str, paths: &Paths) -> Answer {
    let mut all = servers.to_vec();
    all.extend(in_use(&std::fs::read_to_string(paths.resolv_conf()).unwrap_or_default()));
    all.sort_unstable();
    all.dedup();
    if all.is_empty() {
        return Err("no name server is configured".to_owned());
    }
    let asked = all.into_iter().map(|server| Box::pin(ask(SocketAddr::new(server, 53), name)));
    futures_util::future::select_ok(asked).await.map(|(detail, _)| detail)
}

fn in_use(resolv_conf: &str) -> impl Iterator<Item = IpAddr> {
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
    use super::{accepts, in_use, query};

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
        let text =
            "# x\nsearch example.org\nnameserver 192.0.2.1\nnameserver 2001:db8::1\nnameserver x\n";
        assert_eq!(in_use(text).count(), 2);
    }
}
