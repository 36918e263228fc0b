//! Time from the kernel's network to READY.

use std::time::Duration;

use super::SOON;
use crate::lab::{Error, Inside, Result};

/// Times to the unit's active state, as systemd saw it.
#[derive(Debug, Clone, Copy)]
pub struct Ready {
    /// From just before the command that causes the kernel's event, so slightly too long.
    pub after_command: Duration,
    /// From the event, as another listener on netlink received it: too short by the time in which that listener woke, and zero if
    /// the agent was READY before.
    pub after_event: Duration,
}

/// Removes the default route, has the agent wait for it, and adds it again.
pub fn ready_after_network(inside: &Inside) -> Result<Ready> {
    inside.sh(
        "systemctl stop kubelet.service kubelet-dependencies.target dayone.service; ip route del default; \
         systemctl start --no-block dayone.service",
    )?;
    let waits = "if systemctl is-active --quiet dayone.service; then echo READY; else \
         systemctl show --property=StatusText dayone.service | grep 'waiting for an IPv4'; fi";
    if inside.wait_sh(waits, SOON)? == "READY" {
        let problem = "READY without a default route".into();
        return Err(Error::Output { program: "dayone", problem });
    }
    // A route that is no default one shows that the listener listens.
    let times = inside.sh(
        "ip -tshort monitor route >/root/events & listener=$!; \
         until grep -q 203.0.113.99 /root/events; do ip route replace unreachable 203.0.113.99; ip route del unreachable 203.0.113.99; done; \
         command=$(date +%s%N); ip route add default via 192.0.2.1 dev br-ex; \
         until systemctl is-active --quiet dayone.service; do :; done; \
         until grep -q 'default via' /root/events; do :; done; kill $listener; \
         ready=$(systemctl show --timestamp=us+utc --property=ActiveEnterTimestamp --value dayone.service); \
         event=$(sed -n 's/^\\[\\(.*\\)\\] default via.*/\\1/p' /root/events | head -n 1); \
         echo $command $(date -d $event +%s%N) $(date -u -d \"${ready#* }\" +%s%N)",
    )?;
    let failed = |problem: String| Error::Output { program: "date", problem };
    let parsed: std::result::Result<Vec<u64>, _> = times.split(' ').map(str::parse).collect();
    let parsed = parsed.map_err(|e| failed(format!("{e}: {times}")))?;
    let [command, event, ready] = parsed[..] else { return Err(failed(times)) };
    let since = |start| Duration::from_nanos(ready.saturating_sub(start));
    Ok(Ready { after_command: since(command), after_event: since(event) })
}
