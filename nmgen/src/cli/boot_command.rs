//! `nmgen boot`.

use std::path::PathBuf;

use clap::Args;
use nmgen_boot::{End, Step};
use nmgen_fleet::source;

use super::done::Done;

/// The arguments of `boot`.
#[derive(Debug, Args)]
pub(super) struct BootArguments {
    /// Before the pivot: bring the profiles to /sysroot
    #[arg(long)]
    persist: bool,
    /// After NetworkManager: give way to the system's profiles
    #[arg(long, conflicts_with = "persist")]
    release: bool,
    /// Say what is chosen and whose the profiles are; change nothing
    #[arg(long, conflicts_with_all = ["persist", "release", "live"])]
    explain: bool,
    /// In a live root: write final profiles before NetworkManager starts
    #[arg(long, conflicts_with_all = ["persist", "release"])]
    live: bool,
    /// With --live: a tree of assisted-service or a hosts directory
    /// [default: /etc/assisted/network, else as in an initramfs]
    #[arg(long, value_name = "DIR", requires = "live")]
    hosts: Option<PathBuf>,
    /// Read and write everything below this directory
    #[arg(long, value_name = "DIR", default_value = "/")]
    root: PathBuf,
}

/// Messages go to the kernel log and to standard error, one line each.
pub(super) fn run(arguments: &BootArguments) -> Done {
    let root = &arguments.root;
    let end = match arguments {
        BootArguments { live: true, hosts, .. } => {
            nmgen_boot::run_live(root, hosts.as_deref(), |path| {
                source::assisted_tree(path)
                    .map(|assisted_tree| (assisted_tree.hosts, assisted_tree.diagnostics))
            })
        }
        BootArguments { explain: true, .. } => nmgen_boot::run(root, Step::Explain),
        BootArguments { release: true, .. } => nmgen_boot::run(root, Step::Release),
        BootArguments { persist: true, .. } => nmgen_boot::run(root, Step::Persist),
        _ => nmgen_boot::run(root, Step::Prepare),
    };
    match end {
        End::Done => Done::Success,
        End::InputWrong => Done::InputWrong,
        End::Failed => Done::Failed,
    }
}
