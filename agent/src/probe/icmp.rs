//! One echo request (RFC 792, RFC 4443).

use std::{
    io,
    net::{IpAddr, SocketAddrV4, SocketAddrV6},
    os::fd::{AsRawFd, OwnedFd},
    time::Duration,
};

use nix::{
    libc,
    sys::socket::{
        AddressFamily, ControlMessage, MsgFlags, SockFlag, SockProtocol, SockType, SockaddrIn,
        SockaddrIn6, recv, sendmsg, socket,
    },
};
use tokio::io::{Interest, unix::AsyncFd};

use crate::client::event_fd;

const BOUND: Duration = Duration::from_secs(1);

const NONE: MsgFlags = MsgFlags::empty();

/// The bytes after an echo's checksum: identifier and sequence number.
type Token = [u8; 4];

/// Sends an echo request by the link with this index and waits a second for the answer.
pub(super) async fn echo(ip: IpAddr, link: u32) -> io::Result<()> {
    let (family, protocol) = match ip {
        IpAddr::V4(_) => (AddressFamily::Inet, SockProtocol::Icmp),
        IpAddr::V6(_) => (AddressFamily::Inet6, SockProtocol::IcmpV6),
    };
    let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
    let fd = event_fd::watch(socket(family, SockType::Raw, flags, protocol)?, Interest::READABLE)?;
    let token = token(link);
    send(fd.get_ref(), &request(ip.is_ipv4(), token), ip, link)?;
    tokio::time::timeout(BOUND, answer(&fd, ip.is_ipv4(), token))
        .await
        .map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?
}

/// This process's question by one link: each raw socket gets the replies to all of them.
fn token(link: u32) -> Token {
    let [_, _, a, b] = std::process::id().to_be_bytes();
    let [_, _, c, d] = link.to_be_bytes();
    [a, b, c, d]
}

fn request(is_v4: bool, [a, b, c, d]: Token) -> [u8; 8] {
    match is_v4 {
        true => with_checksum([8, 0, 0, 0, a, b, c, d]),
        // The kernel fills in the checksum of ICMPv6.
        false => [128, 0, 0, 0, a, b, c, d],
    }
}

/// Sends a packet by the link with this index: the kernel's choice is another card in the same network, where that one's route has
/// a lower metric (`IP_PKTINFO` of ip(7), `IPV6_PKTINFO` of ipv6(7)). The reply may come by any.
pub(super) fn send(fd: &impl AsRawFd, packet: &[u8], ip: IpAddr, link: u32) -> nix::Result<usize> {
    let (raw, packet) = (fd.as_raw_fd(), [io::IoSlice::new(packet)]);
    let index = link.try_into().unwrap_or_default();
    match ip {
        IpAddr::V4(ip) => {
            let any = libc::in_addr { s_addr: 0 };
            let by = libc::in_pktinfo { ipi_ifindex: index, ipi_spec_dst: any, ipi_addr: any };
            let to = SockaddrIn::from(SocketAddrV4::new(ip, 0));
            sendmsg(raw, &packet, &[ControlMessage::Ipv4PacketInfo(&by)], NONE, Some(&to))
        }
        IpAddr::V6(ip) => {
            let any = libc::in6_addr { s6_addr: [0; 16] };
            let by = libc::in6_pktinfo { ipi6_addr: any, ipi6_ifindex: link };
            let scope = if ip.is_unicast_link_local() { link } else { 0 };
            let to = SockaddrIn6::from(SocketAddrV6::new(ip, 0, 0, scope));
            sendmsg(raw, &packet, &[ControlMessage::Ipv6PacketInfo(&by)], NONE, Some(&to))
        }
    }
}

async fn answer(fd: &AsyncFd<OwnedFd>, v4: bool, token: Token) -> io::Result<()> {
    let mut buffer = [0; 512];
    loop {
        let mut ready = fd.readable().await?;
        let read = ready.try_io(|fd| {
            recv(fd.get_ref().as_raw_fd(), &mut buffer, MsgFlags::empty()).map_err(Into::into)
        });
        let Ok(length) = read else { continue };
        if is_reply(&buffer[..length?], v4, &token) {
            return Ok(());
        }
    }
}

/// Whether this is the reply to an identifier, or to that and a sequence number; a raw IPv4 socket also delivers the IP header.
pub(super) fn is_reply(packet: &[u8], v4: bool, token: &[u8]) -> bool {
    let skip = match packet.first() {
        Some(first) if v4 => usize::from(first & 0x0f) * 4,
        Some(_) | None => 0,
    };
    let reply = if v4 { 0 } else { 129 };
    packet.get(skip..skip + 8).is_some_and(|it| it[0] == reply && it[4..].starts_with(token))
}

/// The Internet checksum (RFC 1071) of an eight-byte header.
pub(super) fn with_checksum(mut header: [u8; 8]) -> [u8; 8] {
    let mut sum: u32 =
        header.chunks_exact(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]]))).sum();
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    let [.., high, low] = (!sum).to_be_bytes();
    header[2] = high;
    header[3] = low;
    header
}

#[cfg(test)]
mod tests {
    use super::{is_reply, request, token, with_checksum};

    #[test]
    fn checksum_and_replies() {
        assert_eq!(with_checksum([8, 0, 0, 0, 0, 1, 0, 1]), [8, 0, 0xf7, 0xfd, 0, 1, 0, 1]);
        let mut packet = vec![0x45; 20];
        packet.extend([0, 0, 0, 0, 1, 2, 0, 1]);
        assert!(is_reply(&packet, true, &[1, 2]));
        assert!(!is_reply(&packet, true, &[1, 3]));
        assert!(!is_reply(&packet[..22], true, &[1, 2]));
        assert!(is_reply(&[129, 0, 0, 0, 1, 2, 0, 1], false, &[1, 2]));
        assert!(!is_reply(&[], true, &[1, 2]));
    }

    #[test]
    fn a_reply_to_the_question_by_another_link_is_none() {
        let [one, other] = [2, 3].map(token);
        let mut reply = request(false, one);
        reply[0] = 129;
        assert!(is_reply(&reply, false, &one));
        assert!(!is_reply(&reply, false, &other));
    }
}
