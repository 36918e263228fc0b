//! Time from the kernel's network to READY.

use std::time::Duration;

use super::SOON;
use crate::lab::{Error, Inside, Result};

/// Removes the default route, has the agent wait for it, and adds it again. Returns the time from just before the command that
/// causes the kernel's event, so slightly too long, to the unit's active state. A second listener would measure no better: the
/// agent may be READY before the listener wakes.
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
