//! The words of a verdict that programs read: they never change.

use serde::{Serialize, Serializer};

/// An enumeration with a word for each variant, and the list of all of them for tests.
macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$what:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum $name {
            $($(#[$what])* $variant,)+
        }

        impl $name {
            /// Each of them.
            #[cfg(test)]
            pub(crate) const ALL: &[Self] = &[$(Self::$variant,)+];

            pub(crate) const fn text(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.text())
            }
        }
    };
}

words! {
    /// The first words of the verdict.
    Word {
        InForce = "IN FORCE",
        /// A unit that kubelet requires waits for the network.
        Waiting = "WAITING",
        FellBack = "FELL BACK",
        Pending = "PENDING",
        /// The next boot will refuse the changed document.
        Refused = "REFUSED",
        Drifted = "DRIFTED",
        Removed = "REMOVED",
        NoDocument = "NO DOCUMENT",
        Running = "RUNNING",
        Interrupted = "INTERRUPTED",
        NotRecorded = "NOT RECORDED",
        NotRun = "NOT RUN",
        NotInForce = "NOT IN FORCE",
        /// Committed, and the current state is not known.
        Committed = "COMMITTED",
        Trial = "TRIAL",
    }
}

words! {
    /// The reason of the verdict.
    Code {
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
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// Programs, `nmgen report` among them, know the words from there.
    #[test]
    fn the_schema_has_every_word() -> Result<(), serde_json::Error> {
        let schema = include_str!("../../../doc/status.schema.json");
        let schema: Value = serde_json::from_str(schema)?;
        let properties = &schema["properties"];
        assert_eq!(properties["verdict"]["enum"], json!(Word::ALL));
        let mut reasons = json!(Code::ALL);
        // A verdict of which nothing is to be said.
        reasons.as_array_mut().into_iter().for_each(|it| it.push(Value::Null));
        assert_eq!(properties["verdict-reason"]["enum"], reasons);
        Ok(())
    }
}
