//! Profiles of the initramfs that are not nmgen's, and what becomes of them.
//!
//! coreos-teardown-initramfs copies the initramfs's profiles to a running system that has none at all, and then removes them. Where
//! nmgen's are already there it copies nothing, so nmgen hands the others over too. Without it they stay in `/run`.

use nmgen_core::node::Card;

use crate::command_line::CommandLine;
use crate::fault::Fault;
use crate::persist::sysroot::Sysroot;
use crate::root::{ETC_PROFILES, Paths, RUN_PROFILES};
use crate::write::components::components;
use crate::write::operators::is_for_same;
use crate::write::others::Other;
use crate::write::profiles::{displaced_ones, early_names, listed};

const TEARDOWN: [&str; 2] =
    ["/usr/sbin/coreos-teardown-initramfs", "/usr/bin/coreos-teardown-initramfs"];
/// NetworkManager's own profile of the loopback device, which the teardown leaves out.
const LOOPBACK: &str = "lo";

/// True when coreos-teardown-initramfs would copy the initramfs's profiles, if nmgen had none.
pub(crate) fn are_copied(paths: &Paths, line: &CommandLine) -> bool {
    let has_it = TEARDOWN.iter().any(|path| paths.under(path).exists());
    has_it && line.is_first_boot && !line.keeps_no_network
}

/// The initramfs's profiles without nmgen's: those that stayed, and those that gave way to nmgen's.
pub(crate) fn all(paths: &Paths) -> Result<Vec<Other>, Fault> {
    let ours = early_names(paths)?;
    let is_ours = |other: &Other| {
        let name = other.path.file_name().unwrap_or_default().to_string_lossy();
        ours.iter().any(|it| *it == name)
    };
    let mut others = listed(paths.under(RUN_PROFILES))?;
    others.retain(|other| !is_ours(other));
    others.extend(displaced_ones(paths)?);
    Ok(others)
}

/// The profiles that belong to the running system too, beside nmgen's (`given`): whole components without an interface of
/// these. The default profile is none: NetworkManager has the like for a card without a profile.
pub(crate) fn wanted<'o>(others: &'o [Other], given: &[&Other], cards: &[Card]) -> Vec<&'o Other> {
    let is_hit = |other: &Other| given.iter().any(|it| is_in_the_way(it, other, cards));
    let component = components(others.iter().map(|other| &other.keyfile));
    let mut hit: Vec<usize> = Vec::new();
    for (other, component) in others.iter().zip(&component) {
        if is_hit(other) {
            hit.push(*component);
        }
    }
    let is_wanted = |(other, component): &(&Other, usize)| {
        !hit.contains(component)
            && !other.is_plain_default()
            && other.interface() != Some(LOOPBACK)
            && !other.keyfile.sections.is_empty()
    };
    others.iter().zip(component).filter(is_wanted).map(|(other, _)| other).collect()
}

/// True when one of nmgen's profiles stands for the other. The default profile's priority is the lowest, so that it takes no card
/// of nmgen's.
fn is_in_the_way(given: &Other, other: &Other, cards: &[Card]) -> bool {
    if other.is_of_any_card() && other.is_generated() {
        return given.path.file_name() == other.path.file_name();
    }
    is_for_same(given, other, cards)
}

/// True when nothing in the running system keeps coreos-teardown-initramfs from copying: neither a profile nor an ifcfg
/// file, but for remains of a hand-over that a power cut ended (`is_ours`).
pub(crate) fn has_no_network(
    root: &Sysroot,
    own: &[Other],
    is_ours: impl Fn(&Other) -> bool,
) -> bool {
    let Ok(directory) = root.place(ETC_PROFILES) else { return false };
    let is_looked_at = |own: &Other| {
        let name = own.path.file_name().unwrap_or_default().to_string_lossy();
        own.path.parent() == Some(&directory) || name.starts_with("ifcfg-")
    };
    !own.iter().any(|own| is_looked_at(own) && !is_ours(own))
}
