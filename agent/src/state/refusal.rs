//! An error of nmstate in words: its own text begins with the names of its types, and calls what it does not expect a bug.

use nmstate::NmstateError;
use thiserror::Error;

/// The words of an error of nmstate.
#[derive(Debug, Error)]
#[error("{0}")]
pub(crate) struct Refusal(String);

impl From<NmstateError> for Refusal {
    fn from(error: NmstateError) -> Self {
        let line =
            if error.line().is_empty() { String::new() } else { format!(" in {}", error.line()) };
        Self(plain(error.msg()) + &line)
    }
}

/// The kinds of errors in nmstate's client of NetworkManager, as it writes them before a message, with the words for those that
/// a message does not say itself.
const KINDS: [(&str, &str); 9] = [
    ("DbusConnectionError", "NetworkManager does not answer on D-Bus: "),
    ("CheckpointConflict", "another program holds a checkpoint of NetworkManager: "),
    ("IncompatibleReapply", "NetworkManager refuses to change the active profile: "),
    ("Timeout", "NetworkManager did not finish in time: "),
    ("InvalidArgument", ""),
    ("NotFound", ""),
    ("LoopbackIfaceNotSupported", ""),
    ("Bug", ""),
    ("", ""),
];

/// The message without the names of types before it.
fn plain(message: &str) -> String {
    let Some((head, rest)) = message.split_once(':') else { return message.to_owned() };
    let object = ["Device", "Manager", "Setting", "Connection"];
    let is_of_object = head.ends_with(')')
        && object
            .iter()
            .any(|name| head.strip_prefix(name).is_some_and(|tail| tail.starts_with('(')));
    let kind = if is_of_object { "" } else { head };
    match KINDS.iter().find(|(name, _)| *name == kind) {
        Some((_, words)) => format!("{words}{}", plain(rest.trim_start())),
        None => message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use nmstate::{ErrorKind, NmstateError};

    use super::Refusal;

    #[test]
    fn no_name_of_a_type_is_told() {
        for (message, words) in [
            (
                "DbusConnectionError: org.freedesktop.DBus.Error.ServiceUnknown: no such name",
                "NetworkManager does not answer on D-Bus: org.freedesktop.DBus.Error.ServiceUnknown: no such name",
            ),
            ("Device(IncompatibleConnection):no such port", "no such port"),
            ("Manager(Unknown(\"X\")): why", "why"),
            ("Bug: Timeout: 10 s", "NetworkManager did not finish in time: 10 s"),
            ("Interface eth1: no such link", "Interface eth1: no such link"),
            ("no colon", "no colon"),
        ] {
            let error = NmstateError::new(ErrorKind::Bug, message.to_owned());
            assert_eq!(Refusal::from(error).to_string(), words);
        }
    }
}
