//! Waits for network devices by events of udevd and the kernel, without polling.

pub(crate) mod cards;
pub(crate) mod pci;
mod permanent;
pub(crate) mod quiet;

use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::Instant;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify};
use nix::sys::socket::{
    AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, bind, recv, socket,
};

use crate::root::Paths;

/// The kernel's own messages, and udevd's, sent once a device is processed.
const GROUPS: u32 = 1 | 2;
/// Longer messages are truncated; the subsystem is near their beginning.
const MESSAGE_BYTES: usize = 8 << 10;
const NETWORK: &[u8] = b"SUBSYSTEM=net\0";

pub(crate) struct Events {
    /// `NETLINK_KOBJECT_UEVENT`.
    devices: Option<OwnedFd>,
    /// inotify on udevd's directory, where the queue file shows whether events are pending.
    udev: Option<Inotify>,
}

impl Events {
    /// Starts listening. A source that the system doesn't have is left out.
    pub(crate) fn listen(paths: &Paths) -> Self {
        Self { devices: devices().ok(), udev: udev(paths).ok() }
    }

    /// Returns true after the next event, false at `deadline`, whatever is queued then: events without end
    /// hold nothing up.
    pub(crate) fn wait(&self, deadline: Instant) -> bool {
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            // Rounded up: in the last millisecond a poll of 0 ms would spin.
            let milliseconds = left.as_nanos().div_ceil(1_000_000);
            let timeout = PollTimeout::try_from(milliseconds).unwrap_or(PollTimeout::MAX);
            let descriptors =
                [self.devices.as_ref().map(AsFd::as_fd), self.udev.as_ref().map(AsFd::as_fd)];
            let mut polled: Vec<PollFd<'_>> = descriptors
                .into_iter()
                .flatten()
                .map(|descriptor| PollFd::new(descriptor, PollFlags::POLLIN))
                .collect();
            match poll(&mut polled, timeout) {
                Ok(0) | Err(Errno::EINTR) => continue,
                Ok(_) => {}
                Err(_) => return false,
            }
            // Everything queued counts as one event.
            let device = self.devices.as_ref().is_some_and(drain);
            let udev = self.udev.as_ref().is_some_and(|udev| udev.read_events().is_ok());
            if device || udev {
                return true;
            }
        }
    }
}

fn devices() -> nix::Result<OwnedFd> {
    let flags = SockFlag::SOCK_CLOEXEC;
    let protocol = SockProtocol::NetlinkKObjectUEvent;
    let socket = socket(AddressFamily::Netlink, SockType::Datagram, flags, protocol)?;
    bind(socket.as_raw_fd(), &NetlinkAddr::new(0, GROUPS))?;
    Ok(socket)
}

fn udev(paths: &Paths) -> nix::Result<Inotify> {
    let inotify = Inotify::init(InitFlags::IN_CLOEXEC | InitFlags::IN_NONBLOCK)?;
    let flags = AddWatchFlags::IN_CREATE | AddWatchFlags::IN_DELETE | AddWatchFlags::IN_ONLYDIR;
    inotify.add_watch(&paths.under("/run/udev"), flags)?;
    Ok(inotify)
}

/// Reads the whole queue; true when a message is about a network device, or messages were lost.
fn drain(socket: &OwnedFd) -> bool {
    let mut buffer = [0; MESSAGE_BYTES];
    let mut is_network = false;
    loop {
        match recv(socket.as_raw_fd(), &mut buffer, MsgFlags::MSG_DONTWAIT) {
            Ok(length) => is_network |= is_about_network(&buffer[..length]),
            Err(Errno::ENOBUFS) => is_network = true,
            Err(Errno::EINTR) => {}
            Err(_) => return is_network,
        }
    }
}

/// True for a message of the kernel's or of udevd's about a network device.
fn is_about_network(message: &[u8]) -> bool {
    message.windows(NETWORK.len()).any(|window| window == NETWORK)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_devices_wake_nobody() {
        let message = |subsystem| {
            let path = "/devices/pci0000:00/0000:00:03.0/net/ens3";
            format!("add@{path}\0ACTION=add\0DEVPATH={path}\0SUBSYSTEM={subsystem}\0SEQNUM=9\0")
        };
        for (subsystem, expected) in [("net", true), ("block", false), ("netlink", false)] {
            assert_eq!(is_about_network(message(subsystem).as_bytes()), expected, "{subsystem}");
        }
        assert!(!is_about_network(b""));
    }
}
