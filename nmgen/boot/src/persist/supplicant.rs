//! Interfaces that wpa_supplicant works for, by 802.1X or MACsec.
//!
//! It ends with the initramfs, and the running system's NetworkManager starts none for a device that it takes over
//! (nm-device.c: `act_stage2_config` is not for assumed ones): a switch that asks the card again gets no answer and closes the
//! port, and MACsec's keys expire. So the device is put back, and NetworkManager activates it anew, with a supplicant.

use super::plan::ProfileFacts;
use super::release::Release;
use crate::kernel_log::Level;
use crate::write::components::with_hit;
use crate::write::given::Given;
use crate::write::others::Other;

/// The sections of a profile that needs wpa_supplicant.
const SECTIONS: [&str; 2] = ["802-1x", "macsec"];

/// The releases of these interfaces and of all that is connected with them, but for those of `releases`. A card that carries the
/// root disk stays.
pub(crate) fn releases(
    releases: &[Release],
    facts: &ProfileFacts<'_>,
    profiles: &[&Other],
    notes: &mut Vec<(Level, String)>,
) -> Vec<Release> {
    let needs_it =
        |profile: &Other| SECTIONS.iter().any(|section| profile.keyfile.section(section).is_some());
    let connected = with_hit(profiles, needs_it).into_iter();
    let interfaces: Vec<String> = connected
        .filter_map(|other| Given::of(other, facts.cards).interface().map(str::to_owned))
        .collect();
    if facts.line.has_network_root || facts.line.has_fcoe {
        if !interfaces.is_empty() {
            let text = format!(
                "{} stays as the initramfs has it, since the root disk is on the network: nothing authenticates it again before \
                 it is activated anew",
                interfaces.join(", ")
            );
            notes.push((Level::Warning, text));
        }
        return Vec::new();
    }
    let new = interfaces.into_iter().map(|interface| Release::Down { interface });
    new.filter(|release| !releases.contains(release)).collect()
}
