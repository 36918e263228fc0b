//! Profiles of the initramfs that are not nmgen's, and what becomes of them.
//!
//! coreos-teardown-initramfs copies the initramfs's profiles to a running system that has none at all, and then removes them. Where
//! nmgen's are already there it copies nothing, so nmgen hands the others over too. Without it they stay in `/run`.

use std::path::PathBuf;

use nmgen_core::node::Card;

use crate::command_line::CommandLine;
use crate::fault::Fault;
use crate::persist::own::IFCFG;
use crate::persist::sysroot::Sysroot;
use crate::root::{Paths, RUN_PROFILES};
use crate::write::components::with_hit;
use crate::write::operators::is_for_same;
use crate::write::others::{Other, files};
use crate::write::profiles::{displaced_ones, listed};

const TEARDOWN: [&str; 2] =
    ["/usr/sbin/coreos-teardown-initramfs", "/usr/bin/coreos-teardown-initramfs"];
/// NetworkManager's own profile of the loopback device, which the teardown leaves out.
const LOOPBACK: &str = "lo";
/// NetworkManager's file in ifcfg's directory, which the teardown passes over.
const README: &str = "readme-ifcfg-rh.txt";

/// Returns whether coreos-teardown-initramfs would copy the initramfs's profiles to a running system without any: it is there, and
/// nothing is in ifcfg's directory.
pub(crate) fn are_copied(paths: &Paths, line: &CommandLine, root: &Sysroot) -> bool {
    let is_readme = |path: &PathBuf| path.file_name().is_some_and(|name| name == README);
    TEARDOWN.iter().any(|path| paths.under(path).exists())
        && line.is_first_boot
        && !line.keeps_no_network
        && root
            .place(IFCFG)
            .is_ok_and(|path| files(&path).is_ok_and(|file| file.iter().all(is_readme)))
}

/// The initramfs's profiles without nmgen's (`ours`): those that stayed, and those that gave way to nmgen's.
pub(crate) fn all(paths: &Paths, ours: &[String]) -> Result<Vec<Other>, Fault> {
    let mut others = listed(paths.under(RUN_PROFILES))?;
    others.retain(|other| !ours.contains(&other.file_name()));
    others.extend(displaced_ones(paths)?);
    Ok(others)
}

/// The profiles that belong to the running system too, beside nmgen's (`given`): whole components without an interface of
/// these. The default profile is none: NetworkManager has the like for a card without a profile.
pub(crate) fn wanted<'o>(others: &'o [Other], given: &[&Other], cards: &[Card]) -> Vec<&'o Other> {
    let is_hit = |other: &Other| given.iter().any(|profile| is_in_the_way(profile, other, cards));
    let generated: Vec<&Other> = others.iter().filter(|other| other.is_generated()).collect();
    let hit = with_hit(&generated, is_hit);
    // A bond without one port is another bond. But a person's profile goes with no other.
    let is_gone = |other: &Other| match other.is_generated() {
        true => hit.iter().any(|profile| profile.path == other.path),
        false => is_hit(other),
    };
    let is_wanted = |other: &&Other| {
        !is_gone(other)
            && !other.is_plain_default()
            && other.interface() != Some(LOOPBACK)
            && !other.keyfile.sections.is_empty()
    };
    others.iter().filter(is_wanted).collect()
}

/// True when one of nmgen's profiles stands for the other. The default profile's priority is the lowest, so that it takes no card
/// of nmgen's.
fn is_in_the_way(given: &Other, other: &Other, cards: &[Card]) -> bool {
    if other.is_of_any_card() && other.is_generated() {
        return given.path.file_name() == other.path.file_name();
    }
    is_for_same(given, other, cards)
}
