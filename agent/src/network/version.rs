//! Check of NetworkManager's version against the nmstate library's support.

use super::{Result, clients::Clients};

/// The oldest version that the library supports.
const OLDEST: (u32, u32) = (1, 46);

/// `MESSAGE_ID` of the warning.
const TOO_OLD: &str = "6f0d2f6a4e0b4b7c9b3f9a1f5d6c7e11";

/// Warns in the journal if NetworkManager is too old. Called only before an apply: a boot with the
/// document in force needs no bus.
pub(super) async fn tell(net: &Clients<'_>) -> Result {
    let version = net.bus.version().await?;
    if is_too_old(&version) {
        let (major, minor) = OLDEST;
        tracing::warn!(
            message_id = TOO_OLD,
            "NetworkManager {version} is not supported: nmstate wants {major}.{minor} or newer \
             (OpenShift 4.16 or newer)"
        );
    }
    Ok(())
}

/// An unparsable version counts as new.
fn is_too_old(version: &str) -> bool {
    let mut parts = version.split('.').map_while(|part| part.parse::<u32>().ok());
    let version = parts.next().zip(parts.next());
    version.is_some_and(|version| version < OLDEST)
}

#[cfg(test)]
mod tests {
    use super::is_too_old;

    #[test]
    fn only_older_versions_are_told() {
        for old in ["1.42.2", "1.45.90", "0.9.10"] {
            assert!(is_too_old(old), "{old}");
        }
        for new in ["1.46.0", "1.52.1-3.el9", "1.58", "2.0", "git", ""] {
            assert!(!is_too_old(new), "{new}");
        }
    }
}
