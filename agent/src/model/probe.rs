//! Results of probes.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ProbeResult {
    pub(crate) name: String,
    pub(crate) ok: bool,
    /// The answer, or the reason of the failure.
    pub(crate) detail: String,
    /// Silent targets of a probe that needs only one answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) warning: Option<String>,
    /// The link of the gateway in use that answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) link: Option<String>,
    pub(crate) milliseconds: u64,
}
