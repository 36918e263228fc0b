//! One echo request (RFC 792, RFC 4443).

use std::{
    io,
    net::{IpAddr, SocketAddrV6},
    os::fd::{AsRawFd as _, OwnedFd},
    time::Duration,
};

use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, SockaddrIn, SockaddrIn6, recv,
    sendto, socket,
};
use tokio::io::{Interest, unix::AsyncFd};

use crate::client::event_fd;

const BOUND: Duration = Duration::from_secs(1);

/// Sends an echo request and waits a second for the answer; `link` is the interface index for
/// link-local addresses.
pub(super) async fn echo(ip: IpAddr, link: u32) -> io::Result<()> {
    let (family, protocol) = match ip {
        IpAddr::V4(_) => (AddressFamily::Inet, SockProtocol::Icmp),
        IpAddr::V6(_) => (AddressFamily::Inet6, SockProtocol::IcmpV6),
    };
    let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
    let fd = event_fd::watch(socket(family, SockType::Raw, flags, protocol)?, Interest::READABLE)?;
    let id = std::process::id().to_be_bytes();
    let id = [id[2], id[3]];
    send(&fd, ip, link, id)?;
    tokio::time::timeout(BOUND, answer(&fd, ip.is_ipv4(), id))
        .await
        .map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?
}

fn send(fd: &AsyncFd<OwnedFd>, ip: IpAddr, link: u32, id: [u8; 2]) -> io::Result<()> {
    let raw = fd.get_ref().as_raw_fd();
    match ip {
        IpAddr::V4(ip) => {
            let to = SockaddrIn::from(std::net::SocketAddrV4::new(ip, 0));
            sendto(raw, &with_checksum([8, 0, 0, 0, id[0], id[1], 0, 1]), &to, MsgFlags::empty())?;
        }
        IpAddr::V6(ip) => {
            let scope = if ip.is_unicast_link_local() { link } else { 0 };
            let to = SockaddrIn6::from(SocketAddrV6::new(ip, 0, 0, scope));
            // The kernel fills in the checksum of ICMPv6.
            sendto(raw, &[128, 0, 0, 0, id[0], id[1], 0, 1], &to, MsgFlags::empty())?;
        }
    }
    Ok(())
}

async fn answer(fd: &AsyncFd<OwnedFd>, v4: bool, id: [u8; 2]) -> io::Result<()> {
    let mut buffer = [0; 512];
    loop {
        let mut ready = fd.readable().await?;
        let read = ready.try_io(|fd| {
            recv(fd.get_ref().as_raw_fd(), &mut buffer, MsgFlags::empty()).map_err(Into::into)
        });
        let Ok(length) = read else { continue };
        if is_reply(&buffer[..length?], v4, id) {
            return Ok(());
        }
    }
}

/// Whether this is the reply; a raw IPv4 socket also delivers the IP header.
pub(super) fn is_reply(packet: &[u8], v4: bool, id: [u8; 2]) -> bool {
    let skip = match packet.first() {
        Some(first) if v4 => usize::from(first & 0x0f) * 4,
        Some(_) | None => 0,
    };
    let reply = if v4 { 0 } else { 129 };
    matches!(packet.get(skip..skip + 6), Some([kind, _, _, _, a, b]) if *kind == reply && [*a, *b] == id)
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
    use super::{is_reply, with_checksum};

    #[test]
    fn checksum_and_replies() {
        assert_eq!(with_checksum([8, 0, 0, 0, 0, 1, 0, 1]), [8, 0, 0xf7, 0xfd, 0, 1, 0, 1]);
        let mut packet = vec![0x45; 20];
        packet.extend([0, 0, 0, 0, 1, 2, 0, 1]);
        assert!(is_reply(&packet, true, [1, 2]));
        assert!(!is_reply(&packet, true, [1, 3]));
        assert!(!is_reply(&packet[..22], true, [1, 2]));
        assert!(is_reply(&[129, 0, 0, 0, 1, 2, 0, 1], false, [1, 2]));
        assert!(!is_reply(&[], true, [1, 2]));
    }
}
