//! The initramfs of one case: the image's, followed by archives that the kernel unpacks over it.

use std::{
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use crate::lab::{
    command::run,
    error::{Error, Result},
    node::Content,
    place::remove,
    scripts,
};

use super::{Initramfs, VirtualMachine};

/// Bound on dracut.
const BUILD: Duration = Duration::from_secs(300);

/// Writes it to `to`, for the first boot or a later one.
pub(crate) fn write(
    machine: &VirtualMachine,
    image: &Path,
    to: &Path,
    work: &Path,
    is_first: bool,
) -> Result<()> {
    let image = &match machine.initramfs {
        Initramfs::Nmgen if !machine.built_with.is_empty() => build(machine, image, work)?,
        Initramfs::Nmgen => image.join("initrd"),
        Initramfs::Stock => image.join("stock"),
    };
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

/// The initramfs that dracut makes in the machine's system with the case's files, once a case.
fn build(machine: &VirtualMachine, image: &Path, work: &Path) -> Result<PathBuf> {
    let built = work.join("built");
    if built.exists() {
        return Ok(built);
    }
    let files = work.join("built-with");
    write_tree(&files, &machine.built_with)?;
    let mut command = Command::new("unshare");
    command.args(["--mount", "--propagation", "private"]);
    command.arg(scripts().join("build-initramfs.sh")).args([image, &files, &built]);
    run(&mut command, BUILD)?.success()?;
    Ok(built)
}

/// The machine's files of the initramfs, packed by cpio.
fn pack(machine: &VirtualMachine, work: &Path) -> Result<Vec<u8>> {
    let tree = work.join("early");
    write_tree(&tree, &machine.early)?;
    let archive = work.join("early.cpio");
    let mut pack = Command::new("sh");
    pack.current_dir(&tree)
        .args(["-euc", "find . -mindepth 1 | cpio --quiet -o -H newc -F \"$0\""]);
    run(pack.arg(&archive), Duration::from_secs(10))?.success()?;
    fs::read(&archive).map_err(Error::file("read", &archive))
}

/// Writes these files below `tree`, and nothing else.
fn write_tree(tree: &Path, files: &[(String, Content)]) -> Result<()> {
    remove(tree)?;
    for (path, content) in files {
        let path = tree.join(path.trim_start_matches('/'));
        let directory = path.parent().unwrap_or(tree);
        fs::create_dir_all(directory).map_err(Error::file("create", directory))?;
        match content {
            Content::Text(text) => fs::write(&path, text),
            Content::Copy(from) => fs::copy(from, &path).map(drop),
            Content::Link(target) => std::os::unix::fs::symlink(target, &path),
        }
        .map_err(Error::file("write", &path))?;
    }
    Ok(())
}
