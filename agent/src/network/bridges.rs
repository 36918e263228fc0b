//! OVS bridges: taking over those of other tools, returning patch ports after an apply, and the
//! roll back, for the running agent and for the start after a power cut.
//!
//! NetworkManager restores its own rows by activating their profiles. Everything else (a bridge
//! without a profile, OVN's patch ports on any bridge) must be restored through OVSDB.

use std::time::Duration;

use crate::{
    client::ovsdb::{Ovsdb, OvsdbError},
    model::{Before, Bridge, Port},
};

/// NetworkManager removes its interfaces from OVSDB only after it has confirmed the deletion of
/// their profile.
const DEACTIVATED: Duration = Duration::from_secs(5);

/// ovs-vswitchd carries a change out within milliseconds, unless it is busy or does not run.
const CARRIED_OUT: Duration = Duration::from_secs(10);

/// NetworkManager may write to OVSDB at the same time; obsolete changes are planned anew.
const TRIES: usize = 3;

/// ovs-vswitchd assigns a port number immediately.
const NUMBERED: Duration = Duration::from_secs(2);

#[derive(Debug, PartialEq)]
enum OvsdbChange<'a> {
    Remove(&'a str),
    /// Restore this bridge, replacing one of the same name.
    Restore(&'a Bridge),
    SetColumns(&'a Bridge),
    /// Restore ports of this bridge.
    AddPorts(&'a str, Vec<&'a Port>),
}

/// Removes bridges whose profiles are being deleted, once NetworkManager has removed their
/// interfaces: its removal fails if the bridge is already gone.
pub(crate) async fn take_over(ovsdb: &mut Ovsdb, bridges: &[Bridge]) -> Result<(), OvsdbError> {
    let profiles: Vec<&str> = bridges.iter().flat_map(Bridge::interface_profiles).collect();
    if !profiles.is_empty()
        && let Err(late) = ovsdb.without_interfaces_of(&profiles, DEACTIVATED).await
    {
        tracing::warn!("{late}; going on");
    }
    let names: Vec<String> = bridges.iter().map(|bridge| bridge.name.clone()).collect();
    ovsdb.remove(&names).await?;
    // ovs-vswitchd reads the database at its own pace. Until it has seen the old bridge go, a new
    // one of the same name is the old one to it, whose ports it numbers on; and nmstate takes the
    // old link, which ovs-vswitchd removes, for an interface of another type.
    if let Err(late) = ovsdb.carried_out(CARRIED_OUT).await {
        tracing::warn!("{late}; going on");
    }
    Ok(())
}

/// Restores earlier patch ports on bridges that the document created anew. OVN recreates its own
/// only once it runs, after kubelet.
pub(crate) async fn return_patch_ports(
    ovsdb: &mut Ovsdb,
    before: &[Bridge],
    made: &[String],
) -> Result<(), OvsdbError> {
    carry_out(ovsdb, |now| lost_patch_ports(before, made, now)).await
}

/// Restores the port numbers, used by flows, of interfaces that are on their bridge again. A
/// refusal is no failure: the owner of the flows makes them anew.
pub(crate) async fn return_ofports(ovsdb: &mut Ovsdb, before: &[Bridge]) -> Result<(), OvsdbError> {
    let now = ovsdb.bridges().await?;
    for (interface, ofport) in other_ofports(before, &now) {
        match ovsdb.set_ofport(interface, ofport, NUMBERED).await {
            Ok(()) => tracing::info!(%interface, ofport, "restored the port's number"),
            Err(error) => tracing::warn!("{error}; {interface} keeps its new port number"),
        }
    }
    Ok(())
}

/// Restores earlier bridges and removes new ones. A bridge whose profile is in `active` is left to
/// NetworkManager, which treats an existing row as foreign and does not activate its profile.
pub(crate) async fn undo(
    ovsdb: &mut Ovsdb,
    before: &[Bridge],
    made: &[String],
    active: &[&str],
) -> Result<(), OvsdbError> {
    carry_out(ovsdb, |now| way_back(before, made, active, now)).await
}

/// Whether anything in OVSDB may need an undo.
pub(crate) fn is_needed(before: &Before, made: &[String]) -> bool {
    !before.bridges.is_empty() || !before.ovs_settings.is_empty() || !made.is_empty()
}

/// Whether OVSDB alone can restore an earlier bridge, or a setting of Open vSwitch.
pub(crate) fn must_return(before: &Before) -> bool {
    !before.ovs_settings.is_empty() || before.bridges.iter().any(|bridge| !bridge.is_of_profiles())
}

/// Sets the settings of Open vSwitch back. NetworkManager's checkpoint does not know them, and one may keep ovs-vswitchd from
/// starting, as `dpdk-init` without memory for it.
pub(crate) async fn undo_settings(ovsdb: &mut Ovsdb, before: &Before) -> Result<(), OvsdbError> {
    match before.ovs_settings.as_slice() {
        [] => Ok(()),
        settings => ovsdb.set_settings(settings).await,
    }
}

async fn carry_out<'a>(
    ovsdb: &mut Ovsdb,
    plan: impl Fn(&[Bridge]) -> Vec<OvsdbChange<'a>>,
) -> Result<(), OvsdbError> {
    let mut tries = TRIES;
    loop {
        tries -= 1;
        let changes = plan(&ovsdb.bridges().await?);
        match change(ovsdb, &changes).await {
            Err(error @ OvsdbError::Refused { .. }) if tries > 0 => {
                tracing::info!("{error}; again");
            }
            done => return done,
        }
    }
}

async fn change(ovsdb: &mut Ovsdb, changes: &[OvsdbChange<'_>]) -> Result<(), OvsdbError> {
    for change in changes {
        match change {
            OvsdbChange::Remove(name) => {
                tracing::info!(bridge = %name, "the bridge goes");
                ovsdb.remove(&[(*name).to_owned()]).await?;
            }
            OvsdbChange::Restore(bridge) => {
                tracing::info!(bridge = %bridge.name, "the bridge comes back");
                ovsdb.restore(bridge).await?;
            }
            OvsdbChange::SetColumns(bridge) => {
                tracing::info!(bridge = %bridge.name, "restoring the bridge's settings");
                ovsdb.set_columns(bridge).await?;
            }
            OvsdbChange::AddPorts(bridge, ports) => {
                let names: Vec<&str> = ports.iter().map(|port| port.name()).collect();
                tracing::info!(%bridge, ports = ?names, "restoring the bridge's ports");
                ovsdb.add_ports(bridge, ports).await?;
            }
        }
    }
    Ok(())
}

fn way_back<'a>(
    before: &'a [Bridge],
    made: &'a [String],
    active: &[&str],
    now: &[Bridge],
) -> Vec<OvsdbChange<'a>> {
    let is_new = |name: &&String| !before.iter().any(|bridge| bridge.name == **name);
    let new = made.iter().filter(is_new).filter(|name| now.iter().any(|n| n.name == **name));
    let mut changes: Vec<OvsdbChange<'_>> = new.map(|name| OvsdbChange::Remove(name)).collect();
    for old in before {
        let same = now.iter().find(|bridge| bridge.name == old.name);
        match same.filter(|now| now.profile() == old.profile()) {
            Some(now) => {
                if !now.has_columns_of(old) {
                    changes.push(OvsdbChange::SetColumns(old));
                }
                let lost: Vec<&Port> =
                    old.foreign_ports().filter(|port| !now.has_port(port.name())).collect();
                if !lost.is_empty() {
                    changes.push(OvsdbChange::AddPorts(&old.name, lost));
                }
            }
            // NetworkManager identifies a bridge by name and profile, and makes no second one of
            // the same name.
            None if old.is_of_profiles() || old.profile().is_some_and(|p| active.contains(&p)) => {
                changes.extend(same.map(|_| OvsdbChange::Remove(&old.name)));
            }
            None => changes.push(OvsdbChange::Restore(old)),
        }
    }
    changes
}

fn lost_patch_ports<'a>(
    before: &'a [Bridge],
    made: &[String],
    now: &[Bridge],
) -> Vec<OvsdbChange<'a>> {
    let is_free = |port: &&Port| !now.iter().any(|bridge| bridge.has_port(port.name()));
    before
        .iter()
        .filter(|old| made.contains(&old.name) && now.iter().any(|now| now.name == old.name))
        .map(|old| {
            let ports = old.foreign_ports().filter(|port| port.is_patch()).filter(is_free);
            OvsdbChange::AddPorts(&old.name, ports.collect())
        })
        .filter(|change| !matches!(change, OvsdbChange::AddPorts(_, ports) if ports.is_empty()))
        .collect()
}

fn other_ofports<'a>(before: &'a [Bridge], now: &[Bridge]) -> Vec<(&'a str, u64)> {
    let mut changed = Vec::new();
    for old in before {
        let Some(now) = now.iter().find(|bridge| bridge.name == old.name) else { continue };
        changed.extend(old.ofports().filter(|(name, ofport)| {
            now.ofports().any(|(other, _)| other == *name)
                && !now.ofports().any(|(_, taken)| taken == *ofport)
        }));
    }
    changed
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{OvsdbChange, lost_patch_ports, other_ofports, way_back};
    use crate::model::Bridge;

    const PATCH: (&str, &str, Option<&str>) = ("patch0", "patch", None);
    const NIC: (&str, &str, Option<&str>) = ("eno1", "system", Some("u-eno1"));

    fn br_ex(profile: &str, ports: &[(&str, &str, Option<&str>)]) -> Bridge {
        Bridge::example("br-ex", Some(profile), ports)
    }

    fn made() -> [String; 1] {
        ["br-ex".to_owned()]
    }

    #[test]
    fn a_bridge_without_its_profile_comes_back_in_place_of_the_documents() {
        let old = [br_ex("theirs", &[PATCH])];
        for now in [vec![], vec![br_ex("document", &[NIC])], vec![br_ex("document", &[PATCH, NIC])]]
        {
            assert_eq!(way_back(&old, &made(), &[], &now), [OvsdbChange::Restore(&old[0])]);
        }
        assert_eq!(way_back(&old, &made(), &[], &old), []);
    }

    #[test]
    fn networkmanagers_own_bridge_is_left_to_it() {
        let old = [br_ex("theirs", &[NIC])];
        assert_eq!(way_back(&old, &made(), &[], &[]), []);
        assert_eq!(way_back(&old, &made(), &[], &old), []);
        // A bridge with the document's profile is in the way.
        let now = [br_ex("document", &[NIC])];
        assert_eq!(way_back(&old, &made(), &[], &now), [OvsdbChange::Remove("br-ex")]);
    }

    #[test]
    fn a_bridge_whose_profile_comes_back_is_networkmanagers_to_make() {
        let old = [br_ex("theirs", &[PATCH, NIC])];
        let now = [br_ex("document", &[NIC])];
        assert_eq!(way_back(&old, &made(), &["theirs"], &now), [OvsdbChange::Remove("br-ex")]);
        assert_eq!(way_back(&old, &made(), &["theirs"], &[]), []);
        // NetworkManager did not make the bridge.
        assert_eq!(way_back(&old, &made(), &[], &[]), [OvsdbChange::Restore(&old[0])]);
    }

    #[test]
    fn ports_and_columns_of_a_bridge_that_stayed_come_back() {
        let old = [br_ex("theirs", &[PATCH, NIC])];
        let port = old[0].foreign_ports().collect();
        let now = [br_ex("theirs", &[NIC])];
        assert_eq!(way_back(&old, &made(), &[], &now), [OvsdbChange::AddPorts("br-ex", port)]);
        let now = [br_ex("theirs", &[PATCH, NIC]).with("fail_mode", json!("secure"))];
        assert_eq!(way_back(&old, &made(), &[], &now), [OvsdbChange::SetColumns(&old[0])]);
    }

    #[test]
    fn a_bridge_that_was_not_there_goes() {
        let now = [br_ex("document", &[NIC])];
        assert_eq!(way_back(&[], &made(), &[], &now), [OvsdbChange::Remove("br-ex")]);
        assert_eq!(way_back(&[], &made(), &[], &[]), []);
    }

    #[test]
    fn a_port_gets_its_number_back_where_it_is_free() {
        let old = [br_ex("theirs", &[NIC]).with_ofport(1)];
        let now = |ofport| [br_ex("document", &[NIC, PATCH]).with_ofport(ofport)];
        assert_eq!(other_ofports(&old, &now(3)), [("eno1", 1)]);
        assert_eq!(other_ofports(&old, &now(1)), []);
        let taken = [br_ex("document", &[PATCH, NIC]).with_ofport(1)];
        assert_eq!(other_ofports(&old, &taken), []);
        assert_eq!(other_ofports(&old, &[]), []);
    }

    #[test]
    fn patch_ports_return_to_the_documents_bridges_alone() {
        let old = [
            br_ex("theirs", &[PATCH, ("tap0", "system", None), NIC]),
            Bridge::example("br0", None, &[("patch9", "patch", None)]),
        ];
        let patch: Vec<_> = old[0].foreign_ports().filter(|port| port.is_patch()).collect();
        assert_eq!(patch.len(), 1);
        let now = [br_ex("document", &[NIC])];
        let expected = [OvsdbChange::AddPorts("br-ex", patch)];
        assert_eq!(lost_patch_ports(&old, &made(), &now), expected);
        // OVN has already recreated its patch port.
        assert_eq!(lost_patch_ports(&old, &made(), &[br_ex("document", &[NIC, PATCH])]), []);
        assert_eq!(lost_patch_ports(&old, &made(), &[]), []);
    }
}
