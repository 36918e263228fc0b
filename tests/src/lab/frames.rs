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

/// Announces an address by ARP (RFC 5227) again and again, until it is dropped.
#[derive(Debug)]
pub struct Announcements {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Announcements {
    pub(crate) fn start(
        netns: &Netns,
        segment: &str,
        vlan: Option<u16>,
        address: Ipv4Addr,
        pause: Duration,
    ) -> Result<Self> {
        let link = segment.to_owned();
        let socket = netns.within(move || packet_socket(&link))?.map_err(netns.failed())?;
        let stop = Arc::new(AtomicBool::new(false));
        let (stopped, frame) = (Arc::clone(&stop), announcement(vlan, address));
        let thread = thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                // A full queue loses frames, as a wire does.
                let _ = send(socket.as_raw_fd(), &frame, MsgFlags::empty());
                thread::sleep(pause);
            }
        });
        Ok(Self { stop, thread: Some(thread) })
    }
}

impl Drop for Announcements {
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

/// Returns an ARP reply to everybody, with a VLAN's tag or without one.
fn announcement(vlan: Option<u16>, address: Ipv4Addr) -> Vec<u8> {
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
