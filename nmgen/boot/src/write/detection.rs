//! Duplicate address detection of IPv6 (RFC 4862): an address is usable only after a random delay of
//! up to one second and another second for answers. A card whose link-local address only serves to
//! activate its connection need not wait for it; see `early`.
//!
//! The kernel's switch is `net.ipv6.conf.<interface>.accept_dad` (ip-sysctl.rst). It outlives the
//! initramfs, so its former value is recorded and restored by the second step.

use std::fs;
use std::path::{Component, Path, PathBuf};

use nmgen_core::write;

use crate::fault::Fault;
use crate::files;
use crate::root::{Paths, STAGE};

const RECORD: &str = "accept-dad";
const OFF: &str = "0";

/// Switches it off on those interfaces that have the switch. Interfaces without it have no IPv6, or
/// are created later.
pub(crate) fn switch_off<'n>(
    paths: &Paths,
    interfaces: impl Iterator<Item = &'n str>,
) -> Result<(), Fault> {
    let mut record = String::new();
    let mut switches = Vec::new();
    for interface in interfaces {
        let Some(switch) = switch(paths, interface) else { continue };
        let Some(former) = read(&switch)?.filter(|former| former != OFF) else { continue };
        record.push_str(&format!("{interface} {former}\n"));
        switches.push(switch);
    }
    if switches.is_empty() {
        return Ok(());
    }
    // The record comes first, so that a switch is never left off without one.
    write::write_file(&record_path(paths), record.into_bytes()).map_err(Fault::Machine)?;
    switches.iter().try_for_each(|switch| set(switch, OFF))
}

/// The recorded interfaces and their former values.
pub(crate) fn switched_off(paths: &Paths) -> Result<Vec<(String, String)>, Fault> {
    let record = read(&record_path(paths))?.unwrap_or_default();
    let entries = record.lines().filter_map(|line| line.rsplit_once(' '));
    Ok(entries.map(|(interface, former)| (interface.to_owned(), former.to_owned())).collect())
}

/// Restores the former values; vanished and unchanged interfaces are skipped.
pub(crate) fn restore(paths: &Paths, former: &[(String, String)]) -> Result<(), Fault> {
    for (interface, former) in former {
        let Some(switch) = switch(paths, interface) else { continue };
        if read(&switch)?.is_some_and(|present| present != *former) {
            set(&switch, former)?;
        }
    }
    Ok(())
}

fn record_path(paths: &Paths) -> PathBuf {
    paths.under(STAGE).join(RECORD)
}

/// The switch's path; `None` for text that is no interface name.
fn switch(paths: &Paths, interface: &str) -> Option<PathBuf> {
    let mut parts = Path::new(interface).components();
    let (Some(Component::Normal(_)), None) = (parts.next(), parts.next()) else { return None };
    Some(paths.under(&format!("/proc/sys/net/ipv6/conf/{interface}/accept_dad")))
}

fn read(path: &Path) -> Result<Option<String>, Fault> {
    Ok(files::text(path)?.map(|text| text.trim().to_owned()))
}

/// Writes in place: sysfs files cannot be renamed over.
fn set(switch: &Path, value: &str) -> Result<(), Fault> {
    fs::write(switch, value).map_err(|source| Fault::Switch { path: switch.to_owned(), source })
}
