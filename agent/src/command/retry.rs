//! When a failed attempt is repeated. Pure.

use std::time::Duration;

use crate::error::{Error, Exit};

/// The lengths of pauses, which double, and what ends one early beside a change of a file.
pub(super) struct Pace {
    first: Duration,
    longest: Duration,
    /// Whether a card or a default route that comes does.
    pub(super) follows_network: bool,
}

/// For documents.
pub(super) const DOCUMENT: Pace = Pace {
    first: Duration::from_secs(5),
    longest: Duration::from_secs(300),
    follows_network: false,
};
/// For the automatic bridge; configure-ovs.sh pauses 15 minutes.
pub(super) const BRIDGE: Pace = Pace {
    first: Duration::from_secs(15),
    longest: Duration::from_secs(900),
    follows_network: true,
};

impl Pace {
    /// The pause after `failures` failures in a row, counted from 1; `None`: until an input
    /// changes, since the same input fails again.
    pub(super) fn pause(&self, error: &Error, failures: u32) -> Option<Duration> {
        let hopeless = matches!(error, Error::GivenUp { .. }) || error.exit() == Exit::Input;
        if hopeless {
            return None;
        }
        Some(self.doubled(failures.saturating_sub(1)))
    }

    /// The part of a pause in which the network does not end it, after as many pauses in a row that
    /// it has ended: a link that flaps starts attempts at growing distances.
    pub(super) fn hold(&self, ended: u32) -> Duration {
        match ended {
            0 => Duration::ZERO,
            _ => self.doubled(ended - 1),
        }
    }

    fn doubled(&self, times: u32) -> Duration {
        (self.first * 2_u32.pow(times.min(8))).min(self.longest)
    }

    /// The pause in words.
    pub(super) fn describe(&self, pause: Option<Duration>) -> String {
        let network =
            if self.follows_network { ", when a card or a default route comes" } else { "" };
        let change = format!(
            "a change below /etc/nmstate or /etc/ovnk or of dayone.toml{network}, or SIGHUP"
        );
        match pause {
            Some(pause) => format!("the next attempt is in {} s, or at {change}", pause.as_secs()),
            None => format!("the next attempt is at {change}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::digest::Digest;

    #[test]
    fn pauses_grow() {
        let pauses = |pace: &Pace| -> Vec<u64> {
            (1..=9)
                .filter_map(|failures| pace.pause(&Error::NoLastGood, failures))
                .map(|pause| pause.as_secs())
                .collect()
        };
        assert_eq!(pauses(&DOCUMENT), [5, 10, 20, 40, 80, 160, 300, 300, 300]);
        assert_eq!(pauses(&BRIDGE), [15, 30, 60, 120, 240, 480, 900, 900, 900]);
        assert_eq!(DOCUMENT.pause(&Error::NoLastGood, u32::MAX), Some(DOCUMENT.longest));
    }

    #[test]
    fn the_network_ends_pauses_at_growing_distances() {
        let holds: Vec<u64> = (0..9).map(|ended| BRIDGE.hold(ended).as_secs()).collect();
        assert_eq!(holds, [0, 15, 30, 60, 120, 240, 480, 900, 900]);
        assert_eq!(BRIDGE.hold(u32::MAX), BRIDGE.longest);
        // Never longer than the pause: each of them has ended after a failure.
        for failures in 1..20 {
            let pause = BRIDGE.pause(&Error::NoLastGood, failures);
            assert!(pause.is_some_and(|pause| BRIDGE.hold(failures - 1) <= pause));
        }
    }

    #[test]
    fn the_same_input_is_not_tried_again() {
        let digest = Digest::of(b"");
        let given_up = Error::GivenUp { digest, count: 3, last: String::new() };
        assert_eq!(DOCUMENT.pause(&given_up, 1), None);
        let refused = Error::Check(crate::document::check::CheckError::Refused(Vec::new()));
        assert_eq!(DOCUMENT.pause(&refused, 1), None);
    }
}
