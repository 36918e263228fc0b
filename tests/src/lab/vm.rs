//! Virtual machines: a kernel of their own with bonding, 8021q and openvswitch, an initramfs, a disk; QEMU, without KVM but for
//! benchmarks that ask for it.

mod agent;
mod authenticator;
mod case;
mod connection;
mod emulator;
mod http;
mod initramfs;
mod kvm;
mod lldp;
mod machines;
mod network_disk;
mod qemu;
mod switch;

use std::{
    net::IpAddr,
    path::{Path, PathBuf},
};

pub(crate) use self::agent::GuestAgent;
pub use self::{
    authenticator::Authenticator,
    case::VmCase,
    kvm::{WithoutKvm, kvm},
    lldp::Lldp,
    machines::Machines,
};
use super::{
    node::{Content, Nic},
    scripts,
};

/// Describes a virtual machine; [`Machines::run`] makes it real. All machines have the same disk: differences come by the
/// initramfs, the kernel command line and Ignition.
#[derive(Debug, Clone, Default)]
pub struct VirtualMachine {
    pub(crate) nics: Vec<Nic>,
    pub(crate) moved: u8,
    pub(crate) arguments: Vec<String>,
    pub(crate) first_arguments: Vec<String>,
    pub(crate) early: Vec<(String, Content)>,
    pub(crate) archives: Vec<Vec<u8>>,
    pub(crate) first_archives: Vec<Vec<u8>>,
    pub(crate) initramfs: Initramfs,
    pub(crate) built_with: Vec<(String, Content)>,
    pub(crate) ignition: Option<(String, String)>,
    pub(crate) embedded: bool,
    pub(crate) served: Vec<(String, PathBuf)>,
    pub(crate) clock: Clock,
    pub(crate) network_disk: Option<IpAddr>,
}

/// The source of a machine's clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Clock {
    /// The host's time, with the host's noise.
    #[default]
    Host,
    /// Its own instructions while it works, and the host's time while it waits.
    Instructions,
    /// The host's time, on the host's own processor.
    Processor,
}

/// The initramfs of the image.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Initramfs {
    /// With nmgen's module.
    #[default]
    Nmgen,
    /// Without: a stock image's.
    Stock,
}

impl VirtualMachine {
    /// A machine without network cards whose initramfs brings a network up.
    #[must_use]
    pub fn new() -> Self {
        Self::default().argument("rd.neednet=1")
    }

    /// Adds a network card. The system names it by its slot: the first is `enp0s16`, the next `enp0s17`; [`Nic`]'s name is for
    /// the lab only.
    #[must_use]
    pub fn nic(mut self, nic: Nic) -> Self {
        self.nics.push(nic);
        self
    }

    /// Adds a word to the kernel command line of every boot.
    #[must_use]
    pub fn argument(mut self, word: &str) -> Self {
        self.arguments.push(word.into());
        self
    }

    /// Adds a word to the kernel command line of the first boot only, as an installer does.
    #[must_use]
    pub fn first_argument(mut self, word: &str) -> Self {
        self.first_arguments.push(word.into());
        self
    }

    /// Replaces the network card of this name by one with another address, in the same slot.
    #[must_use]
    pub fn replaced_nic(mut self, name: &str, mac: &str) -> Self {
        for nic in self.nics.iter_mut().filter(|nic| nic.name == name) {
            nic.mac = mac.into();
        }
        self
    }

    /// Has all cards this many slots further: each has another name, as after a change of the operating system or the firmware.
    #[must_use]
    pub fn moved_cards(mut self, slots: u8) -> Self {
        self.moved = slots;
        self
    }

    /// Adds a file to the initramfs.
    #[must_use]
    pub fn early(mut self, path: &str, content: &str) -> Self {
        self.early.push((path.into(), Content::Text(content.into())));
        self
    }

    /// Adds a symbolic link to the initramfs.
    #[must_use]
    pub fn early_link(mut self, path: &str, target: &str) -> Self {
        self.early.push((path.into(), Content::Link(target.into())));
        self
    }

    /// Appends a cpio archive to the initramfs.
    #[must_use]
    pub fn archive(mut self, archive: Vec<u8>) -> Self {
        self.archives.push(archive);
        self
    }

    /// Appends a cpio archive to the initramfs of the first boot only, as an installer's medium does.
    #[must_use]
    pub fn first_archive(mut self, archive: Vec<u8>) -> Self {
        self.first_archives.push(archive);
        self
    }

    /// Takes an initramfs that was built without nmgen's module.
    #[must_use]
    pub fn stock_initramfs(mut self) -> Self {
        self.initramfs = Initramfs::Stock;
        self
    }

    /// Has dracut make the initramfs for this case, in the machine's own system with this file in it: what the image's builder
    /// has, of which dracut's modules take what they need.
    #[must_use]
    pub fn built_with(mut self, path: &str, content: &str) -> Self {
        self.built_with.push((path.into(), Content::Text(content.into())));
        self
    }

    /// Adds CoreOS's part of a first boot to the initramfs: `tests/lab/coreos`.
    #[must_use]
    pub fn coreos(self) -> Self {
        self.early_tree("coreos")
    }

    /// A live system of CoreOS: a read-only root with `/etc` and `/var` in memory, `tests/lab/live`.
    #[must_use]
    pub fn live(self) -> Self {
        self.coreos().early_tree("live").argument("ro")
    }

    /// Adds the files of a directory of `tests/lab` to the initramfs.
    fn early_tree(mut self, name: &str) -> Self {
        let root = scripts().join(name);
        let files = crate::tree::files(&root);
        assert!(files.is_ok(), "{}: {files:?}", root.display());
        for path in files.unwrap_or_default().into_keys() {
            let from = root.join(&path);
            let content = match std::fs::read_link(&from) {
                Ok(target) => Content::Link(target),
                Err(_) => Content::Copy(from),
            };
            self.early.push((format!("/{}", path.display()), content));
        }
        self
    }

    /// Has Ignition read `config` from the initramfs at the first boot, without a network.
    #[must_use]
    pub fn embedded_ignition(mut self, config: &str) -> Self {
        self.embedded = true;
        self.early("/usr/lib/ignition/user.ign", config)
    }

    /// Has Ignition fetch `config` at the first boot, from the peer's HTTP server at `address`.
    #[must_use]
    pub fn ignition(mut self, address: &str, config: &str) -> Self {
        self.ignition = Some((address.into(), config.into()));
        self
    }

    /// Has the peer's HTTP server serve a file of the host under this name too.
    #[must_use]
    pub fn serve(mut self, name: &str, file: impl AsRef<Path>) -> Self {
        self.served.push((name.into(), file.as_ref().into()));
        self
    }

    /// Has the machine's disk on the network in place of a local one: the peer's address `server` exports it over NBD, and dracut
    /// attaches it.
    #[must_use]
    pub fn network_disk(mut self, server: IpAddr) -> Self {
        self.network_disk = Some(server);
        self
    }

    /// Counts two nanoseconds for each instruction, so that two boots are comparable on a busy host: work takes the time of a
    /// core with 500 million instructions a second, waiting takes the host's time. The machine runs at half the speed.
    ///
    /// QEMU's manual, `-icount`.
    #[must_use]
    pub fn counting_instructions(mut self) -> Self {
        self.clock = Clock::Instructions;
        self
    }

    /// Runs it on the host's own processor, so that a boot takes about the time that it takes on hardware; on a host without
    /// [`kvm`] it counts its instructions. For benchmarks alone, since cases have to run anywhere.
    #[must_use]
    pub fn accelerated(mut self) -> Self {
        if kvm().is_err() {
            return self.counting_instructions();
        }
        self.clock = Clock::Processor;
        self
    }
}
