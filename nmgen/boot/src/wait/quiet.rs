//! The quiet time after which no more network cards are expected.

use std::time::{Duration, Instant};

/// Firmware-loading, hot-plugged and USB cards come after udev's idle moment: a match that one of them
/// could better waits until none came for this long, and at most so long in all.
const QUIET: Duration = Duration::from_secs(5);
const MAX_QUIET: Duration = Duration::from_secs(30);

/// The cards' names at the last look, and when they changed.
pub(crate) struct Quiet {
    start: Instant,
    names: Vec<String>,
    changed: Instant,
}

impl Quiet {
    /// Before the first look.
    pub(crate) fn new(start: Instant) -> Self {
        Self { start, names: Vec::new(), changed: start }
    }

    /// The time until which a further card is expected, as the machine has these now.
    pub(crate) fn until(&mut self, names: &[String], now: Instant) -> Instant {
        if self.names != names {
            names.clone_into(&mut self.names);
            self.changed = now;
        }
        (self.changed + QUIET).min(self.start + MAX_QUIET)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_card_begins_it_anew_within_a_bound() {
        let start = Instant::now();
        let mut quiet = Quiet::new(start);
        let (one, two) = (["ens3".to_owned()], ["ens3".to_owned(), "ens4".to_owned()]);
        let looks: [(&[String], u64, u64); 6] = [
            (&[], 1, 5),
            (&one, 2, 7),
            (&one, 6, 7),
            (&two, 6, 11),
            (&one, 24, 29),
            (&two, 27, 30),
        ];
        for (names, now, until) in looks {
            let [now, until] = [now, until].map(|seconds| start + Duration::from_secs(seconds));
            assert_eq!(quiet.until(names, now), until, "{names:?}");
        }
    }
}
