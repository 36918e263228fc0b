//! Programs that have to succeed.

use std::process::{Command, Output, Stdio};

use crate::error::Error;

/// The standard output of a command that succeeds.
pub(crate) fn output(command: &mut Command) -> Result<Vec<u8>, Error> {
    let Output { status, stdout, .. } = any(command)?;
    match status.success() {
        true => Ok(stdout),
        false => Err(Error::Failed { command: format!("{command:?}"), status: status.to_string() }),
    }
}

/// Status and standard output, of a failure too.
pub(crate) fn any(command: &mut Command) -> Result<Output, Error> {
    command
        .stderr(Stdio::inherit())
        .output()
        .map_err(|source| Error::Start { command: format!("{command:?}"), source })
}
