//! From system calls to operations on inodes.

use std::collections::HashMap;

use super::{
    Fault,
    calls::{Argument, Call},
    disk::{Change, Disk, Inode, New},
    tree::Tree,
};

/// A change with its wording for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Operation {
    /// The change.
    pub(super) change: Change,
    /// `rename /a to /b`.
    pub(super) text: String,
}

/// The operations of some programs on some places of a disk.
#[derive(Debug, Clone)]
pub struct Recording {
    /// The disk before.
    pub start: Tree,
    /// In their order.
    pub(super) operations: Vec<Operation>,
}

impl Recording {
    /// The operations of `calls` below `places`, on a disk that held `start`.
    ///
    /// # Errors
    /// A call on these places whose effect the model does not know.
    pub fn new(start: Tree, places: &[&str], calls: &[Call]) -> Result<Self, Fault> {
        let disk = Disk::new(&start);
        let mut reader = Reader { disk, places, offsets: HashMap::new(), operations: Vec::new() };
        for call in calls {
            reader.read(call).ok_or_else(|| Fault::Call(format!("{call:?}")))?;
        }
        Ok(Self { start, operations: reader.operations })
    }

    /// The number of operations.
    pub fn length(&self) -> usize {
        self.operations.len()
    }

    /// The disk after all operations.
    pub fn end(&self) -> Tree {
        let mut disk = Disk::new(&self.start);
        for operation in &self.operations {
            disk.apply(&operation.change);
        }
        disk.tree()
    }
}

struct Reader<'a> {
    disk: Disk,
    places: &'a [&'a str],
    /// Offsets of open files, by descriptor and inode.
    offsets: HashMap<(i64, Inode), usize>,
    operations: Vec<Operation>,
}

/// The file creation mask of all programs here.
const MASK: u32 = 0o022;

impl Reader<'_> {
    /// `None` for a call on the places that is not understood.
    fn read(&mut self, call: &Call) -> Option<()> {
        let arguments = &call.arguments[..];
        match (call.name.as_str(), arguments) {
            ("open" | "creat", _) | ("openat" | "openat2", [_, _, ..]) => self.open(call),
            ("write" | "writev", [descriptor, Argument::Bytes(bytes), ..]) => {
                self.written(descriptor, bytes, call.result, None)
            }
            ("pwrite64" | "pwritev", [descriptor, Argument::Bytes(bytes), .., offset]) => {
                let offset = flags(offset)?.parse().ok()?;
                self.written(descriptor, bytes, call.result, Some(offset))
            }
            ("lseek", [descriptor, ..]) => {
                let Some((descriptor, file)) = self.opened(descriptor) else { return Some(()) };
                self.offsets.insert((descriptor, file), usize::try_from(call.result).ok()?);
                Some(())
            }
            ("ftruncate", [descriptor, length]) => {
                let Some((_, file)) = self.opened(descriptor) else { return Some(()) };
                self.truncate(file, flags(length)?.parse().ok()?, &shown(descriptor));
                Some(())
            }
            // The new length is zeros.
            ("fallocate", [descriptor, mode, offset, length]) => {
                let Some((_, file)) = self.opened(descriptor) else { return Some(()) };
                let (offset, length): (usize, usize) =
                    (flags(offset)?.parse().ok()?, flags(length)?.parse().ok()?);
                let now = self.disk.bytes(file).len();
                if flags(mode)? != "0" {
                    return None;
                }
                if offset + length > now {
                    self.truncate(file, offset + length, &shown(descriptor));
                }
                Some(())
            }
            ("rename", [from, to]) => self.rename(&path(None, from)?, &path(None, to)?),
            ("renameat" | "renameat2", [from, from_name, to, to_name, rest @ ..]) => {
                let (from, to) = (path(Some(from), from_name)?, path(Some(to), to_name)?);
                let is_exchange =
                    rest.iter().any(|argument| flags(argument) == Some("RENAME_EXCHANGE"));
                match is_exchange && self.is_watched(&from) {
                    true => None,
                    false => self.rename(&from, &to),
                }
            }
            ("unlink" | "rmdir", [name]) => self.remove(&path(None, name)?),
            ("unlinkat", [directory, name, ..]) => self.remove(&path(Some(directory), name)?),
            ("mkdir", [name, mode]) => {
                self.create(&path(None, name)?, octal(mode)? & !MASK, New::Directory)
            }
            ("mkdirat", [directory, name, mode]) => {
                let path = path(Some(directory), name)?;
                self.create(&path, octal(mode)? & !MASK, New::Directory)
            }
            ("symlink", [target, name]) => {
                self.create(&path(None, name)?, 0, New::Link(text(target)?))
            }
            ("symlinkat", [target, directory, name]) => {
                self.create(&path(Some(directory), name)?, 0, New::Link(text(target)?))
            }
            ("chmod", [name, mode]) => self.mode(&path(None, name)?, octal(mode)?),
            ("fchmodat" | "fchmodat2", [directory, name, mode, ..]) => {
                self.mode(&path(Some(directory), name)?, octal(mode)?)
            }
            ("fchmod", [Argument::Descriptor(_, Some(name)), mode]) => {
                self.mode(name, octal(mode)?)
            }
            ("fsync" | "fdatasync", [Argument::Descriptor(_, Some(path))]) => {
                self.sync(path);
                Some(())
            }
            ("sync" | "syncfs", _) => {
                self.add(Change::SyncAll, call.name.clone());
                Some(())
            }
            // A deleted file leaves nothing behind.
            (_, [Argument::Descriptor(_, None), ..]) => Some(()),
            // Owners: everything here is root's. Copies of descriptors are found by their path.
            ("chown" | "fchown" | "lchown" | "fchownat" | "dup" | "dup2" | "dup3", _)
            | ("execve", _) => Some(()),
            _ => self.is_elsewhere(arguments).then_some(()),
        }
    }

    fn is_watched(&self, path: &str) -> bool {
        let is_below = |place: &&str| path.strip_prefix(*place).is_some_and(is_end);
        self.places.iter().any(is_below)
    }

    /// Whether no argument is a path below the places.
    fn is_elsewhere(&self, arguments: &[Argument]) -> bool {
        arguments.iter().all(|argument| match argument {
            Argument::Descriptor(_, Some(path)) => !self.is_watched(path),
            Argument::Bytes(bytes) => !self.is_watched(&String::from_utf8_lossy(bytes)),
            Argument::Descriptor(_, None) | Argument::Other(_) => true,
        })
    }

    fn add(&mut self, change: Change, text: String) {
        self.disk.apply(&change);
        self.operations.push(Operation { change, text });
    }

    fn open(&mut self, call: &Call) -> Option<()> {
        let (path, flags, mode) = match (&*call.name, &call.arguments[..]) {
            ("open", [name, open, mode @ ..]) => (path(None, name)?, flags(open)?, mode.first()),
            ("creat", [name, mode]) => (path(None, name)?, "O_CREAT|O_TRUNC", Some(mode)),
            ("openat", [directory, name, open, mode @ ..]) => {
                (path(Some(directory), name)?, flags(open)?, mode.first())
            }
            _ => return self.is_elsewhere(&call.arguments).then_some(()),
        };
        if !self.is_watched(&path) {
            return Some(());
        }
        if flags.contains("O_TMPFILE") {
            return None;
        }
        let has = |flag: &str| flags.split('|').any(|name| name == flag);
        if self.disk.find(&path).is_none() {
            // Opened by a link.
            if !has("O_CREAT") {
                return (!has("O_WRONLY") && !has("O_RDWR")).then_some(());
            }
            self.create(&path, octal(mode?)? & !MASK, New::File)?;
        }
        let file = self.disk.find(&path)?;
        if has("O_TRUNC") && !self.disk.bytes(file).is_empty() {
            self.truncate(file, 0, &path);
        }
        let offset = if has("O_APPEND") { self.disk.bytes(file).len() } else { 0 };
        self.offsets.insert((call.result, file), offset);
        Some(())
    }

    /// The inode of an open file below the places.
    fn opened(&self, argument: &Argument) -> Option<(i64, Inode)> {
        let Argument::Descriptor(descriptor, Some(path)) = argument else { return None };
        let file = self.is_watched(path).then(|| self.disk.find(path))??;
        Some((*descriptor, file))
    }

    fn written(
        &mut self,
        descriptor: &Argument,
        bytes: &[u8],
        result: i64,
        at: Option<usize>,
    ) -> Option<()> {
        let Some(key) = self.opened(descriptor) else { return Some(()) };
        let length = usize::try_from(result).ok()?;
        let bytes = bytes.get(..length)?;
        let offset = match at {
            Some(offset) => offset,
            None => {
                let offset = self.offsets.get_mut(&key)?;
                *offset += length;
                *offset - length
            }
        };
        let path = shown(descriptor);
        let text = format!("write {length} bytes at {offset} of {path}");
        self.add(Change::Write { file: key.1, offset, bytes: bytes.into() }, text);
        Some(())
    }

    fn truncate(&mut self, file: Inode, length: usize, path: &str) {
        self.add(Change::Truncate { file, length }, format!("truncate {path} to {length} bytes"));
    }

    fn create(&mut self, path: &str, mode: u32, kind: New) -> Option<()> {
        if !self.is_watched(path) {
            return Some(());
        }
        let (parent, name) = self.disk.place(path)?;
        let inode = self.disk.next();
        let text = match kind {
            New::File => format!("create {path}"),
            New::Directory => format!("make the directory {path}"),
            New::Link(_) => format!("make the link {path}"),
        };
        self.add(Change::Create { parent, name, inode, mode, kind }, text);
        Some(())
    }

    fn rename(&mut self, from: &str, to: &str) -> Option<()> {
        match (self.is_watched(from), self.is_watched(to)) {
            (false, false) => Some(()),
            (true, true) => {
                let change =
                    Change::Rename { from: self.disk.place(from)?, to: self.disk.place(to)? };
                self.add(change, format!("rename {from} to {to}"));
                Some(())
            }
            _ => None,
        }
    }

    fn remove(&mut self, path: &str) -> Option<()> {
        if !self.is_watched(path) {
            return Some(());
        }
        let (parent, name) = self.disk.place(path)?;
        self.disk.entry(parent, &name)?;
        self.add(Change::Remove { parent, name }, format!("remove {path}"));
        Some(())
    }

    fn mode(&mut self, path: &str, mode: u32) -> Option<()> {
        if !self.is_watched(path) {
            return Some(());
        }
        let inode = self.disk.find(path)?;
        if self.disk.mode(inode) != mode {
            self.add(Change::Mode { inode, mode }, format!("chmod {mode:o} {path}"));
        }
        Some(())
    }

    /// A directory above the places counts too.
    fn sync(&mut self, path: &str) {
        let Some(inode) = self.disk.find(path) else { return };
        let change = match self.disk.is_directory(inode) {
            true => Change::SyncDirectory { directory: inode },
            false => Change::SyncFile { file: inode },
        };
        self.add(change, format!("sync {path}"));
    }
}

fn is_end(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with('/')
}

fn shown(descriptor: &Argument) -> String {
    match descriptor {
        Argument::Descriptor(_, Some(path)) => path.clone(),
        Argument::Descriptor(_, None) | Argument::Bytes(_) | Argument::Other(_) => String::new(),
    }
}

fn flags(argument: &Argument) -> Option<&str> {
    match argument {
        Argument::Other(text) => Some(text),
        Argument::Descriptor(..) | Argument::Bytes(_) => None,
    }
}

fn octal(argument: &Argument) -> Option<u32> {
    // Without the kind of the file, which some programs add.
    let is_kind = |flag: &&str| flag.starts_with("S_I");
    let mode = flags(argument)?.split('|').find(|flag| !is_kind(flag))?;
    Some(u32::from_str_radix(mode, 8).ok()? & 0o7777)
}

fn text(argument: &Argument) -> Option<String> {
    match argument {
        Argument::Bytes(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        Argument::Descriptor(..) | Argument::Other(_) => None,
    }
}

/// The absolute path of a name below a directory; empty for a relative one whose directory is not known, which is elsewhere.
fn path(directory: Option<&Argument>, name: &Argument) -> Option<String> {
    let name = text(name)?;
    let whole = match directory {
        _ if name.starts_with('/') => name,
        Some(Argument::Descriptor(_, Some(directory))) => format!("{directory}/{name}"),
        _ => return Some(String::new()),
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in whole.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    Some(format!("/{}", parts.join("/")))
}
