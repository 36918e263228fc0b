//! The initramfs of one case: the image's, followed by archives that the kernel unpacks over it.

use std::{
    fs::{self, File},
    io::{self, Write as _},
    path::Path,
    process::Command,
    time::Duration,
};

use crate::lab::{
    command::run,
    error::{Error, Result},
    node::Content,
    place::remove,
};

use super::{Initramfs, VirtualMachine};

/// Writes it to `to`, for the first boot or a later one.
pub(crate) fn write(
    machine: &VirtualMachine,
    image: &Path,
    to: &Path,
    work: &Path,
    is_first: bool,
) -> Result<()> {
    let image = &image.join(match machine.initramfs {
        Initramfs::Nmgen => "initrd",
        Initramfs::Stock => "stock",
    });
    let failed = |operation| Error::file(operation, to);
    let mut base = File::open(image).map_err(Error::file("open", image))?;
    let mut file = File::create(to).map_err(failed("create"))?;
    io::copy(&mut base, &mut file).map_err(failed("write"))?;
    let mut archives = machine.archives.clone();
    if is_first {
        archives.extend_from_slice(&machine.first_archives);
    }
    if !machine.early.is_empty() {
        archives.push(pack(machine, work)?);
    }
    for archive in archives {
        // The kernel expects the next archive at a multiple of four.
        let length = file.metadata().map_err(failed("look at"))?.len();
        let padding = [0; 3];
        let odd = usize::try_from(length.next_multiple_of(4) - length).unwrap_or_default();
        file.write_all(&padding[..odd]).map_err(failed("write"))?;
        file.write_all(&archive).map_err(failed("write"))?;
    }
    Ok(())
}

/// The machine's files of the initramfs, packed by cpio.
fn pack(machine: &VirtualMachine, work: &Path) -> Result<Vec<u8>> {
    let tree = work.join("early");
    remove(&tree)?;
    for (path, content) in &machine.early {
        let path = tree.join(path.trim_start_matches('/'));
        let directory = path.parent().unwrap_or(&tree);
        fs::create_dir_all(directory).map_err(Error::file("create", directory))?;
        match content {
            Content::Text(text) => fs::write(&path, text),
            Content::Copy(from) => fs::copy(from, &path).map(drop),
            Content::Link(target) => std::os::unix::fs::symlink(target, &path),
        }
        .map_err(Error::file("write", &path))?;
    }
    let archive = work.join("early.cpio");
    let mut pack = Command::new("sh");
    pack.current_dir(&tree)
        .args(["-euc", "find . -mindepth 1 | cpio --quiet -o -H newc -F \"$0\""]);
    run(pack.arg(&archive), Duration::from_secs(10))?.success()?;
    fs::read(&archive).map_err(Error::file("read", &archive))
}
