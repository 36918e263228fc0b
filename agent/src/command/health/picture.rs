//! A digest of what is cheap to see: while it stays, a look at the network would find the same.

use std::{
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use sha2::{Digest as _, Sha256};

use crate::{
    client::netlink::{Netlink, NetlinkError},
    durable::boot_id,
    paths::Paths,
};

/// Entries of a directory that count: one of documents has those of a role.
const ENTRIES: usize = 5000;

/// The digest, in hexadecimal digits.
pub(super) async fn picture(paths: &Paths) -> Result<String, NetlinkError> {
    let mut seen = Sha256::new();
    seen.update(boot_id(paths));
    for path in files(paths) {
        seen.update(of_file(&path));
    }
    for directory in directories(paths) {
        let entries = std::fs::read_dir(&directory).into_iter().flatten().flatten();
        let mut entries: Vec<PathBuf> = entries.take(ENTRIES).map(|entry| entry.path()).collect();
        entries.sort();
        for path in std::iter::once(&directory).chain(&entries) {
            seen.update(of_file(path));
        }
    }
    if paths.is_system() {
        let netlink = Netlink::connect()?;
        let links = netlink.links().await?;
        let addresses = netlink.addresses().await?;
        let routes = netlink.default_routes().await?;
        seen.update(format!("{links:?}{addresses:?}{routes:?}"));
    }
    Ok(nmgen::hex(&seen.finalize()))
}

/// The files of the agent; and of the services, a control group each, which is another one after a restart.
fn files(paths: &Paths) -> Vec<PathBuf> {
    let services = ["NetworkManager.service", "ovsdb-server.service", "ovs-vswitchd.service"];
    let mut files = vec![
        paths.status(),
        paths.trial(),
        paths.bridge(),
        paths.mtu_target(),
        paths.undecided(),
        paths.bridge_undecided(),
        paths.settings(),
        paths.ovs_vswitchd_pid(),
        paths.ovsdb_socket(),
        paths.kernel_hostname(),
    ];
    files.extend(services.map(|unit| paths.control_group(unit)));
    files
}

/// Documents, profiles, the record, and the links that enable units.
fn directories(paths: &Paths) -> Vec<PathBuf> {
    let mut directories = vec![paths.documents(), paths.service_files(), paths.state_dir()];
    directories.extend(paths.profile_directories());
    let wants = [
        "",
        "multi-user.target.wants",
        "NetworkManager.service.wants",
        "ovs-configuration.service.wants",
    ];
    directories.extend(wants.map(|want| paths.under("/etc/systemd/system").join(want)));
    directories.push(paths.under("/run/systemd/system"));
    directories
}

/// The identity of a file and its last change; of one that is not there, its name alone.
fn of_file(path: &Path) -> String {
    let Ok(file) = std::fs::symlink_metadata(path) else { return format!("{}\n", path.display()) };
    // The host name's file has the time of its first look.
    let text = if path.ends_with("proc/sys/kernel/hostname") {
        std::fs::read_to_string(path).unwrap_or_default()
    } else {
        format!("{} {} {} {}", file.ino(), file.size(), file.mtime(), file.mtime_nsec())
    };
    format!("{} {text}\n", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_changed_file_is_seen() -> Result<(), Box<dyn std::error::Error>> {
        let root = tempfile::tempdir()?;
        let paths = Paths::new(root.path());
        let profiles = paths.profiles();
        let file = profiles.join("eno1.nmconnection");
        for directory in [&profiles, &paths.documents()] {
            std::fs::create_dir_all(directory)?;
        }
        std::fs::write(&file, "[connection]\n")?;
        let first = picture(&paths).await?;
        assert_eq!(first.len(), 64);
        assert_eq!(picture(&paths).await?, first);
        // In place, where the directory does not change.
        std::fs::write(&file, "[connection]\nid=a\n")?;
        let second = picture(&paths).await?;
        assert_ne!(second, first);
        std::fs::write(paths.documents().join("worker-0.yml"), "")?;
        assert_ne!(picture(&paths).await?, second);
        Ok(())
    }
}
