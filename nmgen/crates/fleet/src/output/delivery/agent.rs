//! The agent's units in a MachineConfig: enabled where the operating system has them, else with their text, and the unit that takes
//! the program out of a container image.

use serde_json::{Value, json};

use crate::output::options::Image;

/// The place of a program that the operating system's image does not have: `/usr` is read-only.
const INSTALLED: &str = "/usr/local/bin/dayone";
/// Where its units have it.
const PACKAGED: &str = "/usr/bin/dayone";
/// The program that takes it out of the image.
pub(super) const INSTALLER: &str = "/usr/local/bin/dayone-install";
pub(super) const INSTALLER_TEXT: &str = include_str!("agent/dayone-install");
const INSTALLER_UNIT: &str = include_str!("agent/dayone-install.service");
pub(super) const PROGRAM: u32 = 0o755;

macro_rules! unit {
    ($name:literal) => {
        ($name, include_str!(concat!("../../../../../../systemd/usr/lib/systemd/system/", $name)))
    };
}

/// Units that start by themselves.
const ENABLED: [(&str, &str); 7] = [
    unit!("dayone.service"),
    unit!("dayone-wait.service"),
    unit!("dayone-recover.service"),
    unit!("dayone-bridge.service"),
    unit!("dayone-pending.path"),
    unit!("dayone-health.path"),
    unit!("dayone-health.timer"),
];
/// Units that others start.
const STARTED: [(&str, &str); 4] = [
    unit!("dayone-pending.service"),
    unit!("dayone-trial.service"),
    unit!("dayone-health.service"),
    unit!("dayone-health@.service"),
];

macro_rules! drop_in {
    ($unit:literal) => {
        (
            $unit,
            include_str!(concat!(
                "../../../../../../systemd/usr/lib/systemd/system/",
                $unit,
                ".d/10-dayone.conf"
            )),
        )
    };
}

/// Drop-ins of units whose work the agent does.
const DROP_INS: [(&str, &str); 6] = [
    drop_in!("mtu-migration.service"),
    drop_in!("nmstate-configuration.service"),
    drop_in!("nmstate.service"),
    drop_in!("nodeip-configuration-vsphere-upi.service"),
    drop_in!("nodeip-configuration.service"),
    drop_in!("ovs-configuration.service"),
];

/// The units of a node whose operating system has the agent.
pub(super) fn enabled() -> Vec<Value> {
    ENABLED.iter().map(|(name, _)| json!({ "name": name, "enabled": true })).collect()
}

/// The units of a node that takes the agent out of this image.
pub(super) fn installed(image: &Image) -> Vec<Value> {
    let text =
        INSTALLER_UNIT.replace("@DIGEST@", image.short_digest()).replace("@IMAGE@", image.as_str());
    let installer = json!({ "name": "dayone-install.service", "enabled": true, "contents": text });
    let enabled = ENABLED.iter().map(
        |(name, text)| json!({ "name": name, "enabled": true, "contents": elsewhere(name, text) }),
    );
    let started = STARTED
        .iter()
        .map(|(name, text)| json!({ "name": name, "contents": elsewhere(name, text) }));
    let drop_ins = DROP_INS.iter().map(
        |(name, text)| json!({ "name": name, "dropins": [{ "name": "10-dayone.conf", "contents": text.replace(PACKAGED, INSTALLED) }] }),
    );
    [installer].into_iter().chain(enabled).chain(started).chain(drop_ins).collect()
}

/// The unit with the program in its other place, which is skipped while the program is not there.
fn elsewhere(name: &str, text: &str) -> String {
    let text = text.replace(PACKAGED, INSTALLED);
    match name.ends_with(".service") {
        true => text.replacen(
            "[Unit]\n",
            &format!("[Unit]\nConditionFileIsExecutable={INSTALLED}\n"),
            1,
        ),
        false => text,
    }
}
