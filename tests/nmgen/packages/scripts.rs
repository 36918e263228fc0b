//! What the packages' scripts do to the units at an installation, an upgrade and a removal: dpkg and rpm run them in a root of
//! their own.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use tests::packages::UPDATE_HELPER;
use tests::tree::files;

use super::run;

/// Mounts the host's programs below a root, where what is installed over them stays its own, and runs a command.
const IN_ROOT: &str = r#"root=$1; shift
mount -t overlay -o "lowerdir=/usr,upperdir=$root.usr,workdir=$root.work" overlay "$root/usr"
mount --bind /dev "$root/dev"
mount -t proc proc "$root/proc"
exec "$@" 2>&1"#;

/// A package manager and its root, which has no other packages.
#[derive(Debug)]
pub(super) enum Manager {
    Dpkg(PathBuf),
    /// Offline: as rpm-ostree runs scripts, with `SYSTEMD_OFFLINE=1`.
    Rpm {
        root: PathBuf,
        is_offline: bool,
    },
}

impl Manager {
    pub(super) fn dpkg(root: &Path) -> Self {
        fs::create_dir_all(root.join("var/lib/dpkg/info")).unwrap();
        fs::create_dir_all(root.join("var/lib/dpkg/updates")).unwrap();
        fs::write(root.join("var/lib/dpkg/status"), "").unwrap();
        Self::Dpkg(root.to_owned())
    }

    pub(super) fn rpm(root: &Path, is_offline: bool) -> Self {
        for directory in ["dev", "etc", "proc", "run", "tmp", "usr", "var/lib/rpm"] {
            fs::create_dir_all(root.join(directory)).unwrap();
        }
        for directory in ["bin", "sbin", "lib", "lib64"] {
            symlink(format!("usr/{directory}"), root.join(directory)).unwrap();
        }
        fs::create_dir_all(root.with_extension("work")).unwrap();
        let helper = root.with_extension("usr").join("lib/systemd/systemd-update-helper");
        fs::create_dir_all(helper.parent().unwrap()).unwrap();
        fs::write(&helper, UPDATE_HELPER).unwrap();
        run(Command::new("chmod").arg("0755").arg(&helper));
        Self::Rpm { root: root.to_owned(), is_offline }
    }

    fn root(&self) -> &Path {
        match self {
            Self::Dpkg(root) | Self::Rpm { root, .. } => root,
        }
    }

    /// rpm runs scripts in the root, as on a host and in a build of an image: systemctl sees that no systemd runs there.
    fn in_root(&self) -> Command {
        let mut inside = Command::new("unshare");
        inside.args(["--mount", "--propagation", "private", "sh", "-ec", IN_ROOT, "sh"]);
        inside.arg(self.root());
        inside
    }

    fn dpkg_command(&self) -> Command {
        let mut dpkg = Command::new("dpkg");
        dpkg.arg("--root").arg(self.root()).args(["--log=/dev/null", "--force-script-chrootless"]);
        dpkg.arg("--force-depends");
        dpkg
    }

    fn rpm_command(&self) -> Command {
        let mut rpm = self.in_root();
        rpm.args(["rpm", "--force-debian", "--dbpath", "/var/lib/rpm", "--root"]).arg(self.root());
        if matches!(self, Self::Rpm { is_offline: true, .. }) {
            rpm.env("SYSTEMD_OFFLINE", "1");
        }
        rpm
    }

    /// Installs a package, or goes to it from any version.
    fn install(&self, package: &Path) {
        let said = match self {
            Self::Dpkg(_) => run(self.dpkg_command().arg("--install").arg(package)),
            Self::Rpm { .. } => {
                run(self.rpm_command().args(["--upgrade", "--force", "--nodeps"]).arg(package))
            }
        };
        // rpm ignores the failure of a script.
        assert!(!said.contains("scriptlet failed"), "{said}");
    }

    fn remove(&self) {
        match self {
            Self::Dpkg(_) => run(self.dpkg_command().args(["--remove", "dayone"])),
            Self::Rpm { .. } => run(self.rpm_command().args(["--erase", "--nodeps", "dayone"])),
        };
    }

    /// What the manager knows of the package.
    fn installed(&self) -> String {
        match self {
            Self::Dpkg(root) => fs::read_to_string(root.join("var/lib/dpkg/status")).unwrap(),
            Self::Rpm { .. } => run(self.rpm_command().args(["--query", "--all"])),
        }
    }

    fn systemctl(&self, command: &str, units: &[&str]) {
        let mut systemctl = match self {
            Self::Dpkg(root) => {
                let mut systemctl = Command::new("systemctl");
                systemctl.arg("--root").arg(root);
                systemctl
            }
            Self::Rpm { root, .. } => {
                let mut inside = self.in_root();
                inside.arg("chroot").arg(root).arg("systemctl");
                inside
            }
        };
        run(systemctl.arg(command).args(units));
    }

    /// The links that enable units.
    fn enabled(&self) -> BTreeSet<String> {
        let found = files(&self.root().join("etc/systemd/system")).unwrap_or_default();
        found.into_keys().map(|path| path.to_str().unwrap().to_owned()).collect()
    }

    /// An installation, upgrades and removals of the packages `of_version`.
    pub(super) fn install_upgrade_remove(&self, of_version: impl Fn(&str) -> PathBuf) {
        let package = of_version(env!("CARGO_PKG_VERSION"));
        self.install(&package);
        // kubelet waits for dayone-wait.service, and NetworkManager for dayone-recover.service.
        let all = BTreeSet::from(
            [
                "NetworkManager.service.wants/dayone-recover.service",
                "kubelet-dependencies.target.requires/dayone-wait.service",
                "kubelet.service.requires/dayone-wait.service",
                "ovs-configuration.service.wants/dayone-bridge.service",
                "multi-user.target.wants/dayone-health.path",
                "multi-user.target.wants/dayone-pending.path",
                "multi-user.target.wants/dayone.service",
                "timers.target.wants/dayone-health.timer",
            ]
            .map(str::to_owned),
        );
        assert_eq!(self.enabled(), all);

        // An upgrade keeps the administrator's choice.
        self.systemctl("disable", &["dayone.service"]);
        self.install(&package);
        assert_eq!(self.enabled().len(), 5);

        // 0.2.0 lacks the units of the node's health, so an upgrade from it enables them. Later the choice stays.
        let later = of_version("0.3.1");
        let before = of_version("0.2.0");
        for (earlier, are_enabled) in [(&before, true), (&package, false)] {
            self.install(earlier);
            self.systemctl("disable", &["dayone-health.path", "dayone-health.timer"]);
            self.install(&later);
            let is_health = |link: &String| link.contains("dayone-health");
            let links = self.enabled().into_iter().filter(is_health).count();
            assert_eq!(links, if are_enabled { 2 } else { 0 }, "{}", earlier.display());
        }
        self.exchange_of_the_bridge(&before, &later);

        // No link keeps kubelet waiting, and the manager forgets the package: the next installation is a first one.
        self.remove();
        assert_eq!(self.enabled(), BTreeSet::new());
        assert!(!self.root().join("usr/bin/dayone").exists());
        assert_eq!(self.installed(), "");
        self.install(&package);
        assert_eq!(self.enabled(), all);

        // A masked unit stays so, beside the others; it keeps nothing from being installed and removed.
        self.remove();
        let masked = self.root().join("etc/systemd/system/dayone-bridge.service");
        fs::create_dir_all(masked.parent().unwrap()).unwrap();
        symlink("/dev/null", &masked).unwrap();
        self.install(&package);
        let mut others = all;
        others.remove("ovs-configuration.service.wants/dayone-bridge.service");
        others.insert("dayone-bridge.service".to_owned());
        assert_eq!(self.enabled(), others);
        let installed = self.installed();
        let expected = match self {
            Self::Dpkg(_) => "\nStatus: install ok installed\n",
            Self::Rpm { .. } => concat!("dayone-", env!("CARGO_PKG_VERSION"), "-1"),
        };
        assert!(installed.contains(expected), "{installed}");
        self.remove();
        assert_eq!(self.enabled(), BTreeSet::from(["dayone-bridge.service".to_owned()]));
        fs::remove_file(&masked).unwrap();

        let presets = self.root().join("etc/systemd/system-preset");
        fs::create_dir_all(&presets).unwrap();
        fs::write(presets.join("10-site.preset"), "disable dayone*\n").unwrap();
        self.install(&package);
        assert_eq!(self.enabled(), BTreeSet::new());
    }

    /// 0.2.0 has the bridge's unit started with the machine: an upgrade exchanges the link where it is there, and makes none.
    fn exchange_of_the_bridge(&self, before: &Path, later: &Path) {
        let old = "multi-user.target.wants/dayone-bridge.service";
        let new = "ovs-configuration.service.wants/dayone-bridge.service";
        let has_both = || [old, new].map(|link| self.enabled().contains(link));
        let link = self.root().join("etc/systemd/system").join(old);
        let link_of_0_2 =
            || symlink("/usr/lib/systemd/system/dayone-bridge.service", &link).unwrap();
        for is_there in [true, false] {
            self.install(before);
            self.systemctl("disable", &["dayone-bridge.service"]);
            if is_there {
                link_of_0_2();
            }
            self.install(later);
            assert_eq!(has_both(), [false, is_there], "{self:?}");
        }
        // `disable` removes both.
        link_of_0_2();
        self.systemctl("enable", &["dayone-bridge.service"]);
        self.systemctl("disable", &["dayone-bridge.service"]);
        assert_eq!(has_both(), [false, false], "{self:?}");
    }
}
