//! Marks in `/run/dayone`: conditions of units on the progress of this boot.
//!
//! | mark | from | to | who looks |
//! |---|---|---|---|
//! | `undecided` | early boot | the boot may go on | nmstate and the units of the field keep off; dayone-wait waits |
//! | `chosen` | a document is this node's | end of boot | nmstate-configuration and nmstate keep off |
//! | `in-force` | a document is in force | end of boot | ovs-configuration keeps off |
//! | `bridge-of-document` | a document is in force | its file is gone, or `dayone bridge` ends well | dayone-bridge keeps off |
//! | `owns-bridge` | `dayone bridge` begins | end of boot | ovs-configuration keeps off |
//! | `bridge-undecided` | `dayone bridge` begins | br-ex is there | dayone-wait waits |
//! | `cut-off` | an attempt with a document begins | it ends, in any way but with the agent | the next attempt, which counts |
//! | `bridge-cut-off` | an attempt at the bridge begins | it ends, in any way but with the agent | the next attempt, which counts |
//! | `ended` | the end of a run or a check, after its other marks | `dayone health` looks | dayone-health.path starts that |
//! | `ovn-remote-forgotten` | OVN's remote is cleared | end of boot | the next run, which leaves the remote alone |
//!
//! `/run/ovs-config-executed` is configure-ovs.sh's own mark, and its unit may have it as a condition. It appears when the network
//! that takes configure-ovs's place is there, so that a failure leaves br-ex to that script.

use std::path::Path;

use nmgen::chain;

use super::units;
use crate::{
    durable::{self, FileError},
    paths::Paths,
    status::{Success, create_runtime_dir},
};

/// The boot waits for the network.
pub(crate) fn undecided(paths: &Paths) {
    set(&paths.undecided());
}

/// Early in boot: the boot waits for the network. After the first run has begun the mark is the runs'
/// affair: a restart of dayone-recover.service must not hold back a boot that is decided. With
/// dayone.service disabled or masked no run would ever remove it. Beside a kubelet that runs the boot is over: a package has just
/// brought the agent, NetworkManager starts again, and dayone.service starts at the next boot only.
pub(crate) fn undecided_at_boot(paths: &Paths) {
    let is_boot_over = paths.status().exists() || paths.control_group(KUBELET).exists();
    if !is_boot_over && is_agent_enabled(paths) {
        undecided(paths);
    }
}

/// Whether this boot starts dayone.service: a unit wants it, and it is not masked.
pub(crate) fn is_agent_enabled(paths: &Paths) -> bool {
    !units::is_masked(paths, AGENT) && units::is_enabled(paths, AGENT)
}

const AGENT: &str = "dayone.service";
const KUBELET: &str = "kubelet.service";

/// Whether the boot waits for the network.
pub(crate) fn is_undecided(paths: &Paths) -> bool {
    paths.undecided().exists()
}

/// This node has a document.
pub(crate) fn chosen(paths: &Paths) {
    set(&paths.chosen());
}

/// br-ex is the agent's in this boot, and the boot waits for it.
pub(crate) fn bridge_undecided(paths: &Paths) {
    set(&paths.owns_bridge());
    set(&paths.bridge_undecided());
}

/// A service's attempt begins: the number of attempts in a row that ended with the agent before it. `count` is
/// [`Paths::cut_off`] or [`Paths::bridge_cut_off`].
pub(super) fn attempt_begins(count: &Path) -> u32 {
    let text = durable::read(count).unwrap_or_else(|error| {
        warn(Err(error));
        None
    });
    let text = text.map(|text| String::from_utf8_lossy(&text).into_owned()).unwrap_or_default();
    let before: u32 = text.trim().parse().unwrap_or_default();
    set_to(count, &before.saturating_add(1).to_string());
    before
}

/// The attempt has ended, and the agent goes on.
pub(super) fn attempt_ends(count: &Path) {
    clear(count);
}

/// Whether a unit waits for a mark to go.
pub(crate) fn is_boot_held(paths: &Paths) -> bool {
    is_undecided(paths) || paths.bridge_undecided().exists()
}

/// This boot's runs leave OVN's remote alone from now on.
pub(super) fn ovn_remote_forgotten(paths: &Paths) {
    set(&paths.ovn_remote_forgotten());
}

/// The automatic br-ex is there: the boot may go on. A document that held it has gone by then, or is decided; where dayone.service
/// was stopped meanwhile, no run of it would tell so.
pub(crate) fn bridge_made(paths: &Paths) {
    clear(&paths.bridge_of_document());
    clear(&paths.undecided());
    set(&paths.ovs_config_executed());
    bridge_decided(paths);
}

/// br-ex is a document's affair: the boot may go on.
pub(crate) fn bridge_decided(paths: &Paths) {
    clear(&paths.bridge_undecided());
}

/// br-ex is left to configure-ovs.
pub(crate) fn without_bridge(paths: &Paths) {
    leaves_bridge(paths);
    bridge_decided(paths);
}

/// br-ex is the agent's no more, and the boot waits still.
pub(super) fn leaves_bridge(paths: &Paths) {
    clear(&paths.owns_bridge());
}

/// After a success: the boot may go on.
pub(crate) fn succeeded(paths: &Paths, success: Success) {
    match success {
        // Without a document the node boots as if the agent were absent.
        Success::Nothing => {
            clear(&paths.chosen());
            clear(&paths.in_force());
            clear(&paths.bridge_of_document());
        }
        // br-ex still belongs to the removed document; files of /etc/nmstate are left to nmstate.service.
        Success::Removed => {
            clear(&paths.chosen());
            clear(&paths.bridge_of_document());
            set(&paths.in_force());
            set(&paths.ovs_config_executed());
        }
        Success::Committed | Success::Unchanged | Success::Adopted => put_in_force(paths),
    }
    clear(&paths.undecided());
}

/// After a failure, with a document's network in force: the last good one, or one that is not recorded. The boot may
/// go on.
pub(crate) fn in_force(paths: &Paths) {
    put_in_force(paths);
    clear(&paths.undecided());
}

/// A run or a check has ended. A mark and no event: systemd drops the start of a unit that is at work, and a look at the network
/// may take as long as a whole run.
pub(crate) fn ended(paths: &Paths) {
    set(&paths.ended());
}

/// After a failure with `on-failure = "continue"`: br-ex is left to other tools, the document is
/// not.
pub(crate) fn without_document(paths: &Paths) {
    clear(&paths.undecided());
}

fn put_in_force(paths: &Paths) {
    // An attempt at the automatic bridge may have died with its mark, and the next one is skipped.
    clear(&paths.bridge_undecided());
    set(&paths.chosen());
    set(&paths.in_force());
    set(&paths.ovs_config_executed());
}

/// br-ex is this document's affair: a link to its file, so that the mark ends with that.
pub(super) fn bridge_of_document(paths: &Paths, document: &Path) {
    let mark = paths.bridge_of_document();
    clear(&mark);
    let failed = |source| FileError::Write { path: mark.clone(), source };
    warn(
        std::os::unix::fs::symlink(paths.under(&document.to_string_lossy()), &mark).map_err(failed),
    );
}

fn set(mark: &Path) {
    set_to(mark, "");
}

fn set_to(mark: &Path, text: &str) {
    let made = mark.parent().map_or(Ok(()), create_runtime_dir);
    warn(made.and_then(|()| durable::write(mark, text.as_bytes(), 0o644)));
}

fn clear(mark: &Path) {
    warn(durable::remove(mark));
}

/// A mark that cannot be written is a warning: the run goes on.
fn warn(done: Result<(), FileError>) {
    if let Err(error) = done {
        tracing::warn!("{}", chain(&error));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_masked_agent_holds_back_nothing() -> Result<(), std::io::Error> {
        for place in 0..3 {
            let root = tempfile::tempdir()?;
            let paths = Paths::new(root.path());
            enable(&paths, 0, "multi-user.target.wants/dayone.service")?;
            let link = &paths.masks("dayone.service")[place];
            std::fs::create_dir_all(link.parent().unwrap_or(link))?;
            std::os::unix::fs::symlink("/usr/lib/systemd/system/other.service", link)?;
            undecided_at_boot(&paths);
            assert!(is_undecided(&paths), "{}", link.display());
            clear(&paths.undecided());
            std::fs::remove_file(link)?;
            std::os::unix::fs::symlink("/dev/null", link)?;
            undecided_at_boot(&paths);
            assert!(!is_undecided(&paths), "{}", link.display());
        }
        Ok(())
    }

    fn enable(paths: &Paths, place: usize, link: &str) -> Result<(), std::io::Error> {
        let link = paths.unit_directories()[place].join(link);
        std::fs::create_dir_all(link.parent().unwrap_or(&link))?;
        std::os::unix::fs::symlink("/usr/lib/systemd/system/dayone.service", link)
    }

    #[test]
    fn a_boot_waits_only_for_an_agent_that_it_starts() -> Result<(), std::io::Error> {
        for (link, expected) in [
            ("multi-user.target.wants/dayone.service", true),
            ("kubelet.service.requires/dayone-wait.service", false),
            ("NetworkManager.service.wants/dayone-recover.service", false),
            ("multi-user.target.wants/dayone-bridge.service", false),
            ("dayone.service.d/dayone.service", false),
        ] {
            for place in 0..Paths::new(Path::new("/")).unit_directories().len() {
                let root = tempfile::tempdir()?;
                let paths = Paths::new(root.path());
                enable(&paths, place, link)?;
                undecided_at_boot(&paths);
                assert_eq!(is_undecided(&paths), expected, "{place} {link}");
            }
        }
        Ok(())
    }

    #[test]
    fn a_later_recovery_holds_back_no_decided_boot() -> Result<(), std::io::Error> {
        let root = tempfile::tempdir()?;
        let paths = Paths::new(root.path());
        enable(&paths, 0, "multi-user.target.wants/dayone.service")?;
        undecided_at_boot(&paths);
        assert!(is_undecided(&paths));
        succeeded(&paths, Success::Committed);
        std::fs::write(paths.status(), "{}")?;
        undecided_at_boot(&paths);
        assert!(!is_undecided(&paths));
        // Nor does one beside a kubelet, before any run.
        std::fs::remove_file(paths.status())?;
        std::fs::create_dir_all(paths.control_group(KUBELET))?;
        undecided_at_boot(&paths);
        assert!(!is_undecided(&paths));
        Ok(())
    }

    #[test]
    fn attempts_that_end_with_the_agent_are_counted() {
        let root = tempfile::tempdir().expect("a directory");
        let paths = Paths::new(root.path());
        let count = paths.bridge_cut_off();
        assert_eq!([0; 3].map(|_| attempt_begins(&count)), [0, 1, 2]);
        assert_eq!(attempt_begins(&paths.cut_off()), 0);
        attempt_ends(&count);
        assert_eq!(attempt_begins(&count), 0);
    }

    #[test]
    fn a_document_in_force_frees_a_boot_whose_attempt_at_the_bridge_has_died()
    -> Result<(), std::io::Error> {
        let root = tempfile::tempdir()?;
        let paths = Paths::new(root.path());
        bridge_undecided(&paths);
        succeeded(&paths, Success::Committed);
        assert!(!is_boot_held(&paths));
        Ok(())
    }

    #[test]
    fn a_bridge_is_a_documents_as_long_as_its_file_is_there() -> Result<(), std::io::Error> {
        type End = fn(&Paths);
        let ends: [End; 3] = [
            |paths| succeeded(paths, Success::Removed),
            |paths| succeeded(paths, Success::Nothing),
            bridge_made,
        ];
        for end in ends {
            let root = tempfile::tempdir()?;
            let paths = Paths::new(root.path());
            let document = "/etc/nmstate/openshift/worker-0.yml";
            std::fs::create_dir_all(paths.documents())?;
            std::fs::write(paths.under(document), "interfaces: []\n")?;
            succeeded(&paths, Success::Committed);
            // Each run makes it anew.
            for _ in 0..2 {
                bridge_of_document(&paths, Path::new(document));
                assert!(paths.bridge_of_document().exists());
            }
            std::fs::remove_file(paths.under(document))?;
            assert!(!paths.bridge_of_document().exists(), "systemd follows links too");
            end(&paths);
            std::fs::write(paths.under(document), "interfaces: []\n")?;
            assert!(!paths.bridge_of_document().exists());
        }
        Ok(())
    }

    #[test]
    fn each_end_leaves_its_marks() -> Result<(), std::io::Error> {
        type End = fn(&Paths);
        // undecided, chosen, in-force, configure-ovs.sh's own
        let cases: [(&str, End, [bool; 4]); 6] = [
            ("nothing", |p| succeeded(p, Success::Nothing), [false, false, false, false]),
            ("removed", |p| succeeded(p, Success::Removed), [false, false, true, true]),
            ("committed", |p| succeeded(p, Success::Committed), [false, true, true, true]),
            ("last good", in_force, [false, true, true, true]),
            ("continue", without_document, [false, true, false, false]),
            ("failed", |_| {}, [true, true, false, false]),
        ];
        for (name, end, expected) in cases {
            let root = tempfile::tempdir()?;
            let paths = Paths::new(root.path());
            undecided(&paths);
            chosen(&paths);
            end(&paths);
            let marks =
                [paths.undecided(), paths.chosen(), paths.in_force(), paths.ovs_config_executed()];
            assert_eq!(marks.map(|mark| mark.exists()), expected, "{name}");
        }
        Ok(())
    }
}
