//! The host name in a live root: the document's, else the agent installer's for a card of this machine.

use std::fs;
use std::path::PathBuf;

use nmgen_core::node::HostName;
use nmgen_core::write;
use nmgen_document::mac::Mac;

use crate::fault::Fault;
use crate::files::unless_missing;
use crate::kernel_log::{Level, Log};
use crate::root::Paths;
use crate::wait::cards::{Cards, line};

/// A file for each host, named after the MAC address of one of its cards.
const BY_MAC: &str = "/etc/assisted/hostnames";
const HOST_NAME: &str = "/etc/hostname";
const KERNEL: &str = "/proc/sys/kernel/hostname";
/// The kernel's bound.
const MAX_BYTES: usize = 64;

/// Sets it, unless the system has one.
pub(super) fn write(
    paths: &Paths,
    cards: &Cards,
    from_document: Option<&str>,
    log: &Log,
) -> Result<(), Fault> {
    let path = paths.under(HOST_NAME);
    if line(&path).is_some_and(|name| !HostName::new(&name).is_placeholder()) {
        return Ok(());
    }
    let name = match from_document {
        Some(name) => Some(name.to_owned()),
        None => by_mac(paths, cards, log)?,
    };
    let Some(name) = name else { return Ok(()) };
    write::write_readable(&path, format!("{name}\n").into_bytes()).map_err(Fault::Machine)?;
    // systemd has read the file already.
    let kernel = paths.under(KERNEL);
    fs::write(&kernel, &name).map_err(|source| Fault::Switch { path: kernel, source })?;
    log.say(Level::Info, &format!("this machine's host name is {name}"));
    Ok(())
}

fn by_mac(paths: &Paths, cards: &Cards, log: &Log) -> Result<Option<String>, Fault> {
    let directory = paths.under(BY_MAC);
    let failed = |source| Fault::ReadDirectory { path: directory.clone(), source };
    let entries = unless_missing(fs::read_dir(&directory)).map_err(failed)?;
    let mut found: Vec<(PathBuf, String)> = Vec::new();
    for entry in entries.into_iter().flatten() {
        let path = entry.map_err(failed)?.path();
        let mac = path.file_name().and_then(|name| Mac::parse(name.to_str()?));
        if mac.is_some_and(|mac| cards.with_mac(&mac, "").is_some())
            && let Some(name) = line(&path)
        {
            found.push((path, name));
        }
    }
    found.sort();
    let Some((path, name)) = found.first() else { return Ok(None) };
    let other = found.iter().find(|(_, other)| other != name);
    let fault = match other {
        Some((other, _)) => Some(format!("{} and {} differ", path.display(), other.display())),
        None if !is_usable(name) => Some(format!("{} has no host name", path.display())),
        None => None,
    };
    if let Some(fault) = fault {
        log.say(Level::Warning, &format!("{fault}: the host name is not set"));
        return Ok(None);
    }
    Ok(Some(name.clone()))
}

fn is_usable(name: &str) -> bool {
    name.len() <= MAX_BYTES
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '.'))
        && !HostName::new(name).is_placeholder()
}
