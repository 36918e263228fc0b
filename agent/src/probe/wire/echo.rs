//! Echo requests of a given size that nobody may fragment.

use std::{
    io,
    net::{IpAddr, SocketAddrV4, SocketAddrV6},
    os::fd::{AsRawFd as _, OwnedFd},
    time::Duration,
};

use nix::{
    errno::Errno,
    sys::socket::{
        MsgFlags, SockaddrIn, SockaddrIn6, connect, getsockopt, recv, setsockopt,
        sockopt::{IpMtu, Ipv6DontFrag},
    },
};
use tokio::io::{Interest, unix::AsyncFd};

use crate::{
    client::{event_fd, random},
    probe::icmp,
};

/// The time for an answer to one packet.
const BOUND: Duration = Duration::from_millis(400);
/// ICMP's header.
const HEADER: usize = 8;
/// The largest packet of an interface.
const LARGEST: usize = 65_535;

/// A socket whose answers are of one address alone.
pub(super) struct Echo {
    fd: AsyncFd<OwnedFd>,
    ip: IpAddr,
    link: u32,
    is_v4: bool,
    id: [u8; 2],
    sequence: u8,
    buffer: Vec<u8>,
}

impl Echo {
    /// `link` is the interface index for link-local addresses.
    pub(super) fn to(ip: IpAddr, link: u32) -> io::Result<Self> {
        let id = random::bytes()?;
        let fd = icmp::raw_socket(ip, id)?;
        match ip {
            IpAddr::V4(ip) => {
                connect(fd.as_raw_fd(), &SockaddrIn::from(SocketAddrV4::new(ip, 0)))?;
            }
            IpAddr::V6(ip) => {
                let scope = if ip.is_unicast_link_local() { link } else { 0 };
                setsockopt(&fd, Ipv6DontFrag, &true)?;
                connect(fd.as_raw_fd(), &SockaddrIn6::from(SocketAddrV6::new(ip, 0, 0, scope)))?;
            }
        }
        let fd = event_fd::watch(fd, Interest::READABLE)?;
        let buffer = vec![0; LARGEST];
        Ok(Self { fd, ip, link, is_v4: ip.is_ipv4(), id, sequence: 0, buffer })
    }

    /// Whether one of so many packets with this many bytes, IP's header counted, is answered in full. One that the kernel knows to
    /// be too large for the path does not pass.
    pub(super) async fn passes(&mut self, size: u32, packets: u32) -> io::Result<bool> {
        let header = if self.is_v4 { 20 } else { 40 };
        let size =
            usize::try_from(size).unwrap_or(LARGEST).clamp(header + HEADER, LARGEST) - header;
        // The kernel sets "don't fragment" for packets up to the MTU of the path, and would fragment a larger one.
        if self.is_v4
            && getsockopt(self.fd.get_ref(), IpMtu)?
                < i32::try_from(size + header).unwrap_or(i32::MAX)
        {
            return Ok(false);
        }
        for _ in 0..packets {
            self.sequence = self.sequence.wrapping_add(1);
            let kind = if self.is_v4 { 8 } else { 128 };
            let [a, b] = self.id;
            // Zeros leave the checksum of the header as it is; the kernel fills in that of ICMPv6.
            let mut packet = icmp::with_checksum([kind, 0, 0, 0, a, b, 0, self.sequence]).to_vec();
            packet.resize(size, 0);
            match icmp::send(self.fd.get_ref(), &packet, self.ip, self.link) {
                Ok(_) => {}
                Err(Errno::EMSGSIZE) => return Ok(false),
                // The answer to an earlier packet on its way.
                Err(Errno::EHOSTUNREACH | Errno::ENETUNREACH | Errno::ECONNREFUSED) => continue,
                Err(e) => return Err(e.into()),
            }
            match tokio::time::timeout(BOUND, self.answer(size)).await {
                Ok(answered) => return answered.map(|()| true),
                Err(_silence) => {}
            }
        }
        Ok(false)
    }

    async fn answer(&mut self, size: usize) -> io::Result<()> {
        let skip = if self.is_v4 { 20 } else { 0 };
        loop {
            let mut ready = self.fd.readable().await?;
            let buffer = &mut self.buffer;
            let read = ready.try_io(|fd| {
                recv(fd.get_ref().as_raw_fd(), buffer, MsgFlags::empty()).map_err(Into::into)
            });
            // An error is that of a packet which did not get there: the others may.
            let Ok(Ok(length)) = read else { continue };
            let packet = self.buffer.get(..length).unwrap_or_default();
            if length >= size + skip && icmp::is_reply(packet, self.is_v4, &self.id) {
                return Ok(());
            }
        }
    }
}
