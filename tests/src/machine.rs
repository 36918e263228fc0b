//! A machine as `nmgen boot` sees it: the files of an initramfs and a kernel, below a directory.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use tempfile::TempDir;

use crate::program;

/// Profiles of the initramfs's NetworkManager.
pub const EARLY: &str = "run/NetworkManager/system-connections";
/// The running system's profiles before the pivot.
pub const STAGED: &str = "run/nmgen-boot/etc/NetworkManager/system-connections";
/// The profiles of a live root.
pub const LIVE: &str = "etc/NetworkManager/system-connections";
/// The running system's, before the pivot.
pub const RUNNING: &str = "sysroot/etc/NetworkManager/system-connections";

/// nm-initrd-generator's profile without `ip=` on the kernel command line.
pub const DEFAULT_PROFILE: &str = "\
[connection]
id=Wired Connection
uuid=3f0a1e2a-9f5c-4a3e-8f3b-1d2c3b4a5f60
type=ethernet
autoconnect-priority=-100
multi-connect=3

[ipv4]
method=auto

[user]
org.freedesktop.NetworkManager.origin=nm-initrd-generator
";

/// The tree.
#[derive(Debug)]
pub struct Machine {
    root: TempDir,
}

/// Output and exit code of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// The exit code.
    pub code: Option<i32>,
    /// Standard error: what the console shows.
    pub console: String,
    /// This run's entries in the kernel log.
    pub kernel: String,
}

impl Said {
    /// Returns itself, if the exit code is this one.
    ///
    /// # Panics
    /// With all that it is, if not.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:?}");
        self
    }

    /// Returns itself, if the console has this text.
    ///
    /// # Panics
    /// With all that it is, if not.
    #[track_caller]
    pub fn says(self, text: &str) -> Self {
        assert!(self.console.contains(text), "{text} in {self:?}");
        self
    }
}

impl Default for Machine {
    fn default() -> Self {
        Self::new()
    }
}

impl Machine {
    /// A machine without network cards, with the default profile only.
    ///
    /// # Panics
    /// When its files cannot be written; the same goes for all below.
    pub fn new() -> Self {
        Self::below(&std::env::temp_dir())
    }

    /// [`Self::new`], with its files below this directory.
    ///
    /// # Panics
    /// When its files cannot be written.
    pub fn below(directory: &Path) -> Self {
        let Ok(root) = tempfile::tempdir_in(directory) else {
            unreachable!("no temporary directory")
        };
        let machine = Self { root };
        machine.write("dev/kmsg", "");
        machine.write("etc/initrd-release", "");
        machine.write("proc/cmdline", "quiet nmgen.timeout=0\n");
        machine.write(&format!("{EARLY}/default_connection.nmconnection"), DEFAULT_PROFILE);
        machine.write("sysroot/etc/machine-id", "");
        machine
    }

    /// A live root after the pivot, without network cards and without profiles.
    pub fn live() -> Self {
        let machine = Self::new();
        for path in ["etc/initrd-release", &format!("{EARLY}/default_connection.nmconnection")] {
            let removed = fs::remove_file(machine.path(path));
            assert!(removed.is_ok(), "{path}: {removed:?}");
        }
        machine.write("proc/sys/kernel/hostname", "localhost\n");
        machine
    }

    /// A machine with the card `ens3`, 52:54:00:00:00:01.
    #[must_use]
    pub fn with_card() -> Self {
        Self::new().card("ens3", "52:54:00:00:00:01")
    }

    /// Adds a physical network card.
    #[must_use]
    pub fn card(self, name: &str, mac: &str) -> Self {
        self.plug(name, mac);
        self
    }

    /// Puts a card on a bus: `pci`, `usb`, `ccwgroup`.
    ///
    /// # Panics
    /// When the link cannot be made.
    #[must_use]
    pub fn on_bus(self, card: &str, bus: &str) -> Self {
        let link = self.path(&format!("sys/class/net/{card}/device/subsystem"));
        let made = std::os::unix::fs::symlink(format!("/sys/bus/{bus}"), link);
        assert!(made.is_ok(), "{made:?}");
        self
    }

    /// Adds a document to `/etc/nmgen`.
    #[must_use]
    pub fn host(self, name: &str, document: &str) -> Self {
        self.file(&format!("etc/nmgen/{name}.yml"), document)
    }

    /// Adds a file.
    #[must_use]
    pub fn file(self, path: &str, text: &str) -> Self {
        self.write(path, text);
        self
    }

    /// Sets the kernel command line.
    #[must_use]
    pub fn command_line(self, text: &str) -> Self {
        self.file("proc/cmdline", text)
    }

    /// Plugs a network card in.
    pub fn plug(&self, name: &str, mac: &str) {
        self.write(&format!("sys/class/net/{name}/device/uevent"), "");
        self.write(&format!("sys/class/net/{name}/address"), &format!("{mac}\n"));
    }

    /// Writes a file.
    pub fn write(&self, path: &str, text: &str) {
        let written = self.try_write(path, text.as_bytes());
        assert!(written.is_ok(), "{path}: {written:?}");
    }

    /// Writes a file of any bytes.
    ///
    /// # Errors
    /// The file cannot be there, because another one stands where it needs a directory, or the reverse.
    pub fn try_write(&self, path: &str, content: &[u8]) -> io::Result<()> {
        let path = self.path(path);
        let parent = path.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(parent).and_then(|()| fs::write(&path, content))
    }

    /// A path below the root.
    pub fn path(&self, path: &str) -> PathBuf {
        self.root.path().join(path)
    }

    /// A file's text.
    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap_or_else(|error| format!("{path}: {error}"))
    }

    /// True when the path exists.
    pub fn has(&self, path: &str) -> bool {
        self.path(path).exists()
    }

    /// The files in a directory with their texts; empty if it does not exist.
    pub fn files(&self, directory: &str) -> BTreeMap<String, String> {
        let entries = fs::read_dir(self.path(directory)).into_iter().flatten();
        let read = |entry: fs::DirEntry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            Some((name, fs::read_to_string(entry.path()).ok()?))
        };
        entries.filter_map(|entry| read(entry.ok()?)).collect()
    }

    /// The initramfs's profiles but for the default one, which stays where the document leads nowhere.
    pub fn early(&self) -> Vec<String> {
        let mut names = self.profiles(EARLY);
        names.retain(|name| name != "default_connection");
        names
    }

    /// The names of profiles in a directory, without the extension, sorted.
    pub fn profiles(&self, directory: &str) -> Vec<String> {
        let files = self.files(directory).into_keys();
        let names = files.map(|name| name.trim_end_matches(".nmconnection").to_owned());
        let mut names: Vec<String> = names.collect();
        names.sort_unstable();
        names
    }

    /// The staged profiles without the cards' permanent addresses, which `nmgen generate` does not know.
    pub fn staged_as_generated(&self) -> BTreeMap<String, String> {
        let is_kept = |line: &&str| !line.starts_with("mac-address=");
        let plain = |text: String| {
            let lines: Vec<&str> = text.split('\n').filter(is_kept).collect();
            lines.join("\n")
        };
        self.files(STAGED).into_iter().map(|(name, text)| (name, plain(text))).collect()
    }

    /// The command `nmgen boot`, not yet started.
    pub fn command(&self) -> Command {
        let mut command = Command::new(program::nmgen());
        command.args(["boot", "--root"]).arg(self.root.path());
        command
    }

    /// The first step, in the initramfs.
    pub fn boot(&self) -> Said {
        self.run(&mut self.command())
    }

    /// The second step, before the pivot.
    pub fn persist(&self) -> Said {
        self.run(self.command().arg("--persist"))
    }

    /// The step in a live root.
    pub fn boot_live(&self) -> Said {
        self.run(self.command().arg("--live"))
    }

    /// Runs a command that writes to this machine's kernel log.
    pub fn run(&self, command: &mut Command) -> Said {
        let before = self.read("dev/kmsg").len();
        let Ok(output) = command.output() else { unreachable!("{command:?} cannot be run") };
        let root = format!("{}/", self.root.path().display());
        let plain = |text: &str| text.replace(&root, "/");
        Said {
            code: output.status.code(),
            console: plain(&String::from_utf8_lossy(&output.stderr)),
            kernel: plain(&self.read("dev/kmsg")[before..]),
        }
    }

    /// True when the initramfs's own profile is in place and none of nmgen's is left.
    pub fn is_untouched(&self) -> bool {
        self.profiles(EARLY) == ["default_connection"] && !self.has("run/nmgen-boot")
    }
}
