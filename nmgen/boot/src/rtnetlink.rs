//! Requests to the kernel about links and addresses: rtnetlink(7).

use std::io;
use std::os::fd::AsRawFd;

use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, recv, send, socket,
};

/// struct nlmsghdr.
pub(crate) const HEADER: usize = 16;
/// struct ifinfomsg.
pub(crate) const LINK: usize = 16;
/// struct rtattr.
pub(crate) const ATTRIBUTE: usize = 4;

const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
pub(crate) const RTM_NEWLINK: u16 = 16;
pub(crate) const RTM_DELLINK: u16 = 17;
pub(crate) const RTM_GETLINK: u16 = 18;
pub(crate) const RTM_NEWADDR: u16 = 20;
pub(crate) const RTM_DELADDR: u16 = 21;
pub(crate) const RTM_GETADDR: u16 = 22;
/// `NLM_F_REQUEST | NLM_F_DUMP`, `NLM_F_REQUEST | NLM_F_ACK`.
pub(crate) const DUMP: u16 = 0x301;
pub(crate) const ACK: u16 = 0x5;
/// The kernel's limit for one answer (netlink(7)).
const ANSWER: usize = 32 << 10;

/// Sends one request; `found` gets the kind and the payload of each message of the answer.
///
/// # Errors
/// The kernel does not answer, or refuses.
pub(crate) fn ask(
    kind: u16,
    flags: u16,
    payload: &[u8],
    mut found: impl FnMut(u16, &[u8]),
) -> io::Result<()> {
    let protocol = SockProtocol::NetlinkRoute;
    let socket = socket(AddressFamily::Netlink, SockType::Raw, SockFlag::SOCK_CLOEXEC, protocol)?;
    send(socket.as_raw_fd(), &request(kind, flags, payload), MsgFlags::empty())?;
    let mut buffer = vec![0; ANSWER];
    loop {
        let length = match recv(socket.as_raw_fd(), &mut buffer, MsgFlags::MSG_DONTWAIT) {
            Err(Errno::EINTR) => continue,
            length => length?,
        };
        if read(&buffer[..length], &mut found)? == Answer::Complete {
            return Ok(());
        }
    }
}

fn request(kind: u16, flags: u16, payload: &[u8]) -> Vec<u8> {
    let length = (HEADER + payload.len()) as u32;
    let mut message = length.to_ne_bytes().to_vec();
    message.extend([kind.to_ne_bytes(), flags.to_ne_bytes()].concat());
    message.resize(HEADER, 0);
    message.extend_from_slice(payload);
    message
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    Complete,
    MoreToCome,
}

/// Reads the messages of one answer.
pub(crate) fn read(mut bytes: &[u8], found: &mut impl FnMut(u16, &[u8])) -> io::Result<Answer> {
    while let (Some(length), Some(kind)) = (number(bytes), half(bytes, 4)) {
        let length = length as usize;
        let Some(message) = bytes.get(HEADER..length) else {
            return Err(Errno::EBADMSG.into());
        };
        match kind {
            NLMSG_DONE => return Ok(Answer::Complete),
            // Without an error it is the acknowledgement.
            NLMSG_ERROR => {
                let code = number(message).map_or(0, |code| code.cast_signed().saturating_neg());
                return match code {
                    0 => Ok(Answer::Complete),
                    code => Err(io::Error::from_raw_os_error(code)),
                };
            }
            _ => found(kind, message),
        }
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    Ok(Answer::MoreToCome)
}

pub(crate) fn number(bytes: &[u8]) -> Option<u32> {
    Some(u32::from_ne_bytes(*bytes.first_chunk()?))
}

pub(crate) fn half(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}
