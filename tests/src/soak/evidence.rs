//! Evidence of a node that broke a promise.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{lab::Case, program::root};

/// The texts, each by a command in the node.
const TEXTS: [(&str, &str); 4] = [
    ("journal", "journalctl --no-pager --output=short-monotonic"),
    ("status", "dayone status; dayone status --json; dayone diff"),
    (
        "network",
        "nmcli --fields NAME,UUID,TYPE,DEVICE,STATE,FILENAME connection show; nmcli device; \
         ip address; ip route; ovs-vsctl show",
    ),
    (
        "units",
        "systemctl list-jobs; systemctl list-units --failed; systemctl status 'dayone*' kubelet.service",
    ),
];
/// The trees, in the node.
const TREES: [&str; 5] = [
    "var/lib/dayone",
    "run/dayone",
    "etc/nmstate",
    "etc/NetworkManager/system-connections",
    "run/NetworkManager/system-connections",
];

/// Writes story, journal, status and files of a node, and returns their directory.
///
/// # Errors
/// If it cannot be made.
pub(super) fn keep(
    case: &Case<'_>,
    seed: u64,
    number: u64,
    story: &[String],
) -> io::Result<PathBuf> {
    let directory = root().join(format!("target/soak/{seed}-{number}"));
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory)?;
    fs::write(directory.join("story"), story.join("\n") + "\n")?;
    let Ok(inside) = case.inside() else { return Ok(directory) };
    for (name, command) in TEXTS {
        let text = match inside.run(&["sh", "-c", command]) {
            Ok(output) => output.to_string(),
            Err(error) => error.to_string(),
        };
        fs::write(directory.join(name), text)?;
    }
    if let Ok(node) = inside.root() {
        for tree in TREES {
            copy(&node.join(tree), &directory.join(tree.replace('/', "-")))?;
        }
    }
    Ok(directory)
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    if from.exists() {
        Command::new("cp").arg("-r").args([from, to]).status()?;
    }
    Ok(())
}
