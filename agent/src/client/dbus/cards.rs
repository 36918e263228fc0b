//! How NetworkManager stands to cards, and why: names and values of `NMDeviceState` and `NMDeviceStateReason`.

use super::bus::{Bus, Result, call, unless_gone};

/// `NM_DEVICE_STATE_UNMANAGED`.
const UNMANAGED: u32 = 10;
/// `NM_DEVICE_STATE_DISCONNECTED`, `NM_DEVICE_STATE_FAILED`.
const DOWN: [u32; 2] = [30, 120];

/// A card as NetworkManager sees it.
#[derive(Clone, Debug)]
pub(crate) struct CardState {
    pub(crate) name: String,
    pub(crate) is_unmanaged: bool,
    /// Why its activation failed.
    pub(crate) failure: Option<String>,
}

impl Bus {
    /// Whether somebody has switched all of NetworkManager's networking off.
    pub(crate) async fn is_networking_off(&self) -> Result<bool> {
        Ok(!self.manager.networking_enabled().await.map_err(call("whether networking is on"))?)
    }

    /// The states of these cards; one that NetworkManager does not know is left out.
    pub(crate) async fn card_states(&self, names: &[String]) -> Result<Vec<CardState>> {
        let mut found = Vec::new();
        for name in names {
            let Some(device) = self.device(name).await? else { continue };
            let answer = self.device_proxy(&device).await?.state_reason().await;
            if let Some((state, reason)) = unless_gone(answer.map_err(call("a query")))? {
                let failure = failure(reason).filter(|_| DOWN.contains(&state));
                found.push(CardState {
                    name: name.clone(),
                    is_unmanaged: state == UNMANAGED,
                    failure: failure.map(str::to_owned),
                });
            }
        }
        Ok(found)
    }
}

/// A reason that is a failure, in words.
fn failure(reason: u32) -> Option<&'static str> {
    Some(match reason {
        4 => "the card cannot be configured",
        5 => "no IP configuration came",
        6 => "its IP configuration is over",
        7 => "a secret is missing",
        8..=11 => "802.1X failed",
        15..=17 => "the DHCP client failed",
        35 => "its firmware is missing",
        50 | 54 => "a connection that it depends on failed",
        63 => "Open vSwitch's database refused it",
        64 => "another machine has its address",
        66 => "SR-IOV cannot be configured",
        _ => return None,
    })
}
