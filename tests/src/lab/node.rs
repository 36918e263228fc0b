//! Description of a node before its boot.

use std::{
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

/// A network card of a node.
#[derive(Debug, Clone)]
pub struct Nic {
    pub(crate) name: String,
    pub(crate) mac: String,
    pub(crate) segment: String,
    pub(crate) carrier: bool,
    pub(crate) aggregate: Option<String>,
    pub(crate) guard: Option<PathBuf>,
    /// The device at the peer's end of its cable, where that has a name of its own.
    pub(crate) port: Option<String>,
}

impl Nic {
    /// A card with this kernel name and MAC address on the peer's network.
    #[must_use]
    pub fn new(name: &str, mac: &str) -> Self {
        Self {
            name: name.into(),
            mac: mac.into(),
            segment: super::peer::LAN.into(),
            carrier: true,
            aggregate: None,
            guard: None,
            port: None,
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its MAC address.
    pub fn mac(&self) -> &str {
        &self.mac
    }

    /// Makes the card a member of this LACP aggregate on the peer's switch; virtual machines only.
    #[must_use]
    pub fn aggregate(mut self, name: &str) -> Self {
        self.aggregate = Some(name.into());
        self
    }

    /// Closes the card's port until it has authenticated itself by EAP-TLS, with a certificate of `ca.pem` in this directory,
    /// which also has `server.pem` and `server.key`; virtual machines only.
    #[must_use]
    pub fn guarded(mut self, certificates: impl Into<PathBuf>) -> Self {
        self.guard = Some(certificates.into());
        self
    }

    /// The device at the peer's end of its cable.
    pub(crate) fn port(&self) -> String {
        self.port.clone().unwrap_or_else(|| format!("p-{}", self.name))
    }

    /// On another network: a bridge of this name in the peer, without addresses unless the peer adds some.
    #[must_use]
    pub fn segment(mut self, name: &str) -> Self {
        self.segment = name.into();
        self
    }

    /// With the cable pulled.
    #[must_use]
    pub fn without_carrier(mut self) -> Self {
        self.carrier = false;
        self
    }
}

/// A file on the node's disk before its first boot.
#[derive(Debug, Clone)]
pub(crate) struct NodeFile {
    pub(crate) path: PathBuf,
    pub(crate) content: Content,
    pub(crate) mode: u32,
}

/// The content of a path of the node.
#[derive(Debug, Clone)]
pub(crate) enum Content {
    Text(String),
    /// Copy of this file of the host.
    Copy(PathBuf),
    /// Symbolic link to this target.
    Link(PathBuf),
}

/// Describes a node; [`super::Lab::case`] makes it real.
#[derive(Debug, Clone)]
pub struct Node {
    pub(crate) hostname: String,
    pub(crate) nics: Vec<Nic>,
    pub(crate) files: Vec<NodeFile>,
    pub(crate) binds: Vec<(PathBuf, PathBuf)>,
    pub(crate) small: Vec<(PathBuf, String)>,
    pub(crate) flavour: Option<&'static str>,
    pub(crate) disk: Option<String>,
    early: Vec<String>,
}

impl Node {
    /// A node with this host name and no network card. `localhost`: a node without a host name.
    #[must_use]
    pub fn new(hostname: &str) -> Self {
        let node = Self {
            hostname: hostname.into(),
            nics: Vec::new(),
            files: Vec::new(),
            binds: Vec::new(),
            small: Vec::new(),
            flavour: None,
            disk: None,
            early: Vec::new(),
        };
        if hostname == "localhost" { node } else { node.file("/etc/hostname", hostname, 0o644) }
    }

    /// Gives the node systemd 252, as RHEL 9 has, in place of 257.
    #[must_use]
    pub fn systemd252(mut self) -> Self {
        self.flavour = Some("systemd252");
        self
    }

    /// Gives the node podman, as the field's have it.
    #[must_use]
    pub fn podman(mut self) -> Self {
        self.flavour = Some("podman");
        self
    }

    /// Adds a network card.
    #[must_use]
    pub fn nic(mut self, nic: Nic) -> Self {
        self.nics.push(nic);
        self
    }

    /// Adds a file. A later file of the same path wins.
    #[must_use]
    pub fn file(mut self, path: &str, content: &str, mode: u32) -> Self {
        let content = Content::Text(content.into());
        self.files.push(NodeFile { path: path.into(), content, mode });
        self
    }

    /// Copies a file of the host; mode 0755 if it is executable there, else 0644.
    #[must_use]
    pub fn copy(mut self, from: impl AsRef<Path>, to: &str) -> Self {
        let executable = from
            .as_ref()
            .metadata()
            .is_ok_and(|metadata| metadata.permissions().mode() & 0o100 != 0);
        let mode = if executable { 0o755 } else { 0o644 };
        let content = Content::Copy(from.as_ref().into());
        self.files.push(NodeFile { path: to.into(), content, mode });
        self
    }

    /// Copies a directory of the host that mirrors the node's tree from `/` on.
    #[must_use]
    pub fn tree(mut self, from: impl AsRef<Path>) -> Self {
        let mut directories = vec![from.as_ref().to_owned()];
        while let Some(directory) = directories.pop() {
            for entry in directory.read_dir().into_iter().flatten().flatten() {
                let path = entry.path();
                let to = Path::new("/").join(path.strip_prefix(&from).unwrap_or(&path));
                let to = to.to_string_lossy();
                match (entry.file_type(), path.read_link()) {
                    (Ok(kind), _) if kind.is_dir() => directories.push(path),
                    (_, Ok(target)) => self = self.link(&to, &target.to_string_lossy()),
                    _ => self = self.copy(&path, &to),
                }
            }
        }
        self
    }

    /// Adds a connection profile of NetworkManager, with the required mode.
    #[must_use]
    pub fn keyfile(self, id: &str, content: &str) -> Self {
        let path = format!("/etc/NetworkManager/system-connections/{id}.nmconnection");
        self.file(&path, content, 0o600)
    }

    /// Adds a symbolic link.
    #[must_use]
    pub fn link(mut self, path: &str, target: &str) -> Self {
        let content = Content::Link(target.into());
        self.files.push(NodeFile { path: path.into(), content, mode: 0o777 });
        self
    }

    /// Adds a unit file.
    #[must_use]
    pub fn unit(self, name: &str, content: &str) -> Self {
        self.file(&format!("/etc/systemd/system/{name}"), content, 0o644)
    }

    /// Whether a unit file of this name was added.
    #[must_use]
    pub fn has_unit(&self, name: &str) -> bool {
        let path = Path::new("/etc/systemd/system").join(name);
        self.files.iter().any(|file| file.path == path)
    }

    /// Has `unit` started at boot, whatever its `[Install]` section says.
    #[must_use]
    pub fn enable(self, unit: &str) -> Self {
        let wants = format!("/etc/systemd/system/multi-user.target.wants/{unit}");
        self.link(&wants, &format!("/etc/systemd/system/{unit}"))
    }

    /// Has `unit` required by another, such as `kubelet-dependencies.target`, like `RequiredBy=`.
    #[must_use]
    pub fn required_by(self, unit: &str, by: &str) -> Self {
        let requires = format!("/etc/systemd/system/{by}.requires/{unit}");
        self.link(&requires, &format!("/etc/systemd/system/{unit}"))
    }

    /// Masks a unit, such as `openvswitch-switch.service`.
    #[must_use]
    pub fn mask(self, unit: &str) -> Self {
        self.link(&format!("/etc/systemd/system/{unit}"), "/dev/null")
    }

    /// Shows a file or directory of the host in the node, read-only.
    #[must_use]
    pub fn bind(mut self, from: impl AsRef<Path>, to: &str) -> Self {
        self.binds.push((from.as_ref().into(), to.into()));
        self
    }

    /// Puts a program of the host into the node's `/usr/bin`, under its own name.
    #[must_use]
    pub fn program(self, path: impl AsRef<Path>) -> Self {
        let name = path.as_ref().file_name().unwrap_or_default().to_string_lossy().into_owned();
        self.bind(path, &format!("/usr/bin/{name}"))
    }

    /// Mounts a separate tmpfs of `size` (`64k`) on a directory; its content does not survive a boot.
    #[must_use]
    pub fn small_filesystem(mut self, path: &str, size: &str) -> Self {
        self.small.push((path.into(), size.into()));
        self
    }

    /// Gives the node a disk of this size (`64M`), which can be full.
    #[must_use]
    pub fn disk(mut self, size: &str) -> Self {
        self.disk = Some(size.into());
        self
    }

    /// Makes a directory read-only for all processes, before any service starts.
    #[must_use]
    pub fn read_only(self, path: &str) -> Self {
        // A read-only superblock: a unit's ReadWritePaths= could lift a flag of the mount.
        self.early(&format!("mount -t overlay -o ro,lowerdir={path}:/lab overlay {path}"))
    }

    /// Gives the machine a serial number and a UUID in `/sys/class/dmi/id`, like firmware.
    #[must_use]
    pub fn dmi(self, serial: &str, uuid: &str) -> Self {
        let id = "/lab-dmi/dmi/id";
        self.file(&format!("{id}/product_serial"), &format!("{serial}\n"), 0o400)
            .file(&format!("{id}/product_uuid"), &format!("{uuid}\n"), 0o400)
            // An overlay does not see links that come later: the network's own directory goes over it.
            .early(
                "mkdir /run/lab-class && mount -t overlay -o ro,lowerdir=/lab-dmi:/sys/class overlay /run/lab-class && \
                 mount --bind /sys/class/net /run/lab-class/net && mount --rbind /run/lab-class /sys/class",
            )
    }

    /// A shell command that runs at boot before any ordinary service.
    #[must_use]
    pub fn early(mut self, command: &str) -> Self {
        self.early.push(command.into());
        let commands = self.early.iter().fold(String::new(), |all, one| {
            all + "ExecStart=/bin/sh -c \"" + &one.replace('%', "%%") + "\"\n"
        });
        let unit = format!(
            "[Unit]\nDefaultDependencies=no\nAfter=local-fs.target\nBefore=sysinit.target\n\
             [Service]\nType=oneshot\nRemainAfterExit=yes\n{commands}"
        );
        self.unit("lab-early.service", &unit).link(
            "/etc/systemd/system/sysinit.target.wants/lab-early.service",
            "/etc/systemd/system/lab-early.service",
        )
    }
}
