//! The running system's own profiles, as far as they decide whether it gets nmgen's: keyfiles in `/etc` and
//! in the image, and ifcfg files.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use nmgen_core::profile::Keyfile;

use crate::fault::Fault;
use crate::files;
use crate::persist::sysroot::Sysroot;
use crate::root::ETC_PROFILES;
use crate::write::others::{Other, files};
use crate::write::profiles::listed;

const IMAGE_PROFILES: &str = "/usr/lib/NetworkManager/system-connections";
pub(crate) const IFCFG: &str = "/etc/sysconfig/network-scripts";
/// Ends of names that NetworkManager passes over (nms-ifcfg-rh-utils.c).
const IFCFG_IGNORED: [&str; 6] = [".bak", "~", ".orig", ".rej", ".rpmnew", ".rpmsave"];

/// Its profiles, those of NetworkManager's directory first.
///
/// # Errors
/// A directory cannot be listed, or a link leads out of the root.
pub(crate) fn list(sysroot: &Sysroot) -> Result<Vec<Other>, Fault> {
    let mut found = listed(sysroot.directory(ETC_PROFILES)?)?;
    found.extend(listed(sysroot.directory(IMAGE_PROFILES)?)?);
    let path = sysroot.directory(IFCFG)?;
    let paths = files(&path).map_err(|source| Fault::ReadProfiles { path, source })?;
    found.extend(paths.into_iter().filter_map(ifcfg));
    Ok(found)
}

/// An ifcfg file as a keyfile of the keys that decide.
fn ifcfg(path: PathBuf) -> Option<Other> {
    let name = path.file_name()?.to_str()?.strip_prefix("ifcfg-")?.to_owned();
    if name == "lo" || IFCFG_IGNORED.iter().any(|end| name.ends_with(end)) {
        return None;
    }
    // An unreadable file is a profile named after its interface.
    let bytes = files::read(&path).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let value = |key: &str| {
        let assigned = |line: &str| {
            let value = line.trim().strip_prefix(key)?.strip_prefix('=')?;
            Some(value.trim().trim_matches(['"', '\'']).to_owned())
        };
        text.lines().filter_map(assigned).rfind(|value| !value.is_empty())
    };
    let (device, mac) = (value("DEVICE"), value("HWADDR"));
    let mut keyfile = Keyfile::default();
    if let Some(device) = device.or_else(|| mac.is_none().then_some(name)) {
        keyfile.set("connection", "interface-name", &device);
    }
    for (key, value) in [("uuid", value("UUID")), ("type", value("TYPE"))] {
        let value = value.unwrap_or_default().to_ascii_lowercase();
        keyfile.set("connection", key, &value);
    }
    keyfile.set("ethernet", "mac-address", &mac.unwrap_or_default());
    Some(Other { path, keyfile })
}

/// Readable by others than root: NetworkManager ignores it.
pub(crate) fn is_ignored(own: &Other) -> bool {
    let is_in_etc = own.path.parent().is_some_and(|it| it.ends_with(Path::new(&ETC_PROFILES[1..])));
    let mode = fs::metadata(&own.path).map(|it| it.permissions().mode());
    is_in_etc && mode.is_ok_and(|mode| mode & 0o077 != 0)
}
