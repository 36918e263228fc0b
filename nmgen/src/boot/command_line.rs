//! The kernel command line: proc_cmdline(5), bootparam(7).

use std::path::Path;
use std::time::Duration;

/// Wait for network cards without `nmgen.timeout=`.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);
/// The unit's TimeoutStartSec= leaves room for this much.
const MAX_TIMEOUT: Duration = Duration::from_secs(600);

/// The arguments that nmgen reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CommandLine {
    /// `nmgen.host=`: the name of this machine's document.
    pub(super) host: Option<String>,
    /// `nmgen.dir=`: the hosts directory.
    pub(super) directory: Option<String>,
    /// `nmgen.timeout=`: how long to wait for network cards.
    pub(super) timeout: Duration,
    /// `rd.net.timeout.dhcp=`: dracut.cmdline(7).
    pub(super) dhcp_timeout: Option<u32>,
    /// Messages for arguments that cannot be read.
    pub(super) faults: Vec<String>,
}

impl CommandLine {
    /// An unreadable command line is one fault and no arguments.
    pub(super) fn read(path: &Path) -> Self {
        match std::fs::read(path) {
            // Other arguments need not be UTF-8.
            Ok(bytes) => Self::parse(&String::from_utf8_lossy(&bytes)),
            Err(error) => {
                let mut line = Self::parse("");
                line.faults.push(format!("cannot read {}: {error}", path.display()));
                line
            }
        }
    }

    /// The last of several equal arguments counts, as in the kernel and systemd; an empty one counts
    /// as absent.
    fn parse(text: &str) -> Self {
        let mut parsed = Self {
            host: None,
            directory: None,
            timeout: DEFAULT_TIMEOUT,
            dhcp_timeout: None,
            faults: Vec::new(),
        };
        for word in words(text) {
            let Some((name, value)) = word.split_once('=') else { continue };
            let given = || (!value.is_empty()).then(|| value.to_owned());
            match name {
                "nmgen.host" => parsed.host = given(),
                "nmgen.dir" => parsed.directory = given(),
                "nmgen.timeout" => match value.parse().map(Duration::from_secs) {
                    Ok(timeout) => parsed.timeout = timeout.min(MAX_TIMEOUT),
                    Err(_) => parsed.faults.push(format!(
                        "nmgen.timeout={value} is not a number of seconds; using {}",
                        DEFAULT_TIMEOUT.as_secs()
                    )),
                },
                // An invalid number is dracut's to report.
                "rd.net.timeout.dhcp" => parsed.dhcp_timeout = value.parse().ok(),
                _ => {}
            }
        }
        parsed
    }
}

/// Splits at white space outside double quotes, and removes the quotes.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for character in text.chars() {
        match character {
            '"' => quoted = !quoted,
            _ if character.is_whitespace() && !quoted => words.push(String::new()),
            _ => words.last_mut().into_iter().for_each(|word| word.push(character)),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_one_counts_and_quotes_hold_words_together() {
        let line = CommandLine::parse(
            "BOOT_IMAGE=/vmlinuz nmgen.host=a quiet nmgen.host=\"b c\" \"nmgen.dir=/my hosts\"\n",
        );
        assert_eq!(line.host.as_deref(), Some("b c"));
        assert_eq!(line.directory.as_deref(), Some("/my hosts"));
        assert_eq!(line.timeout, DEFAULT_TIMEOUT);
        assert_eq!(CommandLine::parse("nmgen.host=a nmgen.host=").host, None);
        let missing = CommandLine::read(Path::new("/nonexistent/cmdline"));
        assert!(missing.faults[0].starts_with("cannot read /nonexistent/cmdline: "));
    }

    #[test]
    fn a_timeout_is_bounded_and_a_wrong_one_is_said() {
        assert_eq!(CommandLine::parse("nmgen.timeout=0").timeout, Duration::ZERO);
        assert_eq!(CommandLine::parse("nmgen.timeout=99999").timeout, MAX_TIMEOUT);
        let wrong = CommandLine::parse("nmgen.timeout=1m");
        assert_eq!(
            (wrong.timeout, wrong.faults),
            (
                DEFAULT_TIMEOUT,
                vec!["nmgen.timeout=1m is not a number of seconds; using 60".to_owned()]
            )
        );
    }
}
