//! The table of verdicts: what every output prints of one, beside its texts. A new verdict is a row here, its texts in
//! `verdict.rs`, its words in the schemas and the runbook, and a new unit's name in dayone-health.service and the alerts. Programs
//! read the words; they never change.

use std::time::Duration;

use serde::{Deserialize, Serialize, Serializer};

use crate::settings;

/// How good a verdict is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Good,
    /// Good, with something to look at.
    Hint,
    Notice,
    Bad,
}

/// How long a verdict may last before dayone-health.service fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum GracePeriod {
    /// It fails at once.
    None,
    Run,
    Pending,
    /// It never fails.
    #[default]
    Endless,
}

impl GracePeriod {
    /// Returns the bound of the settings; `None` for a verdict that is no failure.
    pub(crate) fn bound(self, settings: &settings::Health) -> Option<Duration> {
        match self {
            Self::None => Some(Duration::ZERO),
            Self::Run => Some(settings.run.get()),
            Self::Pending => Some(settings.pending.get()),
            Self::Endless => None,
        }
    }
}

macro_rules! codes {
    ($($(#[$what:meta])* $variant:ident = $text:literal,)+) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Code {
            $($(#[$what])* $variant,)+
        }

        impl Code {
            #[cfg(test)]
            pub(crate) const ALL: &[Self] = &[$(Self::$variant,)+];

            pub(crate) const fn text(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }
        }
    };
}

codes! {
    OpenVswitchDown = "open-vswitch-down",
    NetworkManagerDown = "networkmanager-down",
    BusDown = "dbus-down",
    /// Differences cannot be told for another reason.
    Unreadable = "unreadable",
    /// The network of now lacks parts of the document.
    NetworkDiffers = "network-differs",
    /// A saved profile lacks them: the next activation takes them away.
    SavedProfileDiffers = "saved-profile-differs",
    GatewaySilent = "gateway-silent",
    /// A unit of the agent is disabled or masked.
    Disabled = "disabled",
    /// The file is another one than at this boot's run.
    DocumentChanged = "document-changed",
    DocumentRefused = "document-refused",
    DocumentGone = "document-gone",
    OtherNodesDocuments = "other-nodes-documents",
    /// The run of this boot changed nothing, rolled back, failed to do so, or was not made.
    Failed = "failed",
    RolledBack = "rolled-back",
    RollBackFailed = "roll-back-failed",
    GivenUp = "given-up",
    NotRecorded = "not-recorded",
    NotRun = "not-run",
    AtWork = "at-work",
    /// The last good network carries the node, and `on-failure` is `hold`.
    HeldOnPurpose = "held-on-purpose",
    /// The network differs by a change that was made on purpose.
    ChangeAdopted = "change-adopted",
    Interrupted = "interrupted",
    /// The cluster wants a larger MTU than the document has.
    MtuMigration = "mtu-migration",
    OnTrial = "on-trial",
    /// The commit was made without an answer that this boot had.
    Unproved = "unproved",
    /// One of several address families of the commit is gone.
    FamilyMissing = "family-missing",
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.text())
    }
}

#[derive(Clone, Copy)]
pub(crate) struct Row {
    /// The first words of the page.
    pub(crate) word: &'static str,
    /// The reason; `None`: there is none, or the run or a service that is down gives it.
    pub(crate) code: Option<Code>,
    pub(crate) tone: Tone,
    pub(crate) patience: GracePeriod,
    /// The instance of dayone-health@.service.
    pub(crate) unit: &'static str,
}

impl Row {
    /// Returns whether nobody has to look.
    pub(crate) const fn is_good(self) -> bool {
        matches!(self.tone, Tone::Good | Tone::Hint)
    }
}

macro_rules! verdicts {
    ($($(#[$what:meta])* $variant:ident: $word:literal, $code:expr, $tone:ident, $patience:ident, $unit:literal;)+) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Verdict {
            $($(#[$what])* $variant,)+
        }

        impl Verdict {
            #[cfg(test)]
            pub(crate) const ALL: &[Self] = &[$(Self::$variant,)+];

            pub(crate) const fn row(self) -> Row {
                let (word, code, tone, patience, unit) = match self {
                    $(Self::$variant => ($word, $code, Tone::$tone, GracePeriod::$patience, $unit),)+
                };
                Row { word, code, tone, patience, unit }
            }
        }
    };
}

impl Verdict {
    /// Returns whether a network may lack, so that somebody asks why.
    pub(crate) const fn has_no_network(self) -> bool {
        matches!(
            self,
            Self::Held
                | Self::HeldByRun
                | Self::HeldOnPurpose
                | Self::NotInForce
                | Self::FellBack
                | Self::GatewaySilent
        )
    }

    /// Returns whether the network of a document in force was changed.
    pub(crate) const fn is_drift(self) -> bool {
        matches!(self, Self::NetworkDrifted | Self::ProfilesDrifted)
    }
}

#[rustfmt::skip]
verdicts! {
    // verdict           word            reason                            tone    patience unit
    InForce:             "IN FORCE",     None,                             Good,   Endless, "healthy";
    FamilyMissing:       "IN FORCE",     Some(Code::FamilyMissing),        Hint,   Endless, "healthy";
    ChangeAdopted:       "IN FORCE",     Some(Code::ChangeAdopted),        Hint,   Endless, "healthy";
    /// The automatic bridge of a node beside other nodes' documents.
    BesideOthers:        "IN FORCE",     Some(Code::OtherNodesDocuments),  Hint,   Endless, "healthy";
    /// No look of dayone-health.service asks the gateways.
    GatewaySilent:       "IN FORCE",     Some(Code::GatewaySilent),        Notice, None,    "disabled";
    UnitsDisabled:       "IN FORCE",     Some(Code::Disabled),             Notice, None,    "disabled";
    MtuTooSmall:         "IN FORCE",     Some(Code::MtuMigration),         Notice, None,    "mtu-migration";
    Unproved:            "IN FORCE",     Some(Code::Unproved),             Notice, None,    "drifted";
    /// A unit that kubelet requires waits for the network.
    Held:                "WAITING",      None,                             Bad,    None,    "waiting";
    /// It waits for the end of a run that is at work, or did not begin.
    HeldByRun:           "WAITING",      None,                             Bad,    Run,     "waiting";
    HeldOnPurpose:       "WAITING",      Some(Code::HeldOnPurpose),        Bad,    None,    "waiting";
    FellBack:            "FELL BACK",    None,                             Bad,    None,    "fell-back";
    Pending:             "PENDING",      Some(Code::DocumentChanged),      Notice, Pending, "pending";
    /// The next boot will refuse the changed document.
    Refused:             "REFUSED",      Some(Code::DocumentRefused),      Bad,    None,    "refused";
    NetworkDrifted:      "DRIFTED",      Some(Code::NetworkDiffers),       Notice, None,    "drifted";
    ProfilesDrifted:     "DRIFTED",      Some(Code::SavedProfileDiffers),  Notice, None,    "drifted";
    Removed:             "REMOVED",      Some(Code::DocumentGone),         Bad,    None,    "removed";
    NoDocument:          "NO DOCUMENT",  None,                             Good,   Endless, "healthy";
    OthersDocuments:     "NO DOCUMENT",  Some(Code::OtherNodesDocuments),  Hint,   Endless, "healthy";
    Running:             "RUNNING",      Some(Code::AtWork),               Notice, Run,     "running";
    /// The service starts again within seconds.
    Interrupted:         "INTERRUPTED",  Some(Code::Interrupted),          Bad,    Run,     "interrupted";
    NotRecorded:         "NOT RECORDED", Some(Code::NotRecorded),          Bad,    None,    "not-recorded";
    NotRun:              "NOT RUN",      Some(Code::NotRun),               Notice, Run,     "not-run";
    NotInForce:          "NOT IN FORCE", None,                             Bad,    None,    "not-in-force";
    /// Committed, and the current state is not known: a service is down or busy, perhaps for the moment of a restart.
    Unreadable:          "COMMITTED",    Some(Code::Unreadable),           Notice, Run,     "unreadable";
    /// Somebody is at it, and it ends by itself.
    OnTrial:             "TRIAL",        Some(Code::OnTrial),              Notice, Endless, "trial";
    /// Its network may be gone: a service is down.
    TrialDown:           "TRIAL",        None,                             Notice, Run,     "trial";
    TrialFailed:         "TRIAL",        Some(Code::OnTrial),              Bad,    Run,     "trial";
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::{Value, json};

    use super::*;

    /// Programs, `nmgen report` among them, know the words from there.
    #[test]
    fn the_schemas_have_every_word() -> Result<(), serde_json::Error> {
        let schema = include_str!("../../../../doc/status.schema.json");
        let schema: Value = serde_json::from_str(schema)?;
        let properties = &schema["properties"];
        let mut words: Vec<&str> = Verdict::ALL.iter().map(|verdict| verdict.row().word).collect();
        words.dedup();
        assert_eq!(properties["verdict"]["enum"], json!(words));
        let mut reasons = json!(Code::ALL);
        // A verdict of which nothing is to be said.
        reasons.as_array_mut().into_iter().for_each(|all| all.push(Value::Null));
        assert_eq!(properties["verdict-reason"]["enum"], reasons);
        // "healthy" is the first, the others follow in order.
        let health = include_str!("../../../../doc/health.schema.json");
        let health: Value = serde_json::from_str(health)?;
        let units: BTreeSet<&str> = Verdict::ALL.iter().map(|verdict| verdict.row().unit).collect();
        let mut units: Vec<&str> = units.into_iter().collect();
        units.sort_by_key(|unit| *unit != "healthy");
        assert_eq!(health["properties"]["reason"]["enum"], json!(units));
        Ok(())
    }

    /// A reason without a unit in the list would wake nobody.
    #[test]
    fn every_reason_has_its_unit() {
        let file =
            include_str!("../../../../../systemd/usr/lib/systemd/system/dayone-health.service");
        let instances = file.split("dayone-health@").skip(1);
        let names = instances.filter_map(|text| text.split_once(".service")).map(|(name, _)| name);
        let listed: BTreeSet<&str> = names.filter(|name| !name.is_empty()).collect();
        let rows = || Verdict::ALL.iter().map(|verdict| verdict.row());
        let units: BTreeSet<&str> =
            rows().filter(|row| !row.is_good()).map(|row| row.unit).collect();
        assert_eq!(units, listed);
        for row in rows().filter(|row| row.is_good()) {
            assert_eq!((row.unit, row.patience), ("healthy", GracePeriod::Endless));
        }
    }
}
