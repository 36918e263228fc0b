//! Marks in `/run/dayone`: conditions of units on the progress of this boot.
//!
//! The first seven are a decision's; ARCHITECTURE.md shows which decision sets and clears them.
//!
//! | mark | read by |
//! |---|---|
//! | `chosen` | nmstate-configuration and nmstate keep off |
//! | `in-force` | ovs-configuration keeps off |
//! | `bridge-of-document` | dayone-bridge keeps off; a link to the document, so that the mark ends with its file |
//! | `owns-bridge` | ovs-configuration keeps off |
//! | `/run/ovs-config-executed` | configure-ovs.sh's own mark, and its unit may have it as a condition |
//! | `bridge-undecided` | dayone-wait waits |
//! | `undecided` | nmstate and the units of the field keep off; dayone-wait waits |
//! | `cut-off` | the next attempt, which counts: there while one is at work, and after an end of the agent in it |
//! | `ended` | dayone-health.path, which starts `dayone health`: there from the end of a run or a check until that looks |
//! | `ovn-remote-forgotten` | the next run, which leaves OVN's remote alone: it was cleared in this boot |

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use super::{
    decision::{
        AttemptKind,
        Decision::{self, Hold, Release},
        HoldReason, ReleaseReason,
    },
    units,
};
use crate::{
    durable,
    paths::{Paths, cannot},
    status::create_runtime_dir,
    warn::OrWarn as _,
};

/// What a decision does with a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MarkChange {
    Set,
    Clear,
    Keep,
}

/// The marks of a decision, in the order in which it changes them: first those that hold a unit off for the rest of the boot, then
/// those for which the boot waits.
fn marks(paths: &Paths) -> [PathBuf; 7] {
    [
        paths.chosen(),
        paths.in_force(),
        paths.bridge_of_document(),
        paths.owns_bridge(),
        paths.ovs_config_executed(),
        paths.bridge_undecided(),
        paths.undecided(),
    ]
}

#[rustfmt::skip]
const fn changes(decision: Decision) -> [MarkChange; 7] {
    use MarkChange::{Clear as CLEAR, Keep as ____, Set as SET};
    match decision {
        // chosen, in-force, bridge-of-document, owns-bridge, ovs-config-executed, bridge-undecided, undecided
        Hold(HoldReason::Document) =>              [____,  ____,  ____,  ____,  ____, ____,  SET  ],
        Hold(HoldReason::Chosen) =>                [SET,   ____,  ____,  ____,  ____, ____,  ____ ],
        Hold(HoldReason::Bridge) =>                [____,  ____,  ____,  SET,   ____, SET,   ____ ],
        Hold(HoldReason::GivesBridgeUp) =>         [____,  ____,  ____,  CLEAR, ____, ____,  ____ ],
        Hold(HoldReason::Failed) |
        Hold(HoldReason::LastGood) =>              [____,  ____,  ____,  ____,  ____, ____,  ____ ],
        Release(ReleaseReason::InForce) =>         [SET,   SET,   SET,   ____,  SET,  CLEAR, CLEAR],
        Release(ReleaseReason::Unrecorded) |
        Release(ReleaseReason::LastGood) =>        [SET,   SET,   ____,  ____,  SET,  CLEAR, CLEAR],
        Release(ReleaseReason::Removed) =>         [CLEAR, SET,   CLEAR, ____,  SET,  ____,  CLEAR],
        Release(ReleaseReason::NoDocument) =>      [CLEAR, CLEAR, CLEAR, ____,  ____, ____,  CLEAR],
        Release(ReleaseReason::OnFailure) =>       [____,  ____,  ____,  ____,  ____, ____,  CLEAR],
        Release(ReleaseReason::Bridge) =>          [____,  ____,  CLEAR, ____,  SET,  CLEAR, CLEAR],
        Release(ReleaseReason::BridgeOfDocument) =>[____,  ____,  ____,  ____,  ____, CLEAR, ____ ],
        Release(ReleaseReason::BridgeOfOthers) =>  [____,  ____,  ____,  CLEAR, ____, CLEAR, ____ ],
    }
}

/// Sets and clears the marks of a decision. `document` is the one in force.
pub(crate) fn publish(paths: &Paths, decision: Decision, document: Option<&Path>) {
    for (mark, change) in marks(paths).iter().zip(changes(decision)) {
        match change {
            MarkChange::Keep => {}
            MarkChange::Clear => clear(mark),
            MarkChange::Set if *mark == paths.bridge_of_document() => {
                if let Some(document) = document {
                    link(mark, &paths.under(&document.to_string_lossy()));
                }
            }
            MarkChange::Set => set(mark),
        }
    }
}

/// Early in boot: the boot waits for the network. After the first run has begun the mark is the runs'
/// affair: a restart of dayone-recover.service must not hold back a boot that is decided. With
/// dayone.service disabled or masked no run would ever remove it. Beside a kubelet that runs the boot is over: a package has just
/// brought the agent, NetworkManager starts again, and dayone.service starts at the next boot only.
pub(crate) fn hold_at_boot(paths: &Paths) {
    let is_boot_over = paths.status().exists() || paths.control_group(KUBELET).exists();
    if !is_boot_over && is_agent_enabled(paths) {
        publish(paths, Hold(HoldReason::Document), None);
    }
}

/// Whether this boot starts dayone.service: a unit wants it, and it is not masked.
pub(crate) fn is_agent_enabled(paths: &Paths) -> bool {
    !units::is_masked(paths, AGENT) && units::is_enabled(paths, AGENT)
}

const AGENT: &str = "dayone.service";
pub(super) const KUBELET: &str = "kubelet.service";

/// Whether the boot waits for the network.
pub(crate) fn is_undecided(paths: &Paths) -> bool {
    paths.undecided().exists()
}

/// A service's attempt begins: the number of attempts in a row that ended with the agent before it.
pub(super) fn attempt_begins(paths: &Paths, kind: AttemptKind) -> u32 {
    let mut counts = cut_off(paths);
    let before = counts.get(&kind).copied().unwrap_or_default();
    counts.insert(kind, before.saturating_add(1));
    set_cut_off(paths, &counts);
    before
}

/// The attempt has ended, and the agent goes on.
pub(super) fn attempt_ends(paths: &Paths, kind: AttemptKind) {
    let mut counts = cut_off(paths);
    counts.remove(&kind);
    set_cut_off(paths, &counts);
}

/// Attempts in a row that ended with the agent, of each kind.
type CutOff = BTreeMap<AttemptKind, u32>;

fn cut_off(paths: &Paths) -> CutOff {
    let counts = durable::read_json_or_set_aside(&paths.cut_off());
    counts.or_warn().flatten().unwrap_or_default()
}

fn set_cut_off(paths: &Paths, counts: &CutOff) {
    match counts.is_empty() {
        true => clear(&paths.cut_off()),
        false => set_to(&paths.cut_off(), &serde_json::json!(counts).to_string()),
    }
}

/// Whether this boot has a br-ex for good: that of a document, or of dayone-bridge.service. A document that was removed leaves it
/// to that service.
pub(super) fn is_bridge_decided(paths: &Paths) -> bool {
    let is_documents = paths.in_force().exists() && paths.chosen().exists();
    !is_boot_held(paths) && (is_documents || paths.owns_bridge().exists())
}

/// Whether a unit waits for a mark to go.
pub(crate) fn is_boot_held(paths: &Paths) -> bool {
    is_undecided(paths) || paths.bridge_undecided().exists()
}

/// This boot's runs leave OVN's remote alone from now on.
pub(super) fn ovn_remote_forgotten(paths: &Paths) {
    set(&paths.ovn_remote_forgotten());
}

/// A run or a check has ended. A mark and no event: systemd drops the start of a unit that is at work, and a look at the network
/// may take as long as a whole run.
pub(crate) fn ended(paths: &Paths) {
    set(&paths.ended());
}

fn set(mark: &Path) {
    set_to(mark, "");
}

/// A mark that cannot be written is a warning: the run goes on.
fn set_to(mark: &Path, text: &str) {
    let made = mark.parent().map_or(Ok(()), create_runtime_dir);
    made.and_then(|()| durable::write(mark, text.as_bytes(), 0o644)).or_warn();
}

fn link(mark: &Path, target: &Path) {
    clear(mark);
    std::os::unix::fs::symlink(target, mark).map_err(cannot("write", mark)).or_warn();
}

fn clear(mark: &Path) {
    durable::remove(mark).or_warn();
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
            hold_at_boot(&paths);
            assert!(is_undecided(&paths), "{}", link.display());
            clear(&paths.undecided());
            std::fs::remove_file(link)?;
            std::os::unix::fs::symlink("/dev/null", link)?;
            hold_at_boot(&paths);
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
            ("ovs-configuration.service.wants/dayone-bridge.service", false),
            ("dayone.service.d/dayone.service", false),
        ] {
            for place in 0..Paths::new(Path::new("/")).unit_directories().len() {
                let root = tempfile::tempdir()?;
                let paths = Paths::new(root.path());
                enable(&paths, place, link)?;
                hold_at_boot(&paths);
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
        hold_at_boot(&paths);
        assert!(is_undecided(&paths));
        publish(&paths, Release(ReleaseReason::InForce), None);
        std::fs::write(paths.status(), "{}")?;
        hold_at_boot(&paths);
        assert!(!is_undecided(&paths));
        // Nor does one beside a kubelet, before any run.
        std::fs::remove_file(paths.status())?;
        std::fs::create_dir_all(paths.control_group(KUBELET))?;
        hold_at_boot(&paths);
        assert!(!is_undecided(&paths));
        Ok(())
    }

    #[test]
    fn attempts_that_end_with_the_agent_are_counted() {
        let root = tempfile::tempdir().expect("a directory");
        let paths = Paths::new(root.path());
        let (document, bridge) = (AttemptKind::Document, AttemptKind::Bridge);
        assert_eq!([0; 3].map(|_| attempt_begins(&paths, bridge)), [0, 1, 2]);
        assert_eq!([0; 2].map(|_| attempt_begins(&paths, document)), [0, 1]);
        attempt_ends(&paths, bridge);
        assert_eq!(attempt_begins(&paths, bridge), 0);
        assert_eq!(attempt_begins(&paths, document), 2);
        attempt_ends(&paths, bridge);
        attempt_ends(&paths, document);
        assert!(!paths.cut_off().exists());
    }

    #[test]
    fn a_document_in_force_frees_a_boot_whose_attempt_at_the_bridge_has_died()
    -> Result<(), std::io::Error> {
        let root = tempfile::tempdir()?;
        let paths = Paths::new(root.path());
        publish(&paths, Hold(HoldReason::Bridge), None);
        publish(&paths, Release(ReleaseReason::InForce), None);
        assert!(!is_boot_held(&paths));
        Ok(())
    }

    #[test]
    fn a_bridge_is_a_documents_as_long_as_its_file_is_there() -> Result<(), std::io::Error> {
        for end in [ReleaseReason::Removed, ReleaseReason::NoDocument, ReleaseReason::Bridge] {
            let root = tempfile::tempdir()?;
            let paths = Paths::new(root.path());
            let document = Path::new("/etc/nmstate/openshift/worker-0.yml");
            let file = paths.documents().join("worker-0.yml");
            std::fs::create_dir_all(paths.documents())?;
            std::fs::write(&file, "interfaces: []\n")?;
            // Each run makes it anew.
            for _ in 0..2 {
                publish(&paths, Release(ReleaseReason::InForce), Some(document));
                assert!(paths.bridge_of_document().exists());
            }
            std::fs::remove_file(&file)?;
            assert!(!paths.bridge_of_document().exists(), "systemd follows links too");
            publish(&paths, Release(end), Some(document));
            std::fs::write(&file, "interfaces: []\n")?;
            assert!(!paths.bridge_of_document().exists());
        }
        Ok(())
    }

    #[test]
    fn each_end_leaves_its_marks() -> Result<(), std::io::Error> {
        // undecided, chosen, in-force, configure-ovs.sh's own
        let cases = [
            (Release(ReleaseReason::NoDocument), [false, false, false, false]),
            (Release(ReleaseReason::Removed), [false, false, true, true]),
            (Release(ReleaseReason::InForce), [false, true, true, true]),
            (Release(ReleaseReason::Unrecorded), [false, true, true, true]),
            (Release(ReleaseReason::LastGood), [false, true, true, true]),
            (Release(ReleaseReason::OnFailure), [false, true, false, false]),
            (Hold(HoldReason::LastGood), [true, true, false, false]),
            (Hold(HoldReason::Failed), [true, true, false, false]),
        ];
        for (decision, expected) in cases {
            let root = tempfile::tempdir()?;
            let paths = Paths::new(root.path());
            for decision in [Hold(HoldReason::Document), Hold(HoldReason::Chosen), decision] {
                publish(&paths, decision, None);
            }
            let marks =
                [paths.undecided(), paths.chosen(), paths.in_force(), paths.ovs_config_executed()];
            assert_eq!(marks.map(|mark| mark.exists()), expected, "{decision:?}");
        }
        Ok(())
    }

    #[test]
    fn br_ex_is_decided_by_a_document_or_by_the_service_for_the_rest_of_the_boot() {
        for (decisions, expected) in [
            (&[][..], false),
            (&[Hold(HoldReason::Document)], false),
            (&[Hold(HoldReason::Document), Release(ReleaseReason::NoDocument)], false),
            (&[Hold(HoldReason::Chosen), Release(ReleaseReason::InForce)], true),
            (&[Hold(HoldReason::Chosen), Release(ReleaseReason::LastGood)], true),
            (&[Hold(HoldReason::Chosen), Release(ReleaseReason::OnFailure)], false),
            // The automatic bridge takes its place.
            (&[Hold(HoldReason::Chosen), Release(ReleaseReason::Removed)], false),
            (&[Hold(HoldReason::Bridge), Hold(HoldReason::Failed)], false),
            (&[Hold(HoldReason::Bridge), Release(ReleaseReason::Bridge)], true),
            // A stop in a pause, and a repair by `dayone bridge`.
            (
                &[
                    Hold(HoldReason::Bridge),
                    Hold(HoldReason::Failed),
                    Release(ReleaseReason::Bridge),
                ],
                true,
            ),
            (&[Hold(HoldReason::Bridge), Release(ReleaseReason::BridgeOfOthers)], false),
        ] {
            let root = tempfile::tempdir().expect("a directory");
            let paths = Paths::new(root.path());
            for decision in decisions {
                publish(&paths, *decision, None);
            }
            assert_eq!(is_bridge_decided(&paths), expected, "{decisions:?}");
        }
    }

    /// The page that a newcomer reads first has the table of the code.
    #[test]
    fn the_map_has_the_table_of_the_decision() {
        let page = include_str!("../../../ARCHITECTURE.md");
        for (decision, row) in [
            (Hold(HoldReason::Document), "waits | an attempt with a document is at work, or ahead"),
            (Hold(HoldReason::Chosen), "waits | an attempt with this node's document is at work"),
            (Hold(HoldReason::Bridge), "waits | an attempt at the automatic br-ex is at work"),
            (Hold(HoldReason::Failed), "waits | it failed, and is repeated"),
            (
                Hold(HoldReason::LastGood),
                "waits | the last good document is in force; `on-failure` is `hold`",
            ),
            (Hold(HoldReason::GivesBridgeUp), "waits | configure-ovs is started to make br-ex"),
            (Release(ReleaseReason::InForce), "goes on | the document is in force"),
            (
                Release(ReleaseReason::Unrecorded),
                "goes on | the document is in force, but not recorded",
            ),
            (Release(ReleaseReason::LastGood), "goes on | the last good document is in force"),
            (
                Release(ReleaseReason::Removed),
                "goes on | the document was removed; its network stays",
            ),
            (Release(ReleaseReason::NoDocument), "goes on | this node has no document"),
            (
                Release(ReleaseReason::OnFailure),
                "goes on | the document failed; `on-failure` is `continue`",
            ),
            (Release(ReleaseReason::Bridge), "goes on | the automatic br-ex is there"),
            (Release(ReleaseReason::BridgeOfDocument), "goes on | br-ex is a document's"),
            (
                Release(ReleaseReason::BridgeOfOthers),
                "goes on | configure-ovs, or another tool, makes br-ex",
            ),
        ] {
            let words = changes(decision).map(|change| match change {
                MarkChange::Set => "set",
                MarkChange::Clear => "cleared",
                MarkChange::Keep => "",
            });
            let row = format!("| {row} | {} |", words.join(" | ")).replace("|  |", "| |");
            let row = row.replace("|  |", "| |");
            assert!(page.contains(&row), "{row}");
        }
        let names = marks(&Paths::new(Path::new("/"))).map(|mark| {
            let name = mark.strip_prefix("/run/dayone").unwrap_or(&mark);
            format!("`{}`", name.display())
        });
        let head = format!("| the boot | because | {} |", names.join(" | "));
        assert!(page.contains(&head), "{head}");
    }
}
