//! How soon the agent is READY once the kernel has the network again.

use std::time::Duration;

use super::SOON;
use crate::lab::{Error, Inside, Result};

/// Takes the default route away, has the agent wait for it, and gives it back: the time from the kernel's
/// event, as `ip monitor` received it, to the unit's active state.
pub fn ready_after_network(inside: &Inside) -> Result<Duration> {
    inside.sh(
        "systemctl stop kubelet.service kubelet-dependencies.target dayone.service; ip route del default; \
         systemctl start --no-block dayone.service",
    )?;
    let waits = "systemctl show --property=StatusText dayone.service | grep 'waiting for an IPv4'";
    inside.wait_sh(waits, SOON)?;
    let nanoseconds = inside.sh(
        "export TZ=UTC; ip -4 -tshort monitor route >/run/lab-events & monitor=$!; \
         until ls -l /proc/$monitor/fd | grep -q socket:; do :; done; \
         ip route add default via 192.0.2.1 dev br-ex; \
         until systemctl is-active --quiet dayone.service; do :; done; \
         kill $monitor; \
         event=$(sed -n 's/^\\[\\([^]]*\\)\\] *default .*/\\1/p' /run/lab-events | head -n 1); \
         ready=$(systemctl show --timestamp=us+utc --property=ActiveEnterTimestamp --value dayone.service); \
         echo $(( $(date -u -d \"${ready#* }\" +%s%N) - $(date -u -d \"$event\" +%s%N) ))",
    )?;
    nanoseconds
        .parse()
        .map(Duration::from_nanos)
        .map_err(|e| Error::Output { program: "date", problem: format!("{e}: {nanoseconds}") })
}
