//! Programs of the emulator's tree: QEMU, the peer's switch and its HTTP server.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use crate::lab::{netns::Netns, scripts};

/// The tree, and the base image of its machines.
#[derive(Debug, Clone)]
pub(crate) struct Emulator {
    pub(crate) tree: PathBuf,
    pub(crate) image: PathBuf,
    pub(crate) policy: Policy,
    pub(crate) programs: Programs,
}

/// The policy of SELinux in an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Policy {
    /// None: the kernel goes without SELinux.
    None,
    /// Debian's, enforced.
    Enforced,
}

/// The builds of the programs in an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Programs {
    /// Developers', which are there already when a suite runs.
    Developers,
    /// The optimised ones of nodes, with nmstate's service beside them.
    Nodes,
}

impl Emulator {
    /// The image's path for the tree's programs.
    pub(crate) const IMAGE: &'static str = "/lab/image";

    /// A program of the tree in the network of `netns`. It sees the host's /dev, and so a case's state, under the host's path;
    /// if its standard input is a pipe, it ends with that.
    pub(crate) fn command(&self, netns: &Netns, program: &str) -> Command {
        let mut command = netns.command("unshare");
        command.args(["--mount", "--propagation", "private"]);
        command.arg(scripts().join("start-emulator.sh"));
        command.args([self.tree.as_path(), &self.image, Path::new(program)]);
        command
    }
}
