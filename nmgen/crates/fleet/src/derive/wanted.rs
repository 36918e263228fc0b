//! The bridges to build, and the caller's choices.

use nmgen_core::source::Host;

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
}

/// The choice for this host, else the one for all.
pub(super) fn chosen<'r>(choices: &'r [Choice], host: &Host) -> Option<&'r str> {
    let of = |wanted: Option<&str>| choices.iter().rev().find(|it| it.host.as_deref() == wanted);
    let named = host.name.as_deref().and_then(|name| of(Some(name)));
    let named = named.or_else(|| of(Some(host.short_name()?)));
    named.or_else(|| of(None)).map(|choice| choice.interface.as_str())
}
