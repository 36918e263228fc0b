//! The decision about the boot, at the end of an attempt: a pure function of the facts.

use serde::{Deserialize, Serialize};

use crate::{
    error::{Error, Exit},
    settings::OnFailure,
    status::{Fault, Success},
    transaction::Failure,
};

/// Whether units that wait for the network go on; [`marks::publish`](super::marks::publish) tells them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    Hold(HoldReason),
    Release(ReleaseReason),
}

/// Why the boot waits. An attempt by hand has no say, unless it succeeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HoldReason {
    /// An attempt with a document is at work, or ahead.
    Document,
    /// The same, and this node has a document.
    Chosen,
    /// An attempt at the automatic bridge is at work.
    Bridge,
    /// The attempt has failed: another one follows.
    Failed,
    /// The last good configuration carries the node, and `on-failure` is "hold".
    LastGood,
    /// configure-ovs is started to make br-ex.
    GivesBridgeUp,
}

/// Why the boot goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReleaseReason {
    /// The document is in force.
    InForce,
    /// The document is in force, and not recorded.
    Unrecorded,
    /// The document failed, and the last good one is in force.
    LastGood,
    /// The document in force was removed; its network stays.
    Removed,
    /// This node has no document.
    NoDocument,
    /// The document failed, and `on-failure` is "continue".
    OnFailure,
    /// br-ex is there, recorded or not.
    Bridge,
    /// br-ex belongs to a document: one in force, or a removed one whose place the automatic br-ex cannot take.
    BridgeOfDocument,
    /// Other tools make br-ex.
    BridgeOfOthers,
}

pub(super) enum AttemptEnd {
    Succeeded(Success),
    /// br-ex belongs to this node's document.
    BridgeOfDocument,
    /// Other tools make br-ex: they applied documents before the agent, and it leaves this node's document alone.
    BridgeOfOthers,
    Failed {
        error: Error,
        fallback: Fallback,
    },
}

/// The network that carries the node after a failure.
pub(super) enum Fallback {
    /// None is known.
    None,
    /// The last good configuration is not in force, or the node is unreachable; the reason.
    Lost(String),
    /// The last good configuration is in force, and the node is reachable; the way there.
    LastGood(String),
    /// br-ex of a removed document stays: the automatic one cannot take its place.
    RemovedDocument,
    /// configure-ovs makes br-ex.
    ConfigureOvs,
}

impl Fallback {
    /// Returns how the last good configuration stands.
    pub(super) fn last_good(&self) -> Option<&str> {
        match self {
            Self::Lost(text) | Self::LastGood(text) => Some(text),
            Self::None | Self::RemovedDocument | Self::ConfigureOvs => None,
        }
    }
}

/// What an attempt puts in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum AttemptKind {
    /// This node's document.
    Document,
    /// The automatic br-ex of a node without a document.
    Bridge,
}

impl AttemptKind {
    /// Returns the command that puts it in force.
    pub(super) fn command(self) -> &'static str {
        match self {
            Self::Document => "apply",
            Self::Bridge => "bridge",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caller {
    /// A service, for which the boot waits: its attempt decides whether that goes on.
    Service,
    /// Somebody at a terminal. dayone.service goes on trying after a failure.
    Person,
}

/// Everything that the decision depends on.
pub(super) struct BootFacts<'a> {
    pub(super) kind: AttemptKind,
    pub(super) caller: Caller,
    pub(super) end: &'a AttemptEnd,
    pub(super) on_failure: OnFailure,
    pub(super) is_stopped: bool,
}

/// Decides about the boot.
pub(super) fn decide(facts: &BootFacts<'_>) -> Decision {
    use Decision::{Hold, Release};
    let (error, fallback) = match (facts.end, facts.kind) {
        (AttemptEnd::Succeeded(_), AttemptKind::Bridge) => return Release(ReleaseReason::Bridge),
        (AttemptEnd::Succeeded(success), AttemptKind::Document) => {
            return Release(match success {
                Success::Nothing => ReleaseReason::NoDocument,
                Success::Removed => ReleaseReason::Removed,
                Success::Committed | Success::Unchanged | Success::Adopted => {
                    ReleaseReason::InForce
                }
            });
        }
        (AttemptEnd::BridgeOfDocument, _) => return Release(ReleaseReason::BridgeOfDocument),
        (AttemptEnd::BridgeOfOthers, _) => return Release(ReleaseReason::BridgeOfOthers),
        (AttemptEnd::Failed { error, fallback }, _) => (error, fallback),
    };
    if facts.caller == Caller::Person {
        return Hold(HoldReason::Failed);
    }
    let is_in_force = fault_of(error) == Fault::NotRecorded;
    let goes_on = facts.on_failure == OnFailure::Continue && !facts.is_stopped;
    match (facts.kind, fallback) {
        (AttemptKind::Document, _) if is_in_force => Release(ReleaseReason::Unrecorded),
        (AttemptKind::Bridge, _) if is_in_force => Release(ReleaseReason::Bridge),
        (_, Fallback::LastGood(_)) if facts.on_failure == OnFailure::Hold => {
            Hold(HoldReason::LastGood)
        }
        (_, Fallback::LastGood(_)) => Release(ReleaseReason::LastGood),
        (_, Fallback::RemovedDocument) => Release(ReleaseReason::BridgeOfDocument),
        (_, Fallback::ConfigureOvs) => Release(ReleaseReason::BridgeOfOthers),
        (_, Fallback::None | Fallback::Lost(_)) if !goes_on => Hold(HoldReason::Failed),
        (AttemptKind::Document, Fallback::None | Fallback::Lost(_)) => {
            Release(ReleaseReason::OnFailure)
        }
        (AttemptKind::Bridge, Fallback::None | Fallback::Lost(_)) => {
            Release(ReleaseReason::BridgeOfOthers)
        }
    }
}

pub(super) fn fault_of(error: &Error) -> Fault {
    match (error, error.exit()) {
        (Error::GivenUp { .. }, _) => Fault::GivenUp,
        // Its attempts changed nothing that is not undone.
        (Error::CutOff { .. }, _) => Fault::Untouched,
        (Error::Transaction(Failure::NotRecorded { .. }), _) => Fault::NotRecorded,
        (_, Exit::RolledBack) => Fault::RolledBack,
        (_, Exit::RollBackFailed) => Fault::RollBackFailed,
        (_, Exit::Done | Exit::Machine | Exit::Input) => Fault::Untouched,
    }
}

#[cfg(test)]
mod tests {
    use super::{
        Decision::{Hold, Release},
        *,
    };
    use crate::{status::phase::Phase, transaction::PhaseError};

    const FAULTS: [Fault; 5] = [
        Fault::Untouched,
        Fault::NotRecorded,
        Fault::RolledBack,
        Fault::RollBackFailed,
        Fault::GivenUp,
    ];
    const SUCCESSES: [Success; 5] = [
        Success::Committed,
        Success::Unchanged,
        Success::Adopted,
        Success::Nothing,
        Success::Removed,
    ];

    fn error(fault: Fault) -> Error {
        let (phase, source) = (Phase::Verify, || Box::new(PhaseError::Stopped));
        match fault {
            Fault::Untouched => Failure::Untouched { phase, source: source() }.into(),
            Fault::NotRecorded => Failure::NotRecorded { phase, source: source() }.into(),
            Fault::RolledBack => Failure::RolledBack { phase, source: source() }.into(),
            Fault::RollBackFailed => {
                let (roll_back_phase, roll_back) = (Phase::RollBack, source());
                Failure::RollBackFailed { phase, source: source(), roll_back_phase, roll_back }
                    .into()
            }
            Fault::GivenUp => Error::GivenUp { count: 3, last: String::new() },
        }
    }

    fn ends(kind: AttemptKind) -> Vec<AttemptEnd> {
        let mut ends: Vec<AttemptEnd> = SUCCESSES.map(AttemptEnd::Succeeded).into();
        if kind == AttemptKind::Bridge {
            ends.extend([AttemptEnd::BridgeOfDocument, AttemptEnd::BridgeOfOthers]);
        }
        for fault in FAULTS {
            let fallbacks = match kind {
                AttemptKind::Document => [
                    Fallback::None,
                    Fallback::Lost("lost".to_owned()),
                    Fallback::LastGood("in force".to_owned()),
                ],
                AttemptKind::Bridge => {
                    [Fallback::None, Fallback::RemovedDocument, Fallback::ConfigureOvs]
                }
            };
            ends.extend(
                fallbacks.map(|fallback| AttemptEnd::Failed { error: error(fault), fallback }),
            );
        }
        ends
    }

    /// The rules one after the other, for an attempt with a document.
    fn of_document(facts: &BootFacts<'_>) -> Decision {
        let (error, fallback) = match facts.end {
            AttemptEnd::Succeeded(Success::Nothing) => return Release(ReleaseReason::NoDocument),
            AttemptEnd::Succeeded(Success::Removed) => return Release(ReleaseReason::Removed),
            AttemptEnd::Succeeded(_) => return Release(ReleaseReason::InForce),
            AttemptEnd::Failed { error, fallback } => (error, fallback),
            AttemptEnd::BridgeOfDocument | AttemptEnd::BridgeOfOthers => {
                unreachable!("a document's attempt ends in no bridge")
            }
        };
        if facts.caller == Caller::Person {
            return Hold(HoldReason::Failed);
        }
        if fault_of(error) == Fault::NotRecorded {
            return Release(ReleaseReason::Unrecorded);
        }
        if matches!(fallback, Fallback::LastGood(_)) {
            return match facts.on_failure {
                OnFailure::Hold => Hold(HoldReason::LastGood),
                OnFailure::Fail | OnFailure::Continue => Release(ReleaseReason::LastGood),
            };
        }
        if facts.on_failure == OnFailure::Continue && !facts.is_stopped {
            return Release(ReleaseReason::OnFailure);
        }
        Hold(HoldReason::Failed)
    }

    /// The same for an attempt at the bridge.
    fn of_bridge(facts: &BootFacts<'_>) -> Decision {
        let (error, fallback) = match facts.end {
            AttemptEnd::Succeeded(_) => return Release(ReleaseReason::Bridge),
            AttemptEnd::BridgeOfDocument => return Release(ReleaseReason::BridgeOfDocument),
            AttemptEnd::BridgeOfOthers => return Release(ReleaseReason::BridgeOfOthers),
            AttemptEnd::Failed { error, fallback } => (error, fallback),
        };
        if facts.caller == Caller::Person {
            return Hold(HoldReason::Failed);
        }
        let goes_on = facts.on_failure == OnFailure::Continue && !facts.is_stopped;
        if fault_of(error) == Fault::NotRecorded {
            Release(ReleaseReason::Bridge)
        } else if matches!(fallback, Fallback::RemovedDocument) {
            Release(ReleaseReason::BridgeOfDocument)
        } else if matches!(fallback, Fallback::ConfigureOvs) || goes_on {
            Release(ReleaseReason::BridgeOfOthers)
        } else {
            Hold(HoldReason::Failed)
        }
    }

    #[test]
    fn each_combination_of_facts_has_its_decision() {
        for fault in FAULTS {
            assert_eq!(fault_of(&error(fault)), fault);
        }
        let mut decided = 0;
        for kind in [AttemptKind::Document, AttemptKind::Bridge] {
            for end in &ends(kind) {
                for caller in [Caller::Service, Caller::Person] {
                    for on_failure in [OnFailure::Fail, OnFailure::Hold, OnFailure::Continue] {
                        for is_stopped in [false, true] {
                            let facts = BootFacts { kind, caller, end, on_failure, is_stopped };
                            let expected = match kind {
                                AttemptKind::Document => of_document(&facts),
                                AttemptKind::Bridge => of_bridge(&facts),
                            };
                            assert_eq!(decide(&facts), expected);
                            decided += 1;
                        }
                    }
                }
            }
        }
        assert_eq!(decided, (5 + 15 + 5 + 2 + 15) * 2 * 3 * 2);
    }
}
