//! Settings of Open vSwitch itself: keys of `external_ids` and `other_config` of its one row (ovs-vswitchd.conf.db(5)).

use serde::{Deserialize, Serialize};

/// A map of that row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OvsMap {
    ExternalIds,
    OtherConfig,
}

impl OvsMap {
    pub(crate) const fn column(self) -> &'static str {
        match self {
            Self::ExternalIds => "external_ids",
            Self::OtherConfig => "other_config",
        }
    }
}

/// Keys that a document sets or removes; without a key all of the map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OvsKey {
    pub(crate) map: OvsMap,
    pub(crate) key: Option<String>,
}

/// A key with its value; `None`: it is not there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OvsSetting {
    pub(crate) map: OvsMap,
    pub(crate) key: String,
    pub(crate) value: Option<String>,
}
