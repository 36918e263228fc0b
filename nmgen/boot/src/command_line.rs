//! The kernel command line: proc_cmdline(5), bootparam(7), and the files that dracut reads with it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::files::{self, is_missing};
use crate::root::Paths;

/// dracut's order (`getcmdline`): of equal arguments the last one counts.
const ETC_DIRECTORY: &str = "/etc/cmdline.d";
const ETC: &str = "/etc/cmdline";
const KERNEL: &str = "/proc/cmdline";
const RUN_DIRECTORY: &str = "/run/initramfs/cmdline.d";

/// Wait for network cards without `nmgen.timeout=`.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);
/// The unit's TimeoutStartSec= leaves room for this much.
const MAX_TIMEOUT: Duration = Duration::from_secs(600);
/// nm-initrd-generator's seconds for one attempt of DHCP, and its largest number.
const DHCP_ATTEMPT: u32 = 90;
const DHCP_MAX: u32 = i32::MAX.cast_unsigned();
/// Kinds of `root=` that need the network after the pivot too: dracut.cmdline(7). A live
/// image is loaded whole before it.
const NETWORK_ROOTS: [&str; 7] = ["iscsi", "nbd", "nfs", "nfs4", "cifs", "dhcp", "dhcp6"];
const NETWORK_DEVICES: [&str; 2] = ["/dev/nfs", "/dev/nbd"];

/// How profiles of the running system match a card that the document identifies by address (`nmgen.identifier=`, in NMState's
/// words).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Identifier {
    /// Without the argument: the name, and the permanent address besides.
    Both,
    /// `name`: an exchanged card in the same place has the same network.
    Name,
    /// `mac-address`: the card has its network under any name.
    MacAddress,
}

/// The arguments that nmgen reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CommandLine {
    /// `nmgen.host=`: the name of this machine's document.
    pub(crate) host: Option<String>,
    /// `nmgen.dir=`: the hosts directory.
    pub(crate) directory: Option<String>,
    /// `nmgen.timeout=`: how long to wait for network cards.
    pub(crate) timeout: Duration,
    /// `rd.net.timeout.dhcp=` times `rd.net.dhcp.retry=`, as nm-initrd-generator has it.
    pub(crate) dhcp_timeout: Option<u32>,
    /// `nmgen.identifier=`.
    pub(crate) identifier: Identifier,
    /// `nmgen=off`.
    pub(crate) is_off: bool,
    /// `nmgen.persist`: whether the running system gets profiles.
    pub(crate) persist: Option<bool>,
    /// `rd.neednet`: dracut.cmdline(7).
    pub(crate) needs_network: bool,
    /// `ignition.firstboot`.
    pub(crate) is_first_boot: bool,
    /// The root disk is reached over the network, after the pivot too.
    pub(crate) has_network_root: bool,
    /// `coreos.live.rootfs_url=`, `root=live:URL`: the initramfs loads a live root over the network, and has it whole at the
    /// pivot.
    pub(crate) has_live_root: bool,
    /// `coreos.no_persist_ip`: coreos-teardown-initramfs copies nothing to the running system.
    pub(crate) keeps_no_network: bool,
    /// `coreos.force_persist_ip`: it copies to a running system with a network of its own too.
    pub(crate) forces_network: bool,
    /// `fcoe=`: a card carries a disk, whatever its addresses are.
    pub(crate) has_fcoe: bool,
    /// `ipv6.disable=1`.
    pub(crate) has_no_ipv6: bool,
    /// Messages for arguments that cannot be read.
    pub(crate) faults: Vec<String>,
}

impl CommandLine {
    /// Reads it from all its files; one that is missing counts as empty, but for the kernel's own. An
    /// unreadable one is a fault.
    pub(crate) fn read(paths: &Paths) -> Self {
        let mut faults = Vec::new();
        let mut files = listed(&paths.under(ETC_DIRECTORY), &mut faults);
        files.extend([ETC, KERNEL].map(|path| paths.under(path)));
        files.extend(listed(&paths.under(RUN_DIRECTORY), &mut faults));
        let mut text = String::new();
        for path in files {
            match files::read(&path) {
                // Other arguments need not be UTF-8.
                Ok(bytes) => text.extend([&String::from_utf8_lossy(&bytes), "\n"]),
                Err(error) if is_missing(&error) && path == paths.under(ETC) => {}
                Err(error) => faults.push(format!("cannot read {}: {error}", path.display())),
            }
        }
        let mut line = Self::parse(&text);
        faults.append(&mut line.faults);
        Self { faults, ..line }
    }

    /// The last of several equal arguments counts, as in the kernel and systemd; an empty one counts
    /// as absent.
    fn parse(text: &str) -> Self {
        let mut parsed = Self {
            host: None,
            directory: None,
            timeout: DEFAULT_TIMEOUT,
            dhcp_timeout: None,
            identifier: Identifier::Both,
            is_off: false,
            persist: None,
            needs_network: false,
            is_first_boot: false,
            has_network_root: false,
            has_live_root: false,
            keeps_no_network: false,
            forces_network: false,
            has_fcoe: false,
            has_no_ipv6: false,
            faults: Vec::new(),
        };
        let (mut dhcp_timeout, mut dhcp_attempts) = (None, None);
        let (mut root, mut has_firmware, mut has_no_fcoe) = (String::new(), false, false);
        let (mut has_nvme, mut has_no_nvme) = (false, false);
        for word in words(text) {
            let (name, value) = word.split_once('=').unwrap_or((&word, ""));
            let given = || (!value.is_empty()).then(|| value.to_owned());
            match name {
                "nmgen" => parsed.is_off = !is_true(value),
                "nmgen.host" => parsed.host = given(),
                "nmgen.dir" => parsed.directory = given(),
                "nmgen.persist" => parsed.persist = Some(is_true(value)),
                "nmgen.identifier" => match value {
                    "" => parsed.identifier = Identifier::Both,
                    "name" => parsed.identifier = Identifier::Name,
                    "mac-address" => parsed.identifier = Identifier::MacAddress,
                    _ => parsed.faults.push(format!(
                        "nmgen.identifier={value} is neither name nor mac-address; using both"
                    )),
                },
                "nmgen.timeout" => match value.parse().map(Duration::from_secs) {
                    Ok(timeout) => parsed.timeout = timeout.min(MAX_TIMEOUT),
                    Err(_) => parsed.faults.push(format!(
                        "nmgen.timeout={value} is not a number of seconds; using {}",
                        DEFAULT_TIMEOUT.as_secs()
                    )),
                },
                "rd.neednet" => parsed.needs_network = is_true(value),
                "ignition.firstboot" => parsed.is_first_boot = is_true(value),
                "ipv6.disable" => parsed.has_no_ipv6 = value == "1",
                "netroot" if value.starts_with("live") => parsed.has_live_root = true,
                // The former name of iSCSI's: dracut.cmdline(7), deprecated.
                "netroot" | "iscsiroot" => parsed.has_network_root |= !value.is_empty(),
                "root" => value.clone_into(&mut root),
                "fcoe" => parsed.has_fcoe |= !value.is_empty(),
                "rd.fcoe" => has_no_fcoe = !is_true(value),
                "coreos.live.rootfs_url" => parsed.has_live_root |= !value.is_empty(),
                "coreos.no_persist_ip" => parsed.keeps_no_network = is_true(value),
                "coreos.force_persist_ip" => parsed.forces_network = is_true(value),
                // The former name, deprecated too.
                "rd.iscsi.firmware" | "iscsi_firmware" => has_firmware = is_true(value),
                "rd.nonvmf" => has_no_nvme = is_true(value),
                // Fibre Channel is no network card's; rd.nvmf.hostnqn= alone may be a local disk's initramfs.
                "rd.nvmf.discover" | "nvmf.discover" => has_nvme |= !value.starts_with("fc,"),
                // An invalid number is dracut's to report.
                "rd.net.timeout.dhcp" => dhcp_timeout = seconds(value).or(dhcp_timeout),
                "rd.net.dhcp.retry" => dhcp_attempts = number(value).or(dhcp_attempts),
                _ => {}
            }
        }
        parsed.has_network_root |=
            is_on_network(&root) || has_firmware || (has_nvme && !has_no_nvme);
        parsed.has_live_root |= is_live_url(&root);
        parsed.has_fcoe &= !has_no_fcoe;
        if dhcp_timeout.is_some() || dhcp_attempts.is_some() {
            let timeout = dhcp_timeout.unwrap_or(DHCP_ATTEMPT);
            let whole = timeout.saturating_mul(dhcp_attempts.unwrap_or(1));
            parsed.dhcp_timeout = Some(whole.min(DHCP_MAX));
        }
        parsed
    }
}

/// True for a `root=` on the network; an address with a path is NFS (dracut's parse-nfsroot.sh).
fn is_on_network(root: &str) -> bool {
    let kind = root.split(':').next().unwrap_or_default();
    let is_nfs = root.starts_with(|first: char| first.is_ascii_digit()) && root.contains(":/");
    is_nfs
        || NETWORK_ROOTS.contains(&kind)
        || NETWORK_DEVICES.iter().any(|device| root.starts_with(device))
}

/// True for a `root=` that the initramfs downloads (dracut's module livenet).
fn is_live_url(root: &str) -> bool {
    root.strip_prefix("live:").is_some_and(|url| url.contains("://") || url.starts_with("nfs"))
}

/// The files `*.conf` of a directory, by name.
fn listed(directory: &Path, faults: &mut Vec<String>) -> Vec<PathBuf> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if is_missing(&error) => return Vec::new(),
        Err(error) => {
            faults.push(format!("cannot list {}: {error}", directory.display()));
            return Vec::new();
        }
    };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let is_one = |path: &PathBuf| {
        path.extension().is_some_and(|extension| extension == "conf") && path.is_file()
    };
    let mut paths: Vec<PathBuf> = paths.filter(is_one).collect();
    paths.sort_unstable();
    paths
}

/// dracut's and systemd's words for no; an argument without a value means yes.
fn is_true(value: &str) -> bool {
    !matches!(value.to_ascii_lowercase().as_str(), "0" | "no" | "n" | "false" | "f" | "off")
}

fn seconds(value: &str) -> Option<u32> {
    if value == "infinity" { Some(DHCP_MAX) } else { number(value) }
}

fn number(value: &str) -> Option<u32> {
    value.parse().ok().filter(|number| (1..=DHCP_MAX).contains(number))
}

/// Splits at white space outside double quotes, and removes the quotes.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for character in text.chars() {
        match character {
            '"' => quoted = !quoted,
            _ if character.is_whitespace() && !quoted => words.push(String::new()),
            _ => words.last_mut().into_iter().for_each(|word| word.push(character)),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_one_counts_and_quotes_hold_words_together() {
        let line = CommandLine::parse(
            "BOOT_IMAGE=/vmlinuz nmgen.host=a quiet nmgen.host=\"b c\" \"nmgen.dir=/my hosts\"\n",
        );
        assert_eq!(line.host.as_deref(), Some("b c"));
        assert_eq!(line.directory.as_deref(), Some("/my hosts"));
        assert_eq!(line.timeout, DEFAULT_TIMEOUT);
        assert_eq!(CommandLine::parse("nmgen.host=a nmgen.host=").host, None);
        let missing = CommandLine::read(&Paths::new(Path::new("/nonexistent")));
        assert!(missing.faults[0].starts_with("cannot read /nonexistent/proc/cmdline: "));
    }

    #[test]
    fn a_timeout_is_bounded_and_a_wrong_one_is_said() {
        assert_eq!(CommandLine::parse("nmgen.timeout=0").timeout, Duration::ZERO);
        assert_eq!(CommandLine::parse("nmgen.timeout=99999").timeout, MAX_TIMEOUT);
        let wrong = CommandLine::parse("nmgen.timeout=1m");
        assert_eq!(
            (wrong.timeout, wrong.faults),
            (
                DEFAULT_TIMEOUT,
                vec!["nmgen.timeout=1m is not a number of seconds; using 60".to_owned()]
            )
        );
    }

    #[test]
    fn dhcp_gets_the_time_that_networkmanagers_generator_gives_it() {
        for (text, expected) in [
            ("", None),
            ("rd.net.timeout.dhcp=0", None),
            ("rd.net.timeout.dhcp=7", Some(7)),
            ("rd.net.dhcp.retry=2", Some(180)),
            ("rd.net.dhcp.retry=3 rd.net.timeout.dhcp=40", Some(120)),
            ("rd.net.timeout.dhcp=infinity rd.net.dhcp.retry=100", Some(DHCP_MAX)),
        ] {
            assert_eq!(CommandLine::parse(text).dhcp_timeout, expected, "{text}");
        }
    }

    #[test]
    fn a_root_disk_on_the_network_is_known_by_its_arguments() {
        for (text, expected) in [
            ("root=/dev/sda1", false),
            ("root=live:https://example.org/rootfs.img", false),
            ("netroot=iscsi:192.0.2.1::::iqn.2024-01.org.example:disk", true),
            ("root=nbd:192.0.2.1:root", true),
            ("root=nfs4:192.0.2.1:/srv", true),
            ("rd.iscsi.firmware", true),
            ("rd.iscsi.firmware=0", false),
            ("rd.iscsi.firmware=1 rd.iscsi.firmware=0", false),
            ("iscsi_firmware", true),
            ("iscsiroot=192.0.2.1::::iqn.2024-01.org.example:disk", true),
            ("root=iscsi", true),
            ("root=192.0.2.1:/srv", true),
            ("root=nfs", true),
            ("root=/dev/nfs nfsroot=192.0.2.1:/srv", true),
            ("root=dhcp6", true),
            ("root=nfs:192.0.2.1:/srv root=/dev/sda1", false),
            ("root=UUID=6f1d8a10-6d0c-4a0e-a7a1-0f3f3a2b1c4d", false),
            ("root=PARTUUID=0:/x", false),
            ("rd.nvmf.discover=tcp,192.0.2.1", true),
            ("nvmf.discover=rdma,192.0.2.1", true),
            ("rd.nvmf.discover=tcp,192.0.2.1 rd.nonvmf", false),
            ("rd.nvmf.hostnqn=nqn.2014-08.org.nvmexpress:uuid:host", false),
            ("rd.nvmf.discover=fc,auto", false),
            ("rd.nvmf.discover=fc,auto rd.nvmf.discover=tcp,192.0.2.1", true),
            ("rd.nvmf.nonbft netroot=live:https://example.org/rootfs.img", false),
        ] {
            assert_eq!(CommandLine::parse(text).has_network_root, expected, "{text}");
        }
    }

    #[test]
    fn a_live_root_that_is_downloaded_is_known_by_its_arguments() {
        for (text, expected) in [
            ("coreos.live.rootfs_url=https://example.org/rootfs.img", true),
            ("root=live:https://example.org/rootfs.img", true),
            ("root=live:nfs:192.0.2.1:/srv/rootfs.img", true),
            ("netroot=livenet:https://example.org/rootfs.img", true),
            ("root=live:LABEL=LIVE", false),
            ("root=live:/dev/sr0", false),
        ] {
            assert_eq!(CommandLine::parse(text).has_live_root, expected, "{text}");
        }
    }

    #[test]
    fn fibre_channel_over_ethernet_can_be_switched_off() {
        for (text, expected) in
            [("fcoe=ens3:nodcb", true), ("fcoe=ens3:nodcb rd.fcoe=0", false), ("rd.fcoe=1", false)]
        {
            assert_eq!(CommandLine::parse(text).has_fcoe, expected, "{text}");
        }
    }
}
