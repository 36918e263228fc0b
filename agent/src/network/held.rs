//! Checkpoints of other programs (nmstate's own, kubernetes-nmstate): NetworkManager refuses a second one on the same devices.

use std::time::Duration;

use tokio::time::{Instant, timeout};

use super::{
    NetworkError, Result, Say,
    clients::{Clients, boot_time},
    wait::{Changes, wait_for},
};
use crate::client::dbus::HeldDevices;

/// The longest wait for an end: nmstate's checkpoints last one to four minutes.
const LONGEST: Duration = Duration::from_secs(300);
/// NetworkManager rolls back a moment after the end.
const MOMENT: Duration = Duration::from_secs(2);

/// Returns when no other program holds a device that the change is about: one of `links`, or, without these, any.
///
/// # Errors
/// A checkpoint has no end, or lasts longer than five minutes; its devices are named.
pub(super) async fn released(net: &Clients<'_>, links: Option<&[String]>, say: Say<'_>) -> Result {
    let start = Instant::now();
    while let Some(held) =
        net.bus.held_devices().await?.into_iter().find(|held| is_held(held, links))
    {
        let devices = held.devices.join(", ");
        let checkpoint = held.checkpoint.0.clone();
        let left = match held.deadline.left(boot_time()) {
            Some(left) if start.elapsed() + left <= LONGEST => left + MOMENT,
            left => return Err(NetworkError::Held { devices, checkpoint, left }),
        };
        let what = format!("waiting for the end of another program's checkpoint on {devices}");
        tracing::info!("{what}, in {} s at most", left.as_secs());
        say(&what, left);
        let mut changes = Changes::of_manager(&net.bus).await?;
        let gone = wait_for(&mut changes, async || {
            let all = net.bus.held_devices().await?;
            Ok(all.iter().all(|other| other.checkpoint != held.checkpoint).then_some(()))
        });
        // One that was renewed meanwhile has another end.
        if let Ok(gone) = timeout(left, gone).await {
            gone?;
        }
    }
    Ok(())
}

fn is_held(held: &HeldDevices, links: Option<&[String]>) -> bool {
    held.devices.iter().any(|device| links.is_none_or(|links| links.contains(device)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{client::dbus::Deadline, model::Checkpoint};

    #[test]
    fn a_checkpoint_holds_its_devices_alone() {
        let held = |devices: &[&str]| HeldDevices {
            checkpoint: Checkpoint("/1".to_owned()),
            devices: devices.iter().map(|&device| device.to_owned()).collect(),
            deadline: Deadline { created: Duration::ZERO, seconds: 0 },
        };
        let links = ["eno1".to_owned()];
        assert!(is_held(&held(&["eno1", "eno2"]), Some(&links)));
        assert!(!is_held(&held(&["eno2"]), Some(&links)));
        // nmstate's checkpoint is of each device.
        assert!(is_held(&held(&["eno2"]), None));
        assert!(!is_held(&held(&[]), None));
    }

    #[test]
    fn a_checkpoint_without_a_timeout_has_no_end() {
        let at = |seconds| Deadline { created: Duration::from_secs(10), seconds };
        assert_eq!(at(0).left(Duration::from_secs(20)), None);
        assert_eq!(at(60).left(Duration::from_secs(20)), Some(Duration::from_secs(50)));
        assert_eq!(at(60).left(Duration::from_secs(90)), Some(Duration::ZERO));
    }
}
