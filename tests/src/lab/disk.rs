//! The node's disk: an upper layer over the root file system, kept from boot to boot.

use std::{
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink},
    path::{Component, Path, PathBuf},
};

use super::{
    command::quick,
    error::{Error, Result},
    node::{Content, Node},
};

/// Constant, since one node runs at a time. Without a machine id every boot would count as the first.
const MACHINE_ID: &str = "da701ab0000000000000000000000001\n";

/// Makes an empty disk with the node's files under `state` and returns its directory.
pub(crate) fn create(node: &Node, rootfs: &Path, state: &Path) -> Result<PathBuf> {
    let disk = directory(state);
    fs::create_dir_all(&disk).map_err(Error::file("create", &disk))?;
    if let Some(size) = &node.disk {
        let options = format!("size={size},mode=0755");
        quick("mount", &["-t", "tmpfs", "-o", &options, "tmpfs", &disk.to_string_lossy()])?;
    }
    let upper = disk.join("upper");
    for directory in [&upper, &disk.join("work"), &disk.join("root")] {
        fs::create_dir_all(directory).map_err(Error::file("create", directory))?;
    }
    write(&upper, rootfs, Path::new("/etc/machine-id"), &Content::Text(MACHINE_ID.into()), 0o444)?;
    for file in &node.files {
        write(&upper, rootfs, &file.path, &file.content, file.mode)?;
    }
    Ok(disk)
}

/// Ends the mount of a disk that has a size.
pub(crate) fn unmount(state: &Path) -> Result<()> {
    let disk = directory(state);
    let table = Path::new("/proc/self/mounts");
    let mounts = fs::read_to_string(table).map_err(Error::file("read", table))?;
    let disk = disk.to_string_lossy();
    if mounts.lines().any(|line| line.split(' ').nth(1) == Some(&disk)) {
        quick("umount", &[&disk])?;
    }
    Ok(())
}

fn directory(state: &Path) -> PathBuf {
    state.join("disk")
}

fn write(upper: &Path, rootfs: &Path, path: &Path, content: &Content, mode: u32) -> Result<()> {
    let target = inside(upper, path);
    if let Some(parent) = path.parent() {
        make_parents(upper, rootfs, parent)?;
    }
    if target.symlink_metadata().is_ok() {
        fs::remove_file(&target).map_err(Error::file("replace", &target))?;
    }
    match content {
        Content::Text(text) => fs::write(&target, text).map_err(Error::file("write", &target))?,
        Content::Copy(from) => {
            fs::copy(from, &target).map_err(Error::file("copy", from))?;
        }
        Content::Link(to) => {
            return symlink(to, &target).map_err(Error::file("link", &target));
        }
    }
    let permissions = fs::Permissions::from_mode(mode);
    fs::set_permissions(&target, permissions).map_err(Error::file("set mode of", &target))
}

/// Copies mode and owner from the lower layer's directory, which the upper layer's hides.
fn make_parents(upper: &Path, rootfs: &Path, directory: &Path) -> Result<()> {
    let mut path = PathBuf::from("/");
    for component in directory.components() {
        path.push(component);
        let target = inside(upper, &path);
        if target.exists() {
            continue;
        }
        fs::create_dir(&target).map_err(Error::file("create", &target))?;
        if let Ok(below) = inside(rootfs, &path).metadata() {
            fs::set_permissions(&target, below.permissions())
                .map_err(Error::file("set mode of", &target))?;
            chown(&target, Some(below.uid()), Some(below.gid()))
                .map_err(Error::file("set owner of", &target))?;
        }
    }
    Ok(())
}

/// `path` of the node as a path below `root`.
fn inside(root: &Path, path: &Path) -> PathBuf {
    let names = path.components().filter(|part| matches!(part, Component::Normal(_)));
    names.fold(root.to_owned(), |whole, name| whole.join(name))
}
