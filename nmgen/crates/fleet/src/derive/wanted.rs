//! The bridges to build, and the caller's choices.

use nmgen_core::source::Host;
use nmgen_document::diagnostic::Diagnostics;

use crate::missing_host::no_such_host;

/// OVN-Kubernetes's bridge.
pub const BR_EX: &str = "br-ex";
/// Its optional second bridge.
pub(super) const BR_EX1: &str = "br-ex1";
/// The route metrics of configure-ovs, so that routes by a bridge win over those by other interfaces.
pub(super) const METRICS: [(&str, u32); 2] = [(BR_EX, 48), (BR_EX1, 49)];

/// The caller's choices.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Request {
    /// The uplinks of br-ex; without one, the default route decides.
    pub uplinks: Vec<Choice>,
    /// The uplinks of br-ex1; hosts without one get no br-ex1.
    pub second: Vec<Choice>,
    /// The cards of br-ex's uplink, a bond, become one of Open vSwitch.
    pub balance_slb: Option<BalanceSlb>,
}

impl Request {
    /// An error for each choice for a host that the sources do not have.
    pub fn verify(&self, hosts: &[Host], sources: &[String]) -> Diagnostics {
        let hosts: Vec<&Host> = hosts.iter().collect();
        let uplinks = self.uplinks.iter().map(|choice| ("--uplink", choice));
        let choices = uplinks.chain(self.second.iter().map(|choice| ("--br-ex1", choice)));
        let unknown = |(option, choice): (&str, &Choice)| {
            let name = choice.host.as_deref()?;
            let is_there = hosts.iter().any(|host| is_named(host, name));
            let message = format!("there is no host {name}, which {option} names");
            let remedy = format!("write {option} NAME");
            (!is_there).then(|| no_such_host(message, &hosts, sources, &remedy))
        };
        choices.filter_map(unknown).collect()
    }
}

/// The names in a topology with a bond of Open vSwitch, which is in a bridge of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BalanceSlb {
    /// The bridge with the bond.
    pub bridge: String,
    /// The bond, which is a port of the bridge.
    pub bond: String,
    /// The patch port of br-ex.
    pub patch: String,
    /// The patch port of the bridge with the bond.
    pub peer: String,
}

/// As in OpenShift's documentation.
impl Default for BalanceSlb {
    fn default() -> Self {
        let [bridge, bond, patch, peer] =
            ["br-phy", "ovs-bond", "patch-ex-to-phy", "patch-phy-to-ex"].map(str::to_owned);
        Self { bridge, bond, patch, peer }
    }
}

/// An interface, for one host or for all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// `None` for all hosts that are not named.
    pub host: Option<String>,
    /// The interface's name in the document.
    pub interface: String,
}

/// A bridge to build.
pub(super) struct Wanted<'r> {
    pub name: &'static str,
    pub metric: u32,
    /// The caller's choice.
    pub uplink: Option<&'r str>,
    /// The caller's choice; the second bridge has none.
    pub balance_slb: Option<&'r BalanceSlb>,
}

impl Wanted<'_> {
    /// The names of all interfaces to make.
    pub(super) fn names(&self) -> Vec<&str> {
        let others = self.balance_slb.map(|balance_slb| {
            [&*balance_slb.bridge, &balance_slb.bond, &balance_slb.patch, &balance_slb.peer]
        });
        std::iter::once(self.name).chain(others.into_iter().flatten()).collect()
    }
}

/// True for the host's full name, and for the short one.
fn is_named(host: &Host, name: &str) -> bool {
    host.name.as_deref() == Some(name) || host.short_name() == Some(name)
}

/// The choice for this host, else the one for all.
pub(super) fn chosen<'r>(choices: &'r [Choice], host: &Host) -> Option<&'r str> {
    let of =
        |wanted: Option<&str>| choices.iter().rev().find(|choice| choice.host.as_deref() == wanted);
    let named = host.name.as_deref().and_then(|name| of(Some(name)));
    let named = named.or_else(|| of(Some(host.short_name()?)));
    named.or_else(|| of(None)).map(|choice| choice.interface.as_str())
}
