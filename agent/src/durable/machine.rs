//! Owner of the durable state: a machine and an installation. A disk may be a clone (of a seed image, of a template), and a new
//! installation may have kept `/var`.
//!
//! Another machine's state names addresses that this one must not have, and the open transaction of another installation has copies
//! of profiles of an `/etc` that is gone. It is set aside as a whole, and never obeyed.

use serde::{Deserialize, Serialize};

use crate::{client::netlink::NetlinkError, document::identity, paths::Paths};

/// The machine and the installation of the state. Empty fields are unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub(crate) struct Machine {
    /// machine-id(5): that of an installation.
    pub(super) machine_id: String,
    /// The UUID of SMBIOS: that of a mainboard, or of a virtual machine.
    pub(super) system_uuid: String,
    /// Permanent MAC addresses of the network cards.
    pub(crate) cards: Vec<String>,
}

impl Machine {
    /// This machine. The cards are the caller's, who knows when they are all there.
    pub(crate) fn here(paths: &Paths, cards: Vec<String>) -> Self {
        let text = |path| std::fs::read_to_string(path).unwrap_or_default().trim().to_owned();
        let machine_id = text(paths.machine_id());
        let is_id = machine_id.bytes().all(|byte| byte.is_ascii_hexdigit()) && !is_transient(paths);
        let machine_id = if is_id { machine_id } else { String::new() };
        Self { machine_id, system_uuid: text(paths.dmi("product_uuid")), cards }
    }

    /// Owner of this recorded state, seen from the machine `here`. An identifier that either side lacks is not compared.
    pub(crate) fn on(&self, here: &Self) -> Owner {
        let differ =
            |a: &str, b: &str| !a.is_empty() && !b.is_empty() && !a.eq_ignore_ascii_case(b);
        if differ(&self.machine_id, &here.machine_id) {
            return Owner::Another;
        }
        // The machine-id may come with the image of a seed, as that of an image-based upgrade does (lifecycle-agent).
        match differ(&self.system_uuid, &here.system_uuid) && !self.cards.is_empty() {
            true => Owner::DecidedByCards,
            false => Owner::ThisInstallation,
        }
    }

    pub(crate) fn has_card_of(&self, here: &Self) -> bool {
        self.cards.iter().any(|card| here.cards.contains(card))
    }
}

/// Addresses of the cards of this machine, in their order. A USB card is left out: that of a BMC has the same address in a whole
/// fleet, and another one may be plugged elsewhere.
///
/// # Errors
/// The kernel's list of links cannot be read.
pub(crate) async fn cards(paths: &Paths) -> Result<Vec<String>, NetlinkError> {
    let is_usb = |name: &str| {
        let device = paths.device(name);
        let bus = device.and_then(|path| std::fs::read_link(path.join("device/subsystem")).ok());
        bus.is_some_and(|bus| bus.ends_with("usb"))
    };
    let cards = identity::cards(paths).await?.into_iter().filter(|card| !is_usb(&card.name));
    let mut cards: Vec<String> = cards.map(|card| card.mac.to_string()).collect();
    cards.sort_unstable();
    Ok(cards)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    ThisInstallation,
    /// Another installation's, or another machine's.
    Another,
    /// The mainboard differs: this machine's if one of the recorded cards is here.
    DecidedByCards,
}

/// Whether systemd has mounted an ID of this boot over the file, as long as it cannot write there (machine-id(5)): the next boot
/// may have another one.
fn is_transient(paths: &Paths) -> bool {
    let mounts = std::fs::read_to_string(paths.mounts()).unwrap_or_default();
    // proc_pid_mountinfo(5): the fifth field is the place.
    mounts.lines().any(|line| line.split(' ').nth(4) == Some("/etc/machine-id"))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    type Tested = Result<(), Box<dyn std::error::Error>>;

    pub(in crate::durable) fn machine(
        machine_id: &str,
        system_uuid: &str,
        cards: &[&str],
    ) -> Machine {
        let cards = cards.iter().map(|&card| card.to_owned()).collect();
        Machine { machine_id: machine_id.to_owned(), system_uuid: system_uuid.to_owned(), cards }
    }

    #[test]
    fn another_machine_has_another_machine_id_or_neither_mainboard_nor_card() {
        let own = machine("a1", "4C4C4544-0000", &["52:54:00:00:00:01", "52:54:00:00:00:02"]);
        for (why, here, is_other) in [
            ("the same", own.clone(), false),
            ("a clone", machine("b2", "4c4c4544-1111", &["52:54:00:00:00:03"]), true),
            ("a clone whose cards are not there yet", machine("b2", "4c4c4544-1111", &[]), true),
            ("the seed's ID", machine("a1", "4c4c4544-1111", &["52:54:00:00:00:03"]), true),
            ("a replaced mainboard", machine("a1", "4c4c4544-1111", &["52:54:00:00:00:02"]), false),
            ("other cards", machine("a1", "4c4c4544-0000", &["52:54:00:00:00:03"]), false),
            ("a new installation", machine("b2", "4c4c4544-0000", &["52:54:00:00:00:01"]), true),
            ("no machine-id yet", machine("", "4c4c4544-0000", &["52:54:00:00:00:03"]), false),
            ("no SMBIOS any more", machine("a1", "", &["52:54:00:00:00:03"]), false),
        ] {
            let told = match own.on(&here) {
                Owner::ThisInstallation => false,
                Owner::Another => true,
                Owner::DecidedByCards => !own.has_card_of(&here),
            };
            assert_eq!(told, is_other, "{why}");
        }
        let unknown = machine("a1", "4C4C4544-0000", &[]);
        assert_eq!(
            unknown.on(&machine("a1", "4c4c4544-1111", &[])),
            Owner::ThisInstallation,
            "no evidence"
        );
    }

    #[test]
    fn a_machine_id_of_this_boot_tells_nothing() -> Tested {
        let over = "40 28 0:25 /machine-id /etc/machine-id ro - tmpfs tmpfs rw\n";
        for (text, mounts, expected) in [
            ("4a1b8f0e\n", "", "4a1b8f0e"),
            ("4a1b8f0e\n", over, ""),
            ("uninitialized\n", "", ""),
            ("", "", ""),
        ] {
            let root = tempfile::tempdir()?;
            let paths = Paths::new(root.path());
            std::fs::create_dir_all(paths.documents())?;
            std::fs::create_dir_all(paths.mounts().parent().ok_or("no directory")?)?;
            std::fs::write(paths.machine_id(), text)?;
            std::fs::write(
                paths.mounts(),
                format!("30 28 0:24 / /etc rw - xfs /dev/sda4 rw\n{mounts}"),
            )?;
            assert_eq!(Machine::here(&paths, Vec::new()).machine_id, expected, "{text}");
        }
        Ok(())
    }

    #[tokio::test(flavor = "current_thread")]
    async fn a_usb_card_identifies_no_machine() -> Tested {
        let root = tempfile::tempdir()?;
        let paths = Paths::new(root.path());
        for (name, bus, address) in [
            ("eno2", "pci", "52:54:00:00:00:01"),
            ("eno1", "pci", "52:54:00:00:00:02"),
            ("usb0", "usb", "02:00:00:00:00:01"),
        ] {
            let device = paths.sys_net().join(name).join("device");
            std::fs::create_dir_all(&device)?;
            std::fs::write(paths.sys_net().join(name).join("address"), address)?;
            std::os::unix::fs::symlink(format!("../../../bus/{bus}"), device.join("subsystem"))?;
        }
        assert_eq!(cards(&paths).await?, ["52:54:00:00:00:01", "52:54:00:00:00:02"]);
        Ok(())
    }
}
