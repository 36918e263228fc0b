//! How long a state may last before it is a failure.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::settings::Health;

/// A bound of the settings after which a state is a failure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Patience {
    /// It is one at once.
    None,
    Run,
    Pending,
    /// It is no failure.
    #[default]
    Endless,
}

impl Patience {
    /// The bound; none where it is no failure.
    pub(super) fn bound(self, settings: &Health) -> Option<Duration> {
        match self {
            Self::None => Some(Duration::ZERO),
            Self::Run => Some(settings.run.get()),
            Self::Pending => Some(settings.pending.get()),
            Self::Endless => None,
        }
    }
}
