//! The output of another program.

use std::process::Command;

use crate::error::Error;

/// Runs it to its end; `name` is for messages.
pub(crate) fn output(name: &str, command: &mut Command) -> Result<String, Error> {
    let output =
        command.output().map_err(|source| Error::Run { command: name.to_owned(), source })?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(Error::Failed { command: name.to_owned(), said });
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
