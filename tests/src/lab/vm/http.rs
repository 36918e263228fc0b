//! The peer's HTTP server, for Ignition's configuration.

use std::{
    fs::{self, File},
    path::PathBuf,
    process::{Child, Stdio},
};

use super::emulator::Emulator;
use crate::lab::{
    error::{Error, Result},
    netns::Netns,
};

/// A running server, on every address of the peer.
#[derive(Debug)]
pub(crate) struct Http {
    child: Child,
    log: PathBuf,
}

impl Http {
    /// Serves the current files of `directory`.
    pub(crate) fn start(
        emulator: &Emulator,
        netns: &Netns,
        directory: PathBuf,
        log: PathBuf,
    ) -> Result<Self> {
        fs::create_dir_all(&directory).map_err(Error::file("create", &directory))?;
        let file = File::create(&log).map_err(Error::file("create", &log))?;
        let mut command = emulator.command(netns, "busybox");
        command.args(["httpd", "-f", "-vv", "-p", "80", "-h"]).arg(directory);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(file);
        let child = command
            .spawn()
            .map_err(|source| Error::Spawn { program: "busybox httpd".into(), source })?;
        Ok(Self { child, log })
    }

    /// Its log: a line a request, with the client's address and the path.
    pub(crate) fn log(&self) -> Result<String> {
        fs::read_to_string(&self.log).map_err(Error::file("read", &self.log))
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
