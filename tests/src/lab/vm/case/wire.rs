//! The wire of a running machine: its cables, and the ports of the switch at their other ends.

use super::VmCase;
use crate::lab::{
    error::{Error, Result},
    node::Nic,
    vm::Lldp,
};

impl VmCase<'_> {
    /// Plugs or pulls the cable of a card at the card's end: it has a carrier, or none. [`crate::lab::Gateway::carrier`]
    /// silences the switch's port alone.
    pub fn cable(&self, nic: &str, on: bool) -> Result<()> {
        self.qemu.as_ref().ok_or(Error::NotRunning)?.link(self.card(nic)?, on)
    }

    /// Puts the switch's ports of an aggregate's cards into these port channels with LACP; those left are in none.
    pub fn channels(&self, aggregate: &str, channels: &[&[&str]]) -> Result<()> {
        let mine = |nic: &&Nic| nic.aggregate.as_deref() == Some(aggregate);
        let nics: Vec<&Nic> = self.machine.nics.iter().filter(mine).collect();
        self.switch.channels(self.gateway.netns(), aggregate, &nics, channels)
    }

    /// The VLANs that an aggregate's port carries at the switch; `None`: all. The LAN itself it always carries.
    pub fn carries(&self, aggregate: &str, vlans: Option<&[u16]>) -> Result<()> {
        self.switch.carries(self.gateway.netns(), aggregate, vlans)
    }

    /// The largest packets that the switch carries on the LAN, at the cards' ports and at the peer: larger ones are lost.
    pub fn frames(&self, mtu: u16) -> Result<()> {
        self.switch.frames(self.gateway.netns(), &self.machine.nics, mtu)
    }

    /// The switch says by LLDP, on the cable of a card, who it is.
    pub fn says(&self, nic: &str, neighbour: &Lldp<'_>) -> Result<()> {
        self.switch.send(self.gateway.netns(), self.card(nic)?, &neighbour.frame())
    }

    fn card(&self, name: &str) -> Result<&Nic> {
        let mut all = self.machine.nics.iter();
        all.find(|nic| nic.name == name).ok_or_else(|| Error::NoCard(name.into()))
    }
}
