//! Interfaces of Open vSwitch that a boot leaves in the middle: in a deactivation without an end, or in "prepare" for
//! good, although the port is activated, as NetworkManager 1.46 leaves br-ex.

use super::SOON;
use crate::lab::{Inside, Result};

/// Has NetworkManager run `commands` before each end of `interface`, whose deactivation waits for them; others' go on beside it.
/// Returns the path without which later ones do not run.
pub fn at_pre_down(inside: &Inside, interface: &str, commands: &str) -> Result<String> {
    let scripts = "/etc/NetworkManager/dispatcher.d";
    let name = format!("50-lab-{interface}");
    let script = format!("{scripts}/no-wait.d/{name}");
    let text = format!("#!/bin/sh\n[ \"$1 $2\" = '{interface} pre-down' ] || exit 0\n{commands}\n");
    inside.write(&script, &text)?;
    let link = format!("{scripts}/pre-down.d/{name}");
    inside.sh(&format!("chmod 755 {script}; ln -sf ../no-wait.d/{name} {link}"))?;
    Ok(link)
}

/// Has br-ex's interface wait for a port that does not come, and gives its profile its own port back.
pub fn hang(inside: &Inside) -> Result<()> {
    at_pre_down(inside, "lab0", "while [ -e /run/lab-hold ]; do sleep 0.2; done")?;
    inside.sh(
        "touch /run/lab-hold; \
         if ! nmcli connection show lab-port; then \
         nmcli connection add save no type ovs-bridge con-name lab-bridge ifname lab0 autoconnect no; \
         nmcli connection add save no type ovs-port con-name lab-port ifname lab0 controller lab0 autoconnect no; \
         nmcli connection up lab-port; fi; \
         nmcli --wait 0 connection up lab-port; \
         port=$(nmcli --get-values connection.controller connection show br-ex-if); \
         nmcli connection modify --temporary br-ex-if connection.controller $(nmcli --get-values connection.uuid connection show lab-port); \
         nmcli --wait 0 connection up br-ex-if; \
         nmcli connection modify br-ex-if connection.controller $port",
    )?;
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
