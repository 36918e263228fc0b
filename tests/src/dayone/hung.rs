//! An interface of Open vSwitch in "prepare" for good, although its port is activated: NetworkManager
//! 1.46 leaves br-ex so at a boot.

use super::SOON;
use crate::lab::{Inside, Result};

/// Holds the port `lab0` in its deactivation, so that the next activation of it does not begin; others' go on beside it.
const HOLD: &str = "#!/bin/sh\n[ \"$1 $2\" = 'lab0 pre-down' ] || exit 0\nwhile [ -e /run/lab-hold ]; do sleep 0.2; done\n";
const SCRIPT: &str = "/etc/NetworkManager/dispatcher.d/no-wait.d/50-lab-hold";

/// Has br-ex's interface wait for a port that does not come, and gives its profile its own port back.
pub fn hang(inside: &Inside) -> Result<()> {
    inside.write(SCRIPT, HOLD)?;
    inside.sh(&format!(
        "chmod 755 {SCRIPT}; ln -sf ../no-wait.d/50-lab-hold /etc/NetworkManager/dispatcher.d/pre-down.d/50-lab-hold; \
         touch /run/lab-hold; \
         if ! nmcli connection show lab-port; then \
         nmcli connection add save no type ovs-bridge con-name lab-bridge ifname lab0 autoconnect no; \
         nmcli connection add save no type ovs-port con-name lab-port ifname lab0 controller lab0 autoconnect no; \
         nmcli connection up lab-port; fi; \
         nmcli --wait 0 connection up lab-port; \
         port=$(nmcli --get-values connection.controller connection show br-ex-if); \
         nmcli connection modify --temporary br-ex-if connection.controller $(nmcli --get-values connection.uuid connection show lab-port); \
         nmcli --wait 0 connection up br-ex-if; \
         nmcli connection modify br-ex-if connection.controller $port"
    ))?;
    hangs(inside)
}

/// Returns once the interface hangs beside its port.
fn hangs(inside: &Inside) -> Result<()> {
    has(inside, "br-ex:ovs-interface:connecting (prepare)")?;
    has(inside, "br-ex:ovs-port:connected")
}

/// Lets the other port go on.
pub fn unhang(inside: &Inside) -> Result<()> {
    inside.sh("rm /run/lab-hold")?;
    has(inside, "lab0:ovs-port:connected")
}

/// Waits for a device in this state.
fn has(inside: &Inside, state: &str) -> Result<()> {
    let all = "nmcli --get-values DEVICE,TYPE,STATE device";
    inside.wait_sh(&format!("{all} | grep -x '{state}'"), SOON)?;
    Ok(())
}
