//! Placeholders in the names of machines.

/// Placeholders of serial numbers, in lower case.
const NO_SERIALS: &[&str] = &["none", "default string", "not specified", "system serial number"];

/// Host names of unnamed machines, up to the first dot.
const NO_NAMES: &[&str] = &["", "(none)", "localhost", "localhost4", "localhost6"];

/// A host name, possibly with a domain.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostName(String);

impl HostName {
    /// Any text; text that cannot name a host is a placeholder.
    pub fn new(name: &str) -> Self {
        Self(name.trim().to_owned())
    }

    /// The whole name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Without the domain.
    pub fn short(&self) -> &str {
        short_host_name(&self.0)
    }

    /// True for an unnamed host, and for text with a slash, which names neither a file nor a host.
    pub fn is_placeholder(&self) -> bool {
        self.0.contains('/') || NO_NAMES.contains(&self.short())
    }
}

/// A host name up to its first dot, as in `hostname -s`.
pub fn short_host_name(name: &str) -> &str {
    name.split('.').next().unwrap_or(name)
}

/// False for placeholders of vendors ("To be filled by O.E.M."), and for text that cannot be a file
/// name.
pub fn names_a_machine(dmi: &str) -> bool {
    let lower = dmi.to_ascii_lowercase();
    !dmi.is_empty()
        && !dmi.contains('/')
        && !dmi.starts_with('.')
        && !lower.contains("o.e.m")
        && !NO_SERIALS.contains(&lower.as_str())
        && dmi.chars().any(|c| c.is_ascii_alphanumeric() && c != '0')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_name_no_machine() {
        for dmi in ["", "None", "To be filled by O.E.M.", "0000000", "../applied", "a/b"] {
            assert!(!names_a_machine(dmi), "{dmi}");
        }
        assert!(names_a_machine("CZ3D1X0GBV"));
    }

    #[test]
    fn placeholders_name_no_host() {
        assert_eq!(HostName::new("worker-0.example.org\n").short(), "worker-0");
        for name in ["", "localhost", "localhost.localdomain", "(none)", "../x"] {
            assert!(HostName::new(name).is_placeholder(), "{name}");
        }
        assert!(!HostName::new("localhost-1").is_placeholder());
    }
}
