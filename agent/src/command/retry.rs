//! When a failed attempt is repeated. Pure.

use std::time::Duration;

use crate::error::{Error, Exit};

const FIRST: Duration = Duration::from_secs(5);
const LONGEST: Duration = Duration::from_secs(300);

/// The pause after `failures` failures in a row, counted from 1; `None`: until an input changes,
/// since the same input fails again.
pub(super) fn pause(error: &Error, failures: u32) -> Option<Duration> {
    let hopeless = matches!(error, Error::GivenUp { .. }) || error.exit() == Exit::Input;
    if hopeless {
        return None;
    }
    let doublings = failures.saturating_sub(1).min(8);
    Some((FIRST * 2_u32.pow(doublings)).min(LONGEST))
}

/// The pause in words.
pub(super) fn describe(pause: Option<Duration>) -> String {
    let change = "a change below /etc/nmstate or of dayone.toml, or SIGHUP";
    match pause {
        Some(pause) => format!("the next attempt is in {} s, or at {change}", pause.as_secs()),
        None => format!("the next attempt is at {change}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::digest::Digest;

    #[test]
    fn pauses_grow_to_five_minutes() {
        let pauses: Vec<u64> = (1..=9)
            .filter_map(|failures| pause(&Error::NoLastGood, failures))
            .map(|pause| pause.as_secs())
            .collect();
        assert_eq!(pauses, [5, 10, 20, 40, 80, 160, 300, 300, 300]);
        assert_eq!(pause(&Error::NoLastGood, u32::MAX), Some(LONGEST));
    }

    #[test]
    fn the_same_input_is_not_tried_again() {
        let digest = Digest::of(b"");
        let given_up = Error::GivenUp { digest, count: 3, last: String::new() };
        assert_eq!(pause(&given_up, 1), None);
        let refused = Error::Check(crate::document::check::CheckError::Refused(Vec::new()));
        assert_eq!(pause(&refused, 1), None);
    }
}
