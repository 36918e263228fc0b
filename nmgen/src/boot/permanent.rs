//! Permanent addresses of network devices: the hardware's, regardless of the current address. sysfs has
//! them for ports of bonds only; rtnetlink(7) has them for all since Linux 5.6.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::AsRawFd;

use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, recv, send, socket,
};

use crate::mac::Mac;

/// struct nlmsghdr and struct ifinfomsg.
const HEADER: usize = 16;
const LINK: usize = 16;
/// struct rtattr.
const ATTRIBUTE: usize = 4;

const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
const RTM_NEWLINK: u16 = 16;
const RTM_GETLINK: u16 = 18;
/// `NLM_F_REQUEST | NLM_F_DUMP`.
const DUMP: u16 = 0x301;
const IFLA_PERM_ADDRESS: u16 = 54;
/// The kernel's limit for one answer (netlink(7)).
const ANSWER: usize = 32 << 10;

/// Permanent addresses by device index. Devices without one are left out.
///
/// # Errors
/// The kernel does not answer.
pub(super) fn addresses() -> io::Result<BTreeMap<u32, Mac>> {
    let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
    let socket = socket(AddressFamily::Netlink, SockType::Raw, flags, SockProtocol::NetlinkRoute)?;
    send(socket.as_raw_fd(), &request(), MsgFlags::empty())?;
    let (mut found, mut buffer) = (BTreeMap::new(), vec![0; ANSWER]);
    loop {
        let length = match recv(socket.as_raw_fd(), &mut buffer, MsgFlags::empty()) {
            Err(Errno::EINTR) => continue,
            length => length?,
        };
        if read(&buffer[..length], &mut found)? == Answer::Complete {
            return Ok(found);
        }
    }
}

fn request() -> [u8; HEADER + LINK] {
    let mut message = [0; HEADER + LINK];
    message[..4].copy_from_slice(&((HEADER + LINK) as u32).to_ne_bytes());
    message[4..6].copy_from_slice(&RTM_GETLINK.to_ne_bytes());
    message[6..8].copy_from_slice(&DUMP.to_ne_bytes());
    message
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    Complete,
    MoreToCome,
}

/// Reads the messages of one answer.
fn read(mut bytes: &[u8], found: &mut BTreeMap<u32, Mac>) -> io::Result<Answer> {
    while let (Some(length), Some(kind)) = (number(bytes), half(bytes, 4)) {
        let length = length as usize;
        let Some(message) = bytes.get(HEADER..length) else {
            return Err(Errno::EBADMSG.into());
        };
        match kind {
            NLMSG_DONE => return Ok(Answer::Complete),
            NLMSG_ERROR => {
                let code = number(message).map_or(0, |code| code.cast_signed().saturating_neg());
                return Err(io::Error::from_raw_os_error(code));
            }
            RTM_NEWLINK => {
                let index = message.get(4..).and_then(number);
                let mac = message.get(LINK..).and_then(permanent);
                found.extend(index.zip(mac));
            }
            _ => {}
        }
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    Ok(Answer::MoreToCome)
}

/// The permanent address among the attributes.
fn permanent(mut attributes: &[u8]) -> Option<Mac> {
    loop {
        let (length, kind) = (usize::from(half(attributes, 0)?), half(attributes, 2)?);
        let value = attributes.get(ATTRIBUTE..length)?;
        if kind == IFLA_PERM_ADDRESS {
            return Mac::from_bytes(value).filter(|mac| !mac.is_zero());
        }
        attributes = attributes.get(length.next_multiple_of(4)..)?;
    }
}

fn number(bytes: &[u8]) -> Option<u32> {
    Some(u32::from_ne_bytes(*bytes.first_chunk()?))
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
        let length = (ATTRIBUTE + value.len()) as u16;
        let mut bytes = [length.to_ne_bytes(), kind.to_ne_bytes()].concat();
        bytes.extend_from_slice(value);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    fn message(kind: u16, index: u32, attributes: &[u8]) -> Vec<u8> {
        let length = (HEADER + LINK + attributes.len()) as u32;
        let mut bytes = length.to_ne_bytes().to_vec();
        bytes.extend([kind.to_ne_bytes(), [2, 0]].concat());
        bytes.extend([0; 12]);
        bytes.extend(index.to_ne_bytes());
        bytes.extend([0; 8]);
        bytes.extend_from_slice(attributes);
        bytes
    }

    #[test]
    fn an_address_is_found_by_its_device() {
        let own = [0x52, 0x54, 0, 0, 0, 1];
        let mac = Mac::parse("52:54:00:00:00:01");
        let card =
            [attribute(3, b"ens3\0"), attribute(1, &[2; 6]), attribute(IFLA_PERM_ADDRESS, &own)];
        let answer = [
            message(RTM_NEWLINK, 1, &attribute(3, b"lo\0")),
            message(RTM_NEWLINK, 7, &card.concat()),
            message(RTM_NEWLINK, 8, &attribute(IFLA_PERM_ADDRESS, &[0; 6])),
        ]
        .concat();
        let mut found = BTreeMap::new();
        assert_eq!(read(&answer, &mut found).ok(), Some(Answer::MoreToCome));
        assert_eq!(found.remove(&7), mac);
        assert!(mac.is_some() && found.is_empty(), "{found:?}");
        let done = message(NLMSG_DONE, 0, &[]);
        assert_eq!(read(&done, &mut BTreeMap::new()).ok(), Some(Answer::Complete));
    }

    #[test]
    fn an_answer_that_is_cut_off_is_an_error_and_no_panic() {
        let whole = message(RTM_NEWLINK, 7, &attribute(IFLA_PERM_ADDRESS, &[2; 6]));
        for length in 0..whole.len() {
            let mut found = BTreeMap::new();
            let answer = read(&whole[..length], &mut found);
            assert!(answer.is_err() || length < 6, "{length}");
            assert!(found.is_empty(), "{length}");
        }
        let refused = message(NLMSG_ERROR, 0, &[]);
        let code = (-1_i32).to_ne_bytes();
        let refused = [&refused[..HEADER], &code, &refused[HEADER + 4..]].concat();
        let error = read(&refused, &mut BTreeMap::new()).map_err(|error| error.raw_os_error());
        assert_eq!(error, Err(Some(1)));
    }

    #[test]
    fn the_kernel_answers() {
        assert!(addresses().is_ok());
    }
}
