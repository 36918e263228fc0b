//! From a verdict to the instance of dayone-health@.service, and how long it may last.

use super::patience::Patience;
use crate::command::status::{Code, Tone, Word};

/// The name of a verdict, and its patience.
pub(super) fn of(word: Word, code: Option<Code>, tone: Tone) -> (&'static str, Patience) {
    if is_good(tone) {
        return ("healthy", Patience::Endless);
    }
    let waits_for_a_run = matches!(code, Some(Code::AtWork | Code::NotRun));
    match word {
        Word::Waiting if waits_for_a_run => ("waiting", Patience::Run),
        Word::Waiting => ("waiting", Patience::None),
        Word::FellBack => ("fell-back", Patience::None),
        Word::Pending => ("pending", Patience::Pending),
        Word::Refused => ("refused", Patience::None),
        Word::Drifted => ("drifted", Patience::None),
        Word::Removed => ("removed", Patience::None),
        Word::Running => ("running", Patience::Run),
        // The service starts again within seconds.
        Word::Interrupted => ("interrupted", Patience::Run),
        Word::NotRecorded => ("not-recorded", Patience::None),
        Word::NotRun => ("not-run", Patience::Run),
        Word::NotInForce => ("not-in-force", Patience::None),
        // NetworkManager, Open vSwitch or the bus is down or busy, perhaps for the moment of a restart.
        Word::Committed => ("unreadable", Patience::Run),
        // Somebody is at it, and it ends by itself.
        Word::Trial if tone == Tone::Notice && code == Some(Code::OnTrial) => {
            ("trial", Patience::Endless)
        }
        Word::Trial => ("trial", Patience::Run),
        Word::InForce if code == Some(Code::MtuMigration) => ("mtu-migration", Patience::None),
        Word::InForce | Word::NoDocument => ("disabled", Patience::None),
    }
}

/// Whether a verdict's tone asks for nobody.
fn is_good(tone: Tone) -> bool {
    matches!(tone, Tone::Good | Tone::Hint)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// A reason without a unit in the list would wake nobody.
    #[test]
    fn every_reason_has_its_unit() {
        let unit = include_str!("../../../../systemd/usr/lib/systemd/system/dayone-health.service");
        let instances =
            unit.split("dayone-health@").skip(1).filter_map(|it| it.split_once(".service"));
        let listed: BTreeSet<&str> =
            instances.map(|(name, _)| name).filter(|it| !it.is_empty()).collect();
        let codes = || Code::ALL.iter().map(|code| Some(*code)).chain([None]);
        let each = Word::ALL.iter().flat_map(|word| codes().map(|code| (*word, code)));
        let given: BTreeSet<&str> = each.map(|(word, code)| of(word, code, Tone::Bad).0).collect();
        assert_eq!(given, listed);
    }

    #[test]
    fn good_verdicts_are_no_reason() {
        for word in Word::ALL.iter().copied() {
            for tone in [Tone::Good, Tone::Hint] {
                assert_eq!(of(word, None, tone), ("healthy", Patience::Endless));
            }
        }
    }

    #[test]
    fn an_mtu_that_the_cluster_cannot_use_is_a_reason_of_its_own() {
        let code = Some(Code::MtuMigration);
        assert_eq!(of(Word::InForce, code, Tone::Notice), ("mtu-migration", Patience::None));
        assert_eq!(of(Word::InForce, Some(Code::Disabled), Tone::Notice).0, "disabled");
    }

    #[test]
    fn a_boot_that_is_held_by_a_failure_fails_at_once() {
        let held = |code| of(Word::Waiting, Some(code), Tone::Bad).1;
        assert_eq!(held(Code::RolledBack), Patience::None);
        assert_eq!(held(Code::AtWork), Patience::Run);
        assert_eq!(held(Code::NotRun), Patience::Run);
    }
}
