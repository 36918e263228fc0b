//! NetworkManager's version against what the nmstate library supports.

use super::{NetworkError, clients::Clients};

/// The oldest that the library supports.
const OLDEST: (u32, u32) = (1, 46);

/// `MESSAGE_ID` of that line.
const TOO_OLD: &str = "6f0d2f6a4e0b4b7c9b3f9a1f5d6c7e11";

/// One line in the journal where NetworkManager is too old. Asked only where something is to be
/// applied: a boot of a node in force needs no bus.
pub(super) async fn tell(net: &Clients<'_>) -> Result<(), NetworkError> {
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

/// A version that is not understood is taken for a new one.
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
