//! Programs of the emulator's tree: QEMU, the peer's switch and its HTTP server.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use crate::lab::{netns::Netns, scripts};

/// The tree, and the image that its machines start from.
#[derive(Debug, Clone)]
pub(crate) struct Emulator {
    pub(crate) tree: PathBuf,
    pub(crate) image: PathBuf,
}

impl Emulator {
    /// Where the tree's programs see the image.
    pub(crate) const IMAGE: &'static str = "/lab/image";

    /// A program of the tree in the network of `netns`. It sees the host's /dev, and with it the state of a case, in the
    /// host's place; it ends when its standard input does, if that is a pipe.
    pub(crate) fn command(&self, netns: &Netns, program: &str) -> Command {
        let mut command = netns.command("unshare");
        command.args(["--mount", "--propagation", "private"]);
        command.arg(scripts().join("start-emulator.sh"));
        command.args([self.tree.as_path(), &self.image, Path::new(program)]);
        command
    }
}
