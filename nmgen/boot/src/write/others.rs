//! Profiles as files, nmgen's or others', read far enough to know their interfaces.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use nmgen_core::node::Card;
use nmgen_core::profile::{Keyfile, Section};
use nmgen_document::mac::Mac;

use crate::files::{self, unless_missing};

/// A profile's file. An unreadable one has an empty keyfile.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Other {
    pub(crate) path: PathBuf,
    pub(crate) keyfile: Keyfile,
}

/// nm-initrd-generator marks its profiles.
const ORIGIN: (&str, &str, &str) =
    ("user", "org.freedesktop.NetworkManager.origin", "nm-initrd-generator");
const DEFAULT: &str = "default_connection.nmconnection";
/// Keys of a default profile without `nameserver=`, `rd.route=` and the like.
const PLAIN: [&str; 4] = ["method", "dhcp-timeout", "required-timeout", "may-fail"];
/// Ends of names that NetworkManager passes over (`nm_keyfile_utils_ignore_filename`).
const IGNORED: [&str; 5] = ["~", ".swp", ".swpx", ".pem", ".der"];

/// The profiles in a directory, sorted by name; none if it is missing. Files that NetworkManager passes
/// over by their name are none: a power failure can leave a temporary one of nmgen's.
///
/// # Errors
/// The directory cannot be listed. NetworkManager cannot read an unreadable file either, but its name
/// is taken.
pub(crate) fn list(directory: &Path) -> io::Result<Vec<Other>> {
    let read = |path: PathBuf| {
        let bytes = files::read(&path).unwrap_or_default();
        Other { keyfile: Keyfile::parse_leniently(&String::from_utf8_lossy(&bytes)), path }
    };
    Ok(files(directory)?.into_iter().filter(|path| is_profile(path)).map(read).collect())
}

fn is_profile(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    !name.starts_with('.')
        && !IGNORED.iter().any(|end| name.ends_with(end))
        && !name.rsplit_once('.').is_some_and(|(_, end)| {
            end.len() == 6 && end.chars().all(|letter| letter.is_ascii_alphanumeric())
        })
}

/// The files in a directory, sorted by name; none if it is missing.
pub(crate) fn files(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = unless_missing(fs::read_dir(directory))?;
    let mut paths = Vec::new();
    for entry in entries.into_iter().flatten() {
        paths.push(entry?.path());
    }
    paths.sort_unstable();
    // Reading a FIFO would block.
    paths.retain(|path| path.is_file());
    Ok(paths)
}

impl Other {
    fn connection(&self, key: &str) -> Option<&str> {
        self.keyfile.get("connection", key).filter(|value| !value.is_empty())
    }

    pub(crate) fn uuid(&self) -> Option<&str> {
        self.connection("uuid")
    }

    pub(crate) fn id(&self) -> Option<&str> {
        self.connection("id")
    }

    pub(crate) fn kind(&self) -> Option<&str> {
        self.connection("type")
    }

    pub(crate) fn interface(&self) -> Option<&str> {
        self.connection("interface-name")
    }

    /// The interface or the uuid of the controller that it is a port of.
    pub(crate) fn controller(&self) -> Option<&str> {
        self.connection("controller").or_else(|| self.connection("master"))
    }

    /// The type of the controller that it is a port of.
    pub(crate) fn port_type(&self) -> Option<&str> {
        self.connection("port-type").or_else(|| self.connection("slave-type"))
    }

    pub(crate) fn priority(&self) -> i32 {
        self.connection("autoconnect-priority")
            .and_then(|connection| connection.parse().ok())
            .unwrap_or_default()
    }

    /// The card that it matches by a permanent address.
    pub(crate) fn mac(&self) -> Option<Mac> {
        let macs = self.keyfile.sections.iter().filter_map(|section| section.get("mac-address"));
        macs.filter_map(Mac::parse).rfind(|mac| !mac.is_zero())
    }

    /// The base interface: its name, uuid or address.
    pub(crate) fn parent(&self) -> Option<&str> {
        self.keyfile.sections.iter().find_map(|section| section.get("parent"))
    }

    pub(crate) fn file_name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    pub(crate) fn name(&self) -> String {
        let stem = self.path.file_stem().unwrap_or_default().to_string_lossy();
        self.interface().map_or_else(|| stem.into_owned(), str::to_owned)
    }

    /// True for a profile that the kernel command line or the firmware's tables gave, not a person: each boot makes
    /// it anew. The default one has this name even where the generator leaves out its mark.
    pub(crate) fn is_generated(&self) -> bool {
        let (section, key, origin) = ORIGIN;
        self.keyfile.get(section, key) == Some(origin) || self.is_default()
    }

    fn is_default(&self) -> bool {
        self.path.file_name().is_some_and(|name| name == DEFAULT)
    }

    /// True for a profile of any card.
    pub(crate) fn is_of_any_card(&self) -> bool {
        self.is_of_card() && self.interface().is_none() && self.mac().is_none()
    }

    /// True for the generator's profile without arguments of its own, DHCP on any card or on that of `BOOTIF=`: the
    /// running system's NetworkManager has the like for a card without a profile. CoreOS copies that of `ip=dhcp` and that with
    /// another timeout, but not that of its own default, `ip=auto`.
    pub(crate) fn is_plain_default(&self) -> bool {
        let is_plain = |section: &Section| {
            let is_family = matches!(section.name.as_str(), "ipv4" | "ipv6");
            !is_family
                || (section.get("method") == Some("auto")
                    && section.entries.iter().all(|(key, _)| PLAIN.contains(&key.as_str())))
        };
        self.is_default() && self.keyfile.sections.iter().all(is_plain)
    }

    /// True when the profile may take this card.
    pub(crate) fn covers(&self, card: &Card) -> bool {
        match (self.interface(), self.mac()) {
            (Some(interface), _) => interface == card.name,
            (None, Some(mac)) => self.is_of_card() && mac == card.mac,
            (None, None) => self.is_of_card(),
        }
    }

    /// True for a profile of a physical network card.
    pub(crate) fn is_of_card(&self) -> bool {
        let kinds = ["ethernet", "802-3-ethernet", "infiniband"];
        self.kind().is_some_and(|kind| kinds.contains(&kind))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networkmanager_passes_over_temporary_files_backups_and_certificates() {
        let is_profile = |name: &str| is_profile(Path::new(name));
        let profiles =
            ["eth0.nmconnection", "eth0", "eth0.100", "eth0.1234567", "a.b.nmconnection"];
        assert!(profiles.into_iter().all(is_profile));
        let others =
            [".eth0.nmconnection.12", "eth0~", "eth0.nmconnection.AB12cd", "ca.PEM", "a.swp"];
        assert!(!others.into_iter().any(is_profile));
    }
}
