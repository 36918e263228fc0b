//! The state before a transaction.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    bridge::Bridge,
    ip::{Gateway, OnLink},
    mac::Mac,
    ovs_setting::OvsSetting,
    profile::Active,
};

/// A checkpoint's object path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Checkpoint(pub(crate) String);

/// The state before a transaction that a roll back must restore.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Before {
    /// Addresses of global scope.
    pub(crate) addresses: Vec<OnLink>,
    /// Addresses among them that are of no profile and no lease: other programs' own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) others: Vec<OnLink>,
    /// Links with an IPv4 address from DHCP: the server may later assign another one.
    pub(crate) leased: Vec<String>,
    /// Links with an IPv6 address from the network. No roll back awaits one: the router may be gone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) leased_ipv6: Vec<String>,
    /// Default gateways.
    pub(crate) gateways: Vec<Gateway>,
    /// Routers among them that have advertised themselves.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) routers: Vec<Gateway>,
    /// Active profiles.
    pub(crate) active: Vec<Active>,
    /// UUIDs of those whose activation had succeeded.
    pub(crate) activated: Vec<String>,
    /// MTU of each link with an active profile.
    pub(crate) mtus: BTreeMap<String, u32>,
    /// MAC address of each virtual link with an active profile, which no hardware gives back.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) macs: BTreeMap<String, Mac>,
    /// Checkpoints of other programs.
    pub(crate) checkpoints: Vec<Checkpoint>,
    /// Timeout of the transaction's own checkpoints, which identifies them.
    pub(crate) checkpoint_seconds: u32,
    /// Settings of Open vSwitch that the document changes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) ovs_settings: Vec<OvsSetting>,
    /// OVS bridges.
    pub(crate) bridges: Vec<Bridge>,
    /// The running host name if the document sets one; other changes of it are not the agent's.
    pub(crate) hostname: Option<String>,
    /// Whether a roll back has the devices reapply the restored profiles: files of `nmstatectl service`
    /// change profiles before the checkpoint that is rolled back, and that of a trial may be gone.
    pub(crate) reapply: bool,
}

impl Before {
    /// The part that a later run can ask for. An address of another program, as OVN-Kubernetes's on br-ex or a virtual one of
    /// keepalived's, may have moved since; and the network of an earlier boot may have been of profiles that went with it, and its
    /// addresses are the business of what that run proves next.
    pub(crate) fn for_a_later_run(&self, same_boot: bool) -> Self {
        let mut before = self.clone();
        if same_boot {
            before.addresses.retain(|address| !self.others.contains(address));
            return before;
        }
        Self {
            addresses: Vec::new(),
            leased: Vec::new(),
            leased_ipv6: Vec::new(),
            gateways: Vec::new(),
            routers: Vec::new(),
            mtus: BTreeMap::new(),
            ..before
        }
    }
}

/// The part of [`Before`] that the kind of a transaction decides.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WayBack {
    pub(crate) checkpoint_seconds: u32,
    pub(crate) reapply: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_run_asks_for_what_can_come_back() {
        let on =
            |link: &str, ip: [u8; 4]| OnLink { link: link.to_owned(), ip: ip.into(), prefix: 24 };
        let (own, others) = (on("br-ex", [192, 0, 2, 10]), on("br-ex", [169, 254, 0, 2]));
        let before = Before {
            addresses: vec![own.clone(), others.clone()],
            others: vec![others],
            leased: vec!["eno2".to_owned()],
            ..Before::default()
        };
        let same_boot = before.for_a_later_run(true);
        assert_eq!((same_boot.addresses, same_boot.leased.len()), (vec![own], 1));
        let later = before.for_a_later_run(false);
        assert_eq!((later.addresses.len(), later.leased.len()), (0, 0));
    }
}
