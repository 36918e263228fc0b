//! The machine that a node's disk is in: its mainboard, its card, its installation.

use std::net::Ipv4Addr;

use crate::dayone::{self, ADDRESS};

/// A machine. The first one's disk may come to others.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Machine {
    /// Number of the installation: name, address and machine-id are made of it.
    number: u8,
    board: u8,
    card: u8,
}

impl Machine {
    /// Name of the node.
    pub(super) fn name(self) -> String {
        format!("worker-{}", self.number)
    }

    /// Its static address.
    pub(super) fn address(self) -> Ipv4Addr {
        let [a, b, c, d] = ADDRESS.octets();
        Ipv4Addr::new(a, b, c, d + self.number)
    }

    /// The file of its document.
    pub(super) fn host_file(self) -> String {
        format!("/etc/nmstate/openshift/{}.yml", self.name())
    }

    /// machine-id(5).
    pub(super) fn machine_id(self) -> String {
        format!("da701ab00000000000000000000000{:02x}", self.number + 1)
    }

    /// The UUID of SMBIOS.
    pub(super) fn uuid(self) -> String {
        format!("4c4c4544-0000-4000-8000-0000000000{:02x}", self.board)
    }

    /// The card's address.
    pub(super) fn mac(self) -> String {
        format!("52:54:00:00:00:{:02x}", self.card + 1)
    }

    /// A text of the first machine, with this one's address.
    pub(super) fn own(self, text: &str) -> String {
        let first = ADDRESS.to_string();
        let address = self.address().to_string();
        ["\n", "/24"].iter().fold(text.to_owned(), |text, end| {
            text.replace(&format!("{first}{end}"), &format!("{address}{end}"))
        })
    }

    /// The day-one profile of a static card.
    pub(super) fn day_one(self) -> String {
        self.own(dayone::DAY_ONE)
    }

    /// With another card in the place of this one.
    pub(super) fn with_another_card(self) -> Self {
        Self { card: self.card + 1, ..self }
    }

    /// With another mainboard, and so with another card.
    pub(super) fn with_another_board(self) -> Self {
        Self { board: self.board + 1, ..self.with_another_card() }
    }

    /// The machine to which a copy of the disk comes.
    pub(super) fn another(self) -> Self {
        Self { number: self.number + 1, ..self.with_another_board() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_machine_has_nothing_of_the_first() {
        let (first, other) = (Machine::default(), Machine::default().another());
        assert_eq!((first.address(), first.mac().as_str()), (ADDRESS, dayone::MAC));
        assert_eq!(first.day_one(), dayone::DAY_ONE);
        assert_eq!(first.host_file(), dayone::HOST_FILE);
        let all = |machine: Machine| {
            [machine.name(), machine.machine_id(), machine.uuid(), machine.mac(), machine.day_one()]
        };
        assert!(all(first).iter().zip(all(other)).all(|(first, other)| *first != other));
        assert!(other.day_one().contains("192.0.2.11/24,192.0.2.1\n"), "{}", other.day_one());
        let repaired = first.with_another_board();
        assert_eq!((repaired.name(), repaired.machine_id()), (first.name(), first.machine_id()));
    }
}
