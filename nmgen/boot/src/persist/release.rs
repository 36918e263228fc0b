//! Interfaces that the initramfs brought up with profiles that the running system does not get.
//!
//! NetworkManager's state file of such a device names a profile that the running system's NetworkManager
//! does not know. It would show the device as "connected (externally)", and never activate the system's own
//! profile (nm-manager.c, `get_existing_connection`). So once the initramfs's NetworkManager has stopped, the
//! device is put back: deleted, or down and without addresses; the running system starts from there. A card
//! that carries the root disk stays up, and its state file names the system's own profile instead.

use std::io;
use std::path::Path;

use nix::errno::Errno;
use nmgen_core::profile::Keyfile;
use nmgen_core::write;
use nmgen_document::format::chain;

use crate::fault::Fault;
use crate::files;
use crate::kernel_log::{Level, Log};
use crate::root::Paths;
use crate::rtnetlink::{
    ACK, DUMP, LINK, RTM_DELADDR, RTM_DELLINK, RTM_GETADDR, RTM_NEWADDR, RTM_NEWLINK, ask, number,
};
use crate::wait::cards::{CARDS, line};

/// Written by the second step, read when nmgen.service stops.
const RECORD: &str = "/run/nmgen-release";
/// NetworkManager's state files, by index.
const STATES: &str = "/run/NetworkManager/devices";
/// struct ifaddrmsg: the index's place.
const ADDRESS_INDEX: usize = 4;
const IFF_UP: u32 = 1;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Release {
    /// It is put back.
    Down { interface: String },
    /// Its state file names this profile.
    Adopt { interface: String, uuid: String },
}

/// Records the interfaces for [`release`]. Without any, nothing is written.
pub(crate) fn record(paths: &Paths, releases: &[Release]) -> Result<(), Fault> {
    if releases.is_empty() {
        return Ok(());
    }
    let line = |release: &Release| match release {
        Release::Down { interface } => format!("{interface}\n"),
        Release::Adopt { interface, uuid } => format!("{interface} {uuid}\n"),
    };
    let text: String = releases.iter().map(line).collect();
    write::write_file(&paths.under(RECORD), text.into_bytes()).map_err(Fault::Machine)
}

/// Puts the recorded interfaces back. An interface that is gone counts as done.
///
/// # Errors
/// The record cannot be read.
pub(crate) fn release(paths: &Paths, log: &Log) -> Result<(), Fault> {
    let path = paths.under(RECORD);
    let Some(record) = files::text(&path)? else { return Ok(()) };
    for entry in record.lines() {
        let (interface, uuid) = entry.split_once(' ').unwrap_or((entry, ""));
        let device = paths.under(CARDS).join(interface);
        let Some(index) = line(&device.join("ifindex")).and_then(|line| line.parse::<u32>().ok())
        else {
            continue;
        };
        let state = paths.under(STATES).join(index.to_string());
        let done = match uuid {
            "" => put_back(paths, &device, index)
                .map_err(|source| Fault::Release { interface: interface.to_owned(), source })
                .and_then(|()| files::remove(&state)),
            uuid => adopt(&state, uuid),
        };
        match done {
            Ok(()) => log.say(Level::Info, &format!("{interface} is the running system's")),
            Err(fault) => log.say(Level::Warning, &chain(&fault)),
        }
    }
    files::remove(&path)
}

/// Deletes a virtual device; takes a card down, without its addresses. In a test tree there is no kernel.
fn put_back(paths: &Paths, device: &Path, index: u32) -> io::Result<()> {
    if !paths.is_this_machine() {
        return Ok(());
    }
    let is_card = device.join("device").exists();
    let done = if is_card {
        take_down(index)
    } else {
        ask(RTM_DELLINK, ACK, &link(index, 0, 0), |_, _| {})
    };
    match done {
        // It went with its base.
        Err(error) if error.raw_os_error() == Some(Errno::ENODEV as i32) => Ok(()),
        done => done,
    }
}

fn take_down(index: u32) -> io::Result<()> {
    ask(RTM_NEWLINK, ACK, &link(index, 0, IFF_UP), |_, _| {})?;
    let mut addresses = Vec::new();
    ask(RTM_GETADDR, DUMP, &[0; LINK], |kind, message| {
        let is_its = message.get(ADDRESS_INDEX..).and_then(number) == Some(index);
        if kind == RTM_NEWADDR && is_its {
            addresses.push(message.to_vec());
        }
    })?;
    for address in addresses {
        match ask(RTM_DELADDR, ACK, &address, |_, _| {}) {
            // A secondary address goes with its primary one.
            Err(error) if error.raw_os_error() == Some(Errno::EADDRNOTAVAIL as i32) => {}
            done => done?,
        }
    }
    Ok(())
}

/// struct ifinfomsg.
fn link(index: u32, flags: u32, change: u32) -> [u8; LINK] {
    let mut message = [0; LINK];
    for (at, value) in [(4, index), (8, flags), (12, change)] {
        message[at..at + 4].copy_from_slice(&value.to_ne_bytes());
    }
    message
}

/// Replaces the uuid in a state file. Without the file NetworkManager never had the device.
fn adopt(state: &Path, uuid: &str) -> Result<(), Fault> {
    let Some(text) = files::text(state)? else { return Ok(()) };
    let mut keyfile = Keyfile::parse_leniently(&text);
    keyfile.set("device", "connection-uuid", uuid);
    write::write_file(state, keyfile.render().into_bytes()).map_err(Fault::Machine)
}
