//! Settings of a type whose difference nmstate cannot parse without all of their keys.

use nmstate::{Interface, NetworkState};

/// Hides those of `current` that `desired` has, so that the difference has all of them: a part, such as a VXLAN's other address
/// without its id, is an error to `gen_diff()`.
pub(super) fn hide(desired: &NetworkState, current: &mut NetworkState) {
    for iface in current.interfaces.iter_mut() {
        let Some(wanted) = desired.interfaces.get_iface(iface.name(), iface.iface_type()) else {
            continue;
        };
        #[allow(clippy::wildcard_enum_match_arm, reason = "non-exhaustive upstream")]
        match (iface, wanted) {
            (Interface::Vxlan(have), Interface::Vxlan(want)) if want.vxlan.is_some() => {
                have.vxlan = None;
            }
            (Interface::MacVlan(have), Interface::MacVlan(want)) if want.mac_vlan.is_some() => {
                have.mac_vlan = None;
            }
            (Interface::MacVtap(have), Interface::MacVtap(want)) if want.mac_vtap.is_some() => {
                have.mac_vtap = None;
            }
            (Interface::MacSec(have), Interface::MacSec(want)) if want.macsec.is_some() => {
                have.macsec = None;
            }
            (Interface::Hsr(have), Interface::Hsr(want)) if want.hsr.is_some() => have.hsr = None,
            (Interface::InfiniBand(have), Interface::InfiniBand(want)) if want.ib.is_some() => {
                have.ib = None;
            }
            _ => {}
        }
    }
}
