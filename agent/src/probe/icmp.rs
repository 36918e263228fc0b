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

use crate::client::{
    event_fd,
    filter::{self, Condition, PacketField},
    random,
};

const BOUND: Duration = Duration::from_secs(1);

const NONE: MsgFlags = MsgFlags::empty();

/// The bytes after an echo's checksum: identifier and sequence number.
type Token = [u8; 4];

/// Sends an echo request by the link with this index and waits a second for the answer.
pub(super) async fn echo(ip: IpAddr, link: u32) -> io::Result<()> {
    let token: Token = random::bytes()?;
    let fd = raw_socket(ip, [token[0], token[1]])?;
    let fd = event_fd::watch(fd, Interest::READABLE)?;
    send(fd.get_ref(), &request(ip.is_ipv4(), token), ip, link)?;
    tokio::time::timeout(BOUND, answer(&fd, ip.is_ipv4(), token))
        .await
        .map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?
}

/// A raw socket of ICMP that hears the replies of this address to this identifier.
pub(super) fn raw_socket(ip: IpAddr, id: [u8; 2]) -> io::Result<OwnedFd> {
    let (family, protocol) = match ip {
        IpAddr::V4(_) => (AddressFamily::Inet, SockProtocol::Icmp),
        IpAddr::V6(_) => (AddressFamily::Inet6, SockProtocol::IcmpV6),
    };
    let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
    let fd = socket(family, SockType::Raw, flags, protocol)?;
    hear(&fd, ip, id)?;
    Ok(fd)
}

/// Lets a raw socket hear replies of this address to this identifier alone; without a filter it gets those to everybody.
fn hear(socket: &OwnedFd, ip: IpAddr, [a, b]: [u8; 2]) -> io::Result<()> {
    let id = u16::from_be_bytes([a, b]).into();
    match ip {
        IpAddr::V4(ip) => {
            // IP's header without options, as the request has none.
            let conditions = [
                Condition::is(PacketField::Byte(0), 0x45),
                Condition::is(PacketField::Word(12), ip.to_bits()),
                Condition::is(PacketField::Byte(20), 0),
                Condition::is(PacketField::Half(24), id),
            ];
            filter::attach(socket, &conditions)
        }
        IpAddr::V6(ip) => {
            let source = (0..4).map(|part: u8| {
                let word = (ip.to_bits() >> (96 - 32 * u32::from(part))) as u32;
                Condition::is(PacketField::Word(libc::SKF_NET_OFF + 8 + 4 * i32::from(part)), word)
            });
            let own =
                [Condition::is(PacketField::Byte(0), 129), Condition::is(PacketField::Half(4), id)];
            filter::attach(socket, &source.chain(own).collect::<Vec<_>>())
        }
    }
}

fn request(is_v4: bool, [a, b, c, d]: Token) -> [u8; 8] {
    match is_v4 {
        true => with_checksum([8, 0, 0, 0, a, b, c, d]),
        // The kernel fills in the checksum of ICMPv6.
        false => [128, 0, 0, 0, a, b, c, d],
    }
}

/// Sends a packet by the link with this index: the kernel's choice is another card in the same network, where that one's route has
/// a lower metric (`IP_PKTINFO` of ip(7), `IPV6_PKTINFO` of ipv6(7)). The reply may come by any: whoever sends one has to know the
/// request's random token.
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
    packet
        .get(skip..skip + 8)
        .is_some_and(|header| header[0] == reply && header[4..].starts_with(token))
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
    use std::os::unix::net::UnixDatagram;

    use super::{hear, is_reply, with_checksum};

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
    fn a_socket_hears_replies_of_the_gateway_to_its_own_identifier() -> std::io::Result<()> {
        let (here, there) = UnixDatagram::pair()?;
        here.set_nonblocking(true)?;
        let reply = {
            let mut packet = vec![0; 28];
            packet[0] = 0x45;
            packet[12..16].copy_from_slice(&[192, 0, 2, 1]);
            packet[24..26].copy_from_slice(&[7, 9]);
            packet
        };
        hear(&here.try_clone()?.into(), [192, 0, 2, 1].into(), [7, 9])?;
        let heard = |packet: &[u8]| {
            there.send(packet)?;
            Ok::<_, std::io::Error>(here.recv(&mut [0; 64]).is_ok())
        };
        assert!(heard(&reply)?);
        // Another version, source, type, identifier.
        for byte in [0, 12, 15, 20, 24, 25] {
            let mut other = reply.clone();
            other[byte] ^= 1;
            assert!(!heard(&other)?, "{byte}");
        }
        Ok(())
    }
}
