//! Questions by ARP for an address of this node (RFC 5227): whoever answers has it too.

use std::{
    io,
    io::IoSliceMut,
    net::Ipv4Addr,
    os::fd::{AsRawFd as _, OwnedFd},
    time::Duration,
};

use nix::{
    cmsg_space,
    ifaddrs::getifaddrs,
    libc,
    sys::socket::{
        AddressFamily, ControlMessageOwned, MsgFlags, SockFlag, SockProtocol, SockType, bind, recv,
        recvmsg, send, setsockopt, socket, sockopt::RxqOvfl,
    },
};
use tokio::io::{Interest, unix::AsyncFd};

use super::{
    event_fd,
    filter::{self, Condition, PacketField},
};
use crate::model::Mac;

/// Questions, one of which may be lost.
const QUESTIONS: u32 = 2;
/// The time for an answer to each: both together take what NetworkManager's own detection does by default. An apply asks before the
/// change and after it.
const BOUND: Duration = Duration::from_millis(100);
/// A frame without its payload, and ARP's for IPv4.
const HEADER: usize = 14;
const LENGTH: usize = HEADER + 28;

/// What frames of the kernel's are for, but for those that this machine sends (`PACKET_OUTGOING`).
const OUTGOING: u32 = 4;
/// The number of a VLAN in a tag.
const VLAN: u32 = 0xfff;

/// Another machine that has this address on this link's network; `own` are this machine's cards, whose answers do not count. An
/// error if the kernel had no room for a frame, which may have been the answer.
pub(crate) async fn other_owner(link: &str, ip: Ipv4Addr, own: &[Mac]) -> io::Result<Option<Mac>> {
    let mut all = getifaddrs()?.filter(|interface| interface.interface_name == link);
    // As packet(7) addresses it.
    let address = all.find_map(|interface| interface.address?.as_link_addr().copied());
    let address = address.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
    let mac = address.addr().ok_or_else(|| io::Error::from(io::ErrorKind::Unsupported))?;
    let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
    let fd = socket(AddressFamily::Packet, SockType::Raw, flags, SockProtocol::EthAll)?;
    filter::attach(&fd, &claims(ip))?;
    setsockopt(&fd, RxqOvfl, &1)?;
    bind(fd.as_raw_fd(), &address)?;
    // Those that came before the filter.
    while recv(fd.as_raw_fd(), &mut [0; LENGTH], MsgFlags::empty()).is_ok() {}
    let fd = event_fd::watch(fd, Interest::READABLE)?;
    let mut lost = 0;
    for _ in 0..QUESTIONS {
        send(fd.get_ref().as_raw_fd(), &question(mac, ip), MsgFlags::empty())?;
        match tokio::time::timeout(BOUND, answer(&fd, ip, own, &mut lost)).await {
            Ok(found) => return found.map(Some),
            Err(_silence) => {}
        }
    }
    match lost {
        0 => Ok(None),
        lost => Err(io::Error::other(format!("the kernel has dropped {lost} frames"))),
    }
}

/// The frames on this link, and on no VLAN of it, of other machines that claim the address by ARP for IPv4 over Ethernet. A frame
/// with a priority has a tag with VLAN 0.
fn claims(ip: Ipv4Addr) -> [Condition; 6] {
    let of_frame = |what: i32| PacketField::Word(libc::SKF_AD_OFF + what);
    [
        Condition::has_none(of_frame(libc::SKF_AD_PKTTYPE), OUTGOING),
        Condition::has_none(of_frame(libc::SKF_AD_VLAN_TAG), VLAN),
        Condition::is(PacketField::Half(12), 0x0806),
        Condition::is(PacketField::Word(14), 0x0001_0800),
        Condition::is(PacketField::Half(18), 0x0604),
        Condition::is(PacketField::Word(28), ip.to_bits()),
    ]
}

/// The first answer; `lost` are the frames that the kernel had no room for.
async fn answer(
    fd: &AsyncFd<OwnedFd>,
    ip: Ipv4Addr,
    own: &[Mac],
    lost: &mut u32,
) -> io::Result<Mac> {
    let mut buffer = [0; LENGTH];
    let mut control = cmsg_space!(u32);
    loop {
        let mut ready = fd.readable().await?;
        let read = ready.try_io(|fd| {
            let (fd, mut parts) = (fd.get_ref().as_raw_fd(), [IoSliceMut::new(&mut buffer)]);
            let received = recvmsg::<()>(fd, &mut parts, Some(&mut control), MsgFlags::empty())?;
            for message in received.cmsgs()? {
                if let ControlMessageOwned::RxqOvfl(count) = message {
                    *lost = count;
                }
            }
            Ok(received.bytes)
        });
        let Ok(length) = read else { continue };
        let sender = sender(buffer.get(..length?).unwrap_or_default(), ip);
        if let Some(mac) = sender.filter(|mac| !own.contains(mac)) {
            return Ok(mac);
        }
    }
}

/// A question without an address of the sender, so that nobody's table of neighbours changes.
fn question(mac: [u8; 6], ip: Ipv4Addr) -> [u8; LENGTH] {
    let mut frame = [0; LENGTH];
    frame[..6].fill(0xff);
    frame[6..12].copy_from_slice(&mac);
    // ARP; Ethernet, IPv4, their lengths, a request.
    frame[12..22].copy_from_slice(&[8, 6, 0, 1, 8, 0, 6, 4, 0, 1]);
    frame[22..28].copy_from_slice(&mac);
    frame[38..].copy_from_slice(&ip.octets());
    frame
}

/// The sender of an ARP packet that claims this address; a question for it claims nothing.
fn sender(frame: &[u8], ip: Ipv4Addr) -> Option<Mac> {
    let is_arp = frame.get(12..20)? == [8, 6, 0, 1, 8, 0, 6, 4];
    let claims = frame.get(28..32)? == ip.octets();
    (is_arp && claims).then(|| frame.get(22..28).and_then(Mac::of_ethernet)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_filter_takes_what_claims_the_address() -> io::Result<()> {
        let (here, there) = std::os::unix::net::UnixDatagram::pair()?;
        here.set_nonblocking(true)?;
        let ip = Ipv4Addr::new(192, 0, 2, 10);
        filter::attach(&here, &claims(ip))?;
        let claim = |change: &dyn Fn(&mut [u8])| {
            let mut frame = question([2, 0, 0, 0, 0, 1], ip);
            frame[28..32].copy_from_slice(&ip.octets());
            change(&mut frame);
            frame
        };
        let heard = |frame: &[u8]| {
            there.send(frame)?;
            Ok::<_, io::Error>(here.recv(&mut [0; LENGTH]).is_ok())
        };
        assert!(heard(&claim(&|_| {}))?, "a question that claims it too");
        assert!(heard(&claim(&|frame| frame[21] = 2))?, "an answer");
        assert!(!heard(&question([2, 0, 0, 0, 0, 1], ip))?, "a question");
        for byte in [12, 13, 14, 15, 16, 17, 18, 19, 28, 29, 30, 31] {
            assert!(!heard(&claim(&|frame| frame[byte] ^= 1))?, "{byte}");
        }
        assert!(!heard(&claim(&|_| {})[..31])?);
        Ok(())
    }

    #[test]
    fn an_answer_claims_the_address_and_a_question_does_not() {
        let ip = Ipv4Addr::new(192, 0, 2, 10);
        let asked = question([2, 0, 0, 0, 0, 1], ip);
        assert_eq!(sender(&asked, ip), None);
        let mut answer = asked;
        answer[22..28].copy_from_slice(&[2, 0, 0, 0, 0, 9]);
        answer[28..32].copy_from_slice(&ip.octets());
        assert_eq!(sender(&answer, ip), Mac::of_ethernet(&[2, 0, 0, 0, 0, 9]));
        assert_eq!(sender(&answer, Ipv4Addr::new(192, 0, 2, 11)), None);
        assert!(sender(&answer[..40], ip).is_some());
        for length in 0..28 {
            assert_eq!(sender(&answer[..length], ip), None);
        }
        answer[13] = 0;
        assert_eq!(sender(&answer, ip), None);
    }
}
