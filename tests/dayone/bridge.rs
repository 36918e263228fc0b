//! br-ex without a document.

mod by_hand;
mod cut_off;
mod late;
mod life;
mod made;
mod refused;
mod settings;
mod silent;
mod uplinks;

use tests::{
    dayone::{
        HASTE, MAC, Mark, Outcome, USERSPACE, automatic, bridge_outcome, mark, parse, picture,
        profiles, settle, undocumented,
    },
    lab::{Case, Error, Inside, Nic, Node},
};

/// The bridge service runs once this file is there.
pub(crate) const GATE: &str = "/etc/lab-bridge";

/// `worker-0` with a static address; its bridge service waits for [`GATE`].
fn node() -> Node {
    gated(automatic(Node::new("worker-0").nic(Nic::new("eno1", MAC)))).day_one()
}

fn gated(node: Node) -> Node {
    held_back(node).settings(&format!("{HASTE}{USERSPACE}"))
}

/// Holds the bridge service back until [`GATE`] is there.
pub(crate) fn held_back(node: Node) -> Node {
    node.file(
        "/etc/systemd/system/dayone-bridge.service.d/50-lab.conf",
        &format!("[Unit]\nConditionPathExists={GATE}\n[Service]\nEnvironmentFile=-/run/lab-hold\n"),
        0o644,
    )
}

/// Boots without br-ex, and returns the network's picture.
fn old_network(case: &mut Case<'_>) -> Result<(Inside, String), Error> {
    let inside = case.boot()?;
    settle(&inside)?;
    inside.sh(&format!(
        "systemctl stop kubelet.service kubelet-dependencies.target; \
         rm -rf /run/lab-kubelet; touch {GATE}"
    ))?;
    let before = picture(&inside)?;
    let address = "address1=192.0.2.10/24,192.0.2.1";
    assert!(before.contains(address) && !before.contains("br-ex"), "{before}");
    Ok((inside, before))
}

/// Checks the profiles that NetworkManager holds against those of configure-ovs.sh.
fn like_configure_ovs(inside: &Inside, fixture: &str) -> Result<(), Error> {
    let (mut script, own) = (parse(fixture), profiles(inside)?);
    // The datapath of containers, as the script's stand-in has it too.
    if let Some(bridge) = script.get_mut("br-ex") {
        bridge.insert("ovs-bridge.datapath-type".to_owned(), "netdev".to_owned());
    }
    assert_eq!(undocumented(&script, &own), [""; 0], "{own:#?}");
    Ok(())
}

/// Starts the bridge service anew. Returns the mark from before the start.
pub(crate) fn start(inside: &Inside) -> Result<Mark, Error> {
    inside.sh("systemctl stop dayone-bridge.service; systemctl reset-failed")?;
    let mark = mark(inside)?;
    inside.sh("systemctl start --no-block dayone-bridge.service")?;
    Ok(mark)
}

/// Starts the bridge service as [`start`] does, and waits for the end of its attempt.
pub(crate) fn bridge_attempt(inside: &Inside) -> Result<Outcome, Error> {
    bridge_outcome(inside, Some(&start(inside)?))
}
