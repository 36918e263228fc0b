//! Keyfiles of all fixtures, as the NetworkManager of a node reads them.

use std::{collections::BTreeSet, fs, os::unix::fs::PermissionsExt, time::Duration};

use tests::{
    documents::{self, files},
    lab::{Error, Node, Peer},
};

/// The directory of profiles of one boot.
const AT: &str = "/run/NetworkManager/system-connections";
/// Nothing is activated.
const UNMANAGED: &str = "[keyfile]\nunmanaged-devices=*\n";
/// Bound on the reading of all of them.
const READ: Duration = Duration::from_secs(60);

#[tests::case]
fn each_keyfile_of_the_fixtures_is_read_without_a_warning() -> Result<(), Error> {
    let tree = tempfile::tempdir().expect("a directory");
    let mut count = 0;
    for document in documents::fixtures().iter().filter(|document| !document.convert().has_errors())
    {
        for (file, text) in files(&document.convert()) {
            let name = file.path().replace('/', "-");
            if name.ends_with(".nmconnection") {
                let path = tree.path().join(format!("{count}-{}-{name}", document.name));
                fs::write(&path, text).expect("a file");
                fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("a mode");
                count += 1;
            }
        }
    }
    let node = Node::new("worker-0").bind(tree.path(), "/lab/keyfiles").file(
        "/etc/NetworkManager/conf.d/99-unmanaged.conf",
        UNMANAGED,
        0o644,
    );
    node.run(&Peer::new(), |case| {
        let inside = case.boot()?;
        inside.sh(&format!("mkdir -p {AT}; cp /lab/keyfiles/* {AT}"))?;
        inside.run_within(&["nmcli", "connection", "reload"], READ)?.success()?;
        let version = inside.sh("NetworkManager --version")?;
        let entries = inside.journal(&["_SYSTEMD_UNIT=NetworkManager.service"])?;
        let warned =
            entries.iter().map(|entry| entry.message()).filter(|message| message.contains(AT));
        let warned: BTreeSet<&str> = warned
            .filter(|message| message.contains("<warn>") || message.contains("<error>"))
            .collect();
        assert!(count > 50 && warned.is_empty(), "{count} keyfiles, {version}: {warned:?}");
        Ok(())
    })
}
