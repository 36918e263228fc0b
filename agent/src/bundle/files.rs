//! The files of a node that its answers depend on, and those that somebody who examines it wants to see.

use std::{
    fs,
    io::{self, Read as _},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use nmgen::source::bounded;
use serde::{Deserialize, Serialize};

use super::redact::Redactor;
use crate::{
    document::digest::Digest,
    model::{Link, Mac, facts::SourceAnswer},
    paths::Paths,
};

/// A larger file is left out.
const LARGEST: usize = 4 << 20;

/// All files together.
const ALL: usize = 12 << 20;

/// More places are left out: a node of pods has thousands of devices.
pub(super) const PLACES: usize = 5000;

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct File {
    pub(crate) path: String,
    #[serde(flatten)]
    pub(crate) kind: Kind,
}

impl File {
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.kind {
            Kind::File { text, .. } => Some(text),
            Kind::Directory | Kind::Link { .. } | Kind::Unread { .. } => None,
        }
    }
}

/// A place in the tree.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(crate) enum Kind {
    Directory,
    /// The text without secrets; the digest is that of the node's own bytes, or a token in its place.
    File {
        mode: u32,
        digest: Digest,
        text: String,
    },
    Link {
        target: String,
    },
    Unread {
        error: String,
    },
}

/// A network card, as hardware.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Card {
    pub(crate) name: String,
    /// The permanent address, or the one in use where the kernel knows no other.
    pub(crate) mac: Option<Mac>,
    pub(crate) mtu: Option<u32>,
    pub(crate) carrier: bool,
    /// In Mbit/s, while there is a carrier.
    pub(crate) speed: Option<u32>,
    pub(crate) driver: Option<String>,
    /// The address on its bus: `0000:3b:00.0`.
    pub(crate) bus: Option<String>,
}

/// The physical ones of these devices.
pub(crate) fn cards(paths: &Paths, links: &[Link]) -> Vec<Card> {
    let card = |link: &Link| {
        let at = paths.device(&link.name);
        let last = |link: &str| {
            let target = fs::read_link(at.as_ref()?.join(link)).ok()?;
            Some(target.file_name()?.to_string_lossy().into_owned())
        };
        Card {
            name: link.name.clone(),
            mac: link.macs().next().cloned(),
            mtu: link.mtu,
            carrier: link.has_carrier,
            speed: at
                .as_ref()
                .and_then(|at| start(&at.join("speed"), 16).ok())
                .and_then(|speed| speed.parse().ok()),
            driver: last("device/driver"),
            bus: last("device"),
        }
    };
    links.iter().filter(|link| link.physical).map(card).collect()
}

/// The first bytes of a reader's answer: a file of the kernel's has no size.
fn start(path: &Path, limit: u64) -> io::Result<String> {
    let text = io::read_to_string(bounded::open(path)?.take(limit))?;
    Ok(text.trim_end().to_owned())
}

/// A short file of the kernel's or the system's.
pub(crate) fn short(path: &Path) -> SourceAnswer<String> {
    match start(path, 4096) {
        Ok(text) => SourceAnswer::Value(text),
        Err(error) => SourceAnswer::Error(error.to_string()),
    }
}

/// A tree, and whether a file of this name in it is collected.
type Tree = (PathBuf, fn(&str) -> bool);

/// Whole trees, and which names in each are files that are collected; others' files may be anything, such as keys.
fn trees(paths: &Paths) -> Vec<Tree> {
    let all = |_: &str| true;
    let manager = ["/etc", "/run", "/usr/lib"].into_iter().flat_map(|root| {
        ["system-connections", "conf.d"].map(|name| format!("{root}/NetworkManager/{name}"))
    });
    let mut trees: Vec<Tree> = vec![(paths.service_files(), is_document), (paths.state_dir(), all)];
    trees.push((paths.runtime_dir(), all));
    trees.push((paths.under("/etc/dayone"), |name| name.ends_with(".toml") || is_document(name)));
    trees.push((paths.uplinks(), |name| matches!(name, "default_bridge" | "extra_bridge")));
    trees.extend(manager.map(|manager| (paths.under(&manager), all as fn(&str) -> bool)));
    trees
}

/// A document, its copy in force, or what `nmstatectl service` leaves beside a file that it has applied.
fn is_document(name: &str) -> bool {
    name == "applied" || [".yml", ".yaml", ".applied"].iter().any(|end| name.ends_with(end))
}

fn singles(paths: &Paths) -> Vec<PathBuf> {
    let mut singles = vec![
        paths.kernel_hostname(),
        paths.boot_id(),
        paths.dmi("product_serial"),
        paths.dmi("product_uuid"),
        paths.resolv_conf(),
        paths.apiserver_env(),
        paths.mtu_migration(),
        paths.ovs_config_executed(),
        paths.primary_ip(),
        paths.hint(),
        paths.boot_done(),
        paths.ovs_vswitchd_pid(),
    ];
    let others = ["/etc/hostname", "/etc/os-release", "/proc/cmdline"];
    singles.extend(others.map(|other| paths.under(other)));
    singles.push(paths.under("/etc/NetworkManager/NetworkManager.conf"));
    singles
}

/// The files of a node without their secrets, and the places that are left out.
pub(crate) fn files(paths: &Paths, redactor: &mut Redactor) -> (Vec<File>, Vec<String>) {
    let mut taken = Taken { paths, redactor, files: Vec::new(), left_out: Vec::new(), size: 0 };
    for single in singles(paths) {
        taken.take(&single);
    }
    for (tree, is_wanted) in trees(paths) {
        taken.tree(&tree, 4, is_wanted);
    }
    taken.units();
    taken.devices();
    (taken.files, taken.left_out)
}

struct Taken<'a> {
    paths: &'a Paths,
    redactor: &'a mut Redactor,
    files: Vec<File>,
    left_out: Vec<String>,
    size: usize,
}

impl Taken<'_> {
    /// A file, if it is there.
    fn take(&mut self, path: &Path) {
        let read = fs::metadata(path).and_then(|meta| {
            let bytes = bounded::read(path, LARGEST)?;
            Ok((meta.permissions().mode() & 0o7777, bytes))
        });
        match read {
            Ok((mode, bytes)) => self.text(path, mode, bytes),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => self.push(path, Kind::Unread { error: error.to_string() }),
        }
    }

    fn text(&mut self, path: &Path, mode: u32, bytes: Vec<u8>) {
        let digest = Digest::of_these(&bytes);
        if self.size + bytes.len() > ALL {
            self.left_out.push(self.shown(path));
            return;
        }
        match String::from_utf8(bytes) {
            Ok(text) => {
                let text = self.redactor.file(path, &text);
                self.size += text.len();
                self.push(path, Kind::File { mode, digest, text });
            }
            Err(error) => self.push(path, Kind::Unread { error: error.to_string() }),
        }
    }

    fn push(&mut self, path: &Path, kind: Kind) {
        let path = self.shown(path);
        match self.files.len() < PLACES {
            true => self.files.push(File { path, kind }),
            false => self.left_out.push(path),
        }
    }

    /// A path as the system below the root has it.
    fn shown(&self, path: &Path) -> String {
        let root = self.paths.under("/");
        let inside = path.strip_prefix(&root).unwrap_or(path);
        Path::new("/").join(inside).to_string_lossy().into_owned()
    }

    /// The entries of a directory by name; one that cannot be read is told.
    fn entries(&mut self, directory: &Path) -> Vec<PathBuf> {
        let listed = fs::read_dir(directory)
            .and_then(|all| all.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>());
        match listed {
            Ok(mut found) => {
                found.sort_unstable();
                found
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => {
                self.push(directory, Kind::Unread { error: error.to_string() });
                Vec::new()
            }
        }
    }

    /// A directory with every file in it whose name is wanted, and the names of the others; links to directories are not followed.
    fn tree(&mut self, directory: &Path, depth: usize, is_wanted: fn(&str) -> bool) {
        if fs::symlink_metadata(directory).is_ok_and(|metadata| metadata.is_dir()) {
            self.push(directory, Kind::Directory);
        }
        for path in self.entries(directory) {
            let is_directory = fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_dir());
            let is_file = fs::metadata(&path).is_ok_and(|metadata| metadata.is_file());
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            match (is_directory, depth) {
                (true, 1..) => self.tree(&path, depth - 1, is_wanted),
                (false, _) if is_file && is_wanted(&name) => self.take(&path),
                (false, _) if !is_file => {}
                (true, 0) | (false, _) => self.left_out.push(self.shown(&path)),
            }
        }
    }

    /// The agent's units, their drop-ins, and the links that enable or mask them.
    fn units(&mut self) {
        for directory in self.paths.unit_directories() {
            for entry in self.entries(&directory) {
                let name = entry.file_name().unwrap_or_default().to_string_lossy().into_owned();
                let is_wants =
                    [".wants", ".requires", ".upholds"].iter().any(|end| name.ends_with(end));
                if is_wants {
                    let inner = self.entries(&entry);
                    inner.iter().filter(|path| is_ours(path)).for_each(|path| self.unit(path));
                } else if is_ours(&entry) && name.ends_with(".d") {
                    self.tree(&entry, 0, |_| true);
                } else if is_ours(&entry) {
                    self.unit(&entry);
                }
            }
        }
    }

    fn unit(&mut self, path: &Path) {
        match fs::read_link(path) {
            Ok(target) => {
                let target = target.to_string_lossy().into_owned();
                self.push(path, Kind::Link { target });
            }
            Err(_) => self.take(path),
        }
    }

    /// Each device's address, and what says which driver it has.
    fn devices(&mut self) {
        for device in self.entries(&self.paths.sys_net()) {
            self.take(&device.join("address"));
            self.take(&device.join("device/uevent"));
        }
    }
}

/// Whether a name is of a unit that the agent's answers are about.
fn is_ours(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let others = ["nmstate.service", "nmstate-configuration.service", "ovs-configuration.service"];
    name.starts_with("dayone") || others.iter().any(|other| name.starts_with(other))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn files_are_those_of_the_root_without_secrets_and_within_bounds() -> io::Result<()> {
        let root = tempfile::tempdir()?;
        let paths = Paths::new(root.path());
        let put = |path: &str, text: &str| {
            let path = paths.under(path);
            fs::create_dir_all(path.parent().unwrap_or(&path))?;
            fs::write(path, text)
        };
        put("/etc/hostname", "worker-0\n")?;
        put("/etc/nmstate/openshift/worker-0.yml", "interfaces: []\n")?;
        put("/etc/nmstate/openshift/large.yml", &"#".repeat(LARGEST + 1))?;
        put(
            "/etc/NetworkManager/system-connections/a.nmconnection",
            "[connection]\nid=a\n[x]\npsk=s3cretmarker\n",
        )?;
        let key = "-----BEGIN PRIVATE KEY-----\ns3cretmarker\n-----END PRIVATE KEY-----\n";
        put("/etc/nmstate/8021x.key", key)?;
        put("/etc/nmstate/pasted.yml", key)?;
        put("/etc/dayone/key.pem", key)?;
        put("/etc/ovnk/tls.key", "s3cretmarker")?;
        put("/etc/ovnk/extra_bridge", "br-ex1")?;
        put("/etc/systemd/system/multi-user.target.wants/other.service", "")?;
        let wants = paths.under("/etc/systemd/system/multi-user.target.wants/dayone.service");
        symlink("/usr/lib/systemd/system/dayone.service", wants)?;
        let (files, left_out) = files(&paths, &mut Redactor::default());
        let json = serde_json::to_string(&files)?;
        assert!(!json.contains("s3cretmarker") && json.contains("psk=<hidden>"), "{json}");
        assert!(!json.contains("other.service"), "{json}");
        assert!(!json.contains(root.path().to_string_lossy().as_ref()), "{json}");
        let of = |path: &str| files.iter().find(|file| file.path == path).map(|file| &file.kind);
        assert!(
            matches!(of("/etc/hostname"), Some(Kind::File { text, .. }) if text == "worker-0\n")
        );
        assert!(matches!(of("/etc/nmstate/openshift/large.yml"), Some(Kind::Unread { .. })));
        let link = "/etc/systemd/system/multi-user.target.wants/dayone.service";
        assert!(
            matches!(of(link), Some(Kind::Link { target }) if target.ends_with("dayone.service"))
        );
        assert_eq!(
            left_out,
            ["/etc/nmstate/8021x.key", "/etc/dayone/key.pem", "/etc/ovnk/tls.key"]
        );
        Ok(())
    }
}
