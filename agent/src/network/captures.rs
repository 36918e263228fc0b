//! Waiting for what a policy captures.

use super::{
    Result, Say,
    clients::Clients,
    readiness::awaited,
    wait::{Changes, wait_for},
};
use crate::{
    client::dbus::bring_forward,
    state::{Parsed, State},
    warn::OrWarn as _,
};

/// The operator's units that give the node's link the alternative name `primary` (openshift/enhancements, "NMState
/// Opt-In for br-ex"). By their drop-ins they wait for the agent.
const NAMING: [&str; 2] =
    ["nodeip-configuration.service", "nodeip-configuration-vsphere-upi.service"];

/// The current state, as soon as each capture of the policy finds something in it; at the bound as it is, so that the resolution
/// tells which capture found nothing.
pub(super) async fn captured(net: &Clients<'_>, parsed: &Parsed, say: Say<'_>) -> Result<State> {
    let current = State::retrieve().await?;
    if parsed.resolve(Some(&current)).is_ok() {
        return Ok(current);
    }
    let mut changes = Changes::of_both(&net.bus).await?;
    if parsed.captures_alternative_names() {
        // They name links: such a policy cannot be resolved before, and would keep them waiting for itself.
        for unit in NAMING {
            let is_first =
                bring_forward(unit).await.or_warn_of(&format!("{unit} cannot run first"));
            if is_first == Some(true) {
                tracing::info!("the policy captures an alternative name: {unit} runs first");
            }
        }
    }
    let complete = wait_for(&mut changes, async || {
        let current = State::retrieve().await?;
        Ok(parsed.resolve(Some(&current)).is_ok().then_some(current))
    });
    match awaited("what the policy captures", net.wait.link, say, complete).await {
        Ok(current) => current,
        Err(late) => {
            tracing::warn!("{late}");
            Ok(State::retrieve().await?)
        }
    }
}
