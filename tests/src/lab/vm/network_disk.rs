//! The machine's disk on the network: a server of the peer's exports it over NBD.

use std::{
    fs::File,
    net::{IpAddr, SocketAddr},
    path::Path,
    process::{Child, Stdio},
    time::Duration,
};

use super::emulator::Emulator;
use crate::lab::{
    command::wait_for,
    error::{Error, Result},
    gateway::Gateway,
};

const START: Duration = Duration::from_secs(20);
const PORT: u16 = 10809;
const EXPORT: &str = "root";

/// The kernel argument with which dracut's module nbd attaches the disk.
pub(crate) fn argument(server: IpAddr) -> String {
    format!("netroot=nbd:{server}:{EXPORT}")
}

/// A running server; it ends with its machine.
#[derive(Debug)]
pub(crate) struct NetworkDisk {
    child: Child,
}

impl NetworkDisk {
    /// Exports `disk` at this address of the peer.
    pub(crate) fn start(
        emulator: &Emulator,
        gateway: &Gateway,
        server: IpAddr,
        disk: &Path,
    ) -> Result<Self> {
        let mut command = emulator.command(gateway.netns(), "qemu-nbd");
        // Two connections: the one of the wait below may end after the machine's begins.
        command.args(["--persistent", "--shared=2", "--format=qcow2", "--cache=unsafe"]);
        command.args([format!("--export-name={EXPORT}"), format!("--bind={server}")]);
        command.arg(format!("--port={PORT}")).arg(disk);
        let log = disk.with_file_name("network-disk.log");
        let log = File::create(&log).map_err(Error::file("create", &log))?;
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(log);
        let child = command
            .spawn()
            .map_err(|source| Error::Spawn { program: "qemu-nbd".into(), source })?;
        let started = Self { child };
        wait_for("the disk's server", START, || {
            let there = SocketAddr::new(server, PORT);
            Ok(gateway.connect(there, Duration::from_secs(1))?.then_some(()))
        })?;
        Ok(started)
    }
}

impl Drop for NetworkDisk {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
