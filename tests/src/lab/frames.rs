//! Frames of the peer's that no program of its own would send.

use std::{
    io,
    net::Ipv4Addr,
    os::fd::{AsRawFd as _, OwnedFd},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use nix::{
    ifaddrs::getifaddrs,
    sys::socket::{AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, bind, send, socket},
};

use super::{error::Result, netns::Netns};

/// The card that the frames name as their sender.
const SENDER: [u8; 6] = [0x52, 0x54, 0, 0, 0, 0x77];

/// Sends frames to everybody on a segment again and again, until it is dropped.
#[derive(Debug)]
pub struct FrameSender {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl FrameSender {
    pub(crate) fn start(
        netns: &Netns,
        segment: &str,
        frames: Vec<Vec<u8>>,
        pause: Duration,
    ) -> Result<Self> {
        let link = segment.to_owned();
        let socket = netns.within(move || packet_socket(&link))?.map_err(netns.failed())?;
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                for frame in &frames {
                    // A full queue loses frames, as a wire does.
                    let _ = send(socket.as_raw_fd(), frame, MsgFlags::empty());
                }
                thread::sleep(pause);
            }
        });
        Ok(Self { stop, thread: Some(thread) })
    }
}

impl Drop for FrameSender {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn packet_socket(link: &str) -> io::Result<OwnedFd> {
    let fd =
        socket(AddressFamily::Packet, SockType::Raw, SockFlag::SOCK_CLOEXEC, SockProtocol::EthAll)?;
    let links = getifaddrs()?.filter(|entry| entry.interface_name == link);
    let address = links.filter_map(|entry| entry.address?.as_link_addr().copied()).next();
    bind(fd.as_raw_fd(), &address.ok_or(io::ErrorKind::NotFound)?)?;
    Ok(fd)
}

/// Returns an announcement of an address by ARP (RFC 5227), with a VLAN's tag or without one.
pub(crate) fn announcement(vlan: Option<u16>, address: Ipv4Addr) -> Vec<u8> {
    let mut frame = [[0xff; 6], SENDER].concat();
    if let Some(id) = vlan {
        frame.extend(0x8100_u16.to_be_bytes());
        frame.extend(id.to_be_bytes());
    }
    // ARP for IPv4 over Ethernet, a reply.
    frame.extend([0x08, 0x06, 0, 1, 0x08, 0, 6, 4, 0, 2]);
    frame.extend(SENDER);
    frame.extend(address.octets());
    frame.extend([0xff; 6]);
    frame.extend(address.octets());
    frame
}

/// Returns an ICMP echo reply (RFC 792) with this identifier and sequence number.
pub(crate) fn echo_reply(from: Ipv4Addr, to: Ipv4Addr, token: [u8; 4]) -> Vec<u8> {
    // IP without options, of 28 bytes, with 64 hops left, ICMP.
    let mut ip =
        [&[0x45, 0, 0, 28, 0, 0, 0, 0, 64, 1, 0, 0][..], &from.octets(), &to.octets()].concat();
    set_checksum(&mut ip, 10);
    let mut icmp = [[0; 4], token].concat();
    set_checksum(&mut icmp, 2);
    [&[0xff; 6][..], &SENDER, &[0x08, 0x00], &ip, &icmp].concat()
}

/// Writes the Internet checksum (RFC 1071) of a header, in which it is zero, to its place.
fn set_checksum(header: &mut [u8], place: usize) {
    let pairs = header.chunks_exact(2);
    let sum: u32 = pairs.map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]]))).sum();
    let fold = |sum: u32| (sum & 0xffff) + (sum >> 16);
    let [.., high, low] = (!fold(fold(sum))).to_be_bytes();
    header[place..place + 2].copy_from_slice(&[high, low]);
}
