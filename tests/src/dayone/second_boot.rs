//! How soon the agent is READY once the kernel has the network again.

use std::time::Duration;

use super::SOON;
use crate::lab::{Error, Inside, Result};

/// Takes the default route away, has the agent wait for it, and gives it back: the time from just before the command that
/// makes the kernel's event, so a little too long, to the unit's active state. A second listener's time of the event would be
/// no better: the agent may be READY before it is woken.
pub fn ready_after_network(inside: &Inside) -> Result<Duration> {
    inside.sh(
        "systemctl stop kubelet.service kubelet-dependencies.target dayone.service; ip route del default; \
         systemctl start --no-block dayone.service",
    )?;
    let waits = "systemctl show --property=StatusText dayone.service | grep 'waiting for an IPv4'";
    inside.wait_sh(waits, SOON)?;
    let nanoseconds = inside.sh(
        "event=$(date +%s%N); ip route add default via 192.0.2.1 dev br-ex; \
         until systemctl is-active --quiet dayone.service; do :; done; \
         ready=$(systemctl show --timestamp=us+utc --property=ActiveEnterTimestamp --value dayone.service); \
         echo $(( $(date -u -d \"${ready#* }\" +%s%N) - event ))",
    )?;
    nanoseconds
        .parse()
        .map(Duration::from_nanos)
        .map_err(|e| Error::Output { program: "date", problem: format!("{e}: {nanoseconds}") })
}
