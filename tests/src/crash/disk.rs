//! A disk as inodes: operations change it, and an operation that never reached the disk can be left out.

use std::{
    collections::{BTreeMap, hash_map::DefaultHasher},
    hash::{Hash as _, Hasher as _},
    sync::Arc,
};

use super::tree::{Bytes, Entry, Kind, Tree};

/// The number of an inode.
pub(super) type Inode = usize;

/// The root directory.
pub(super) const ROOT: Inode = 0;

/// A change of the disk, or a request to make changes durable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Change {
    /// A new file, directory or link.
    Create { parent: Inode, name: String, inode: Inode, mode: u32, kind: New },
    /// A rename, which replaces what has the new name.
    Rename { from: (Inode, String), to: (Inode, String) },
    /// The end of a name.
    Remove { parent: Inode, name: String },
    /// Bytes at an offset.
    Write { file: Inode, offset: usize, bytes: Arc<[u8]> },
    /// Another length.
    Truncate { file: Inode, length: usize },
    /// Other permissions.
    Mode { inode: Inode, mode: u32 },
    /// fsync of a file: its data and mode.
    SyncFile { file: Inode },
    /// fsync of a directory: its names.
    SyncDirectory { directory: Inode },
    /// sync of everything.
    SyncAll,
}

/// The kind of a new inode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum New {
    /// An empty file.
    File,
    /// An empty directory.
    Directory,
    /// A link with its target.
    Link(String),
}

impl Change {
    /// The directories whose names it changes.
    pub(super) fn directories(&self) -> Vec<Inode> {
        match self {
            Self::Create { parent, .. } | Self::Remove { parent, .. } => vec![*parent],
            Self::Rename { from, to } if from.0 == to.0 => vec![from.0],
            Self::Rename { from, to } => vec![from.0, to.0],
            Self::Write { .. } | Self::Truncate { .. } | Self::Mode { .. } => Vec::new(),
            Self::SyncFile { .. } | Self::SyncDirectory { .. } | Self::SyncAll => Vec::new(),
        }
    }

    /// The file whose data it changes.
    pub(super) fn data(&self) -> Option<Inode> {
        if let Self::Write { file, .. } | Self::Truncate { file, .. } = self {
            Some(*file)
        } else {
            None
        }
    }
}

/// The disk. Its copies share what neither has changed.
#[derive(Debug, Clone)]
pub(super) struct Disk {
    inodes: Vec<Content>,
}

#[derive(Debug, Clone)]
struct Content {
    mode: u32,
    kind: ContentKind,
}

#[derive(Debug, Clone)]
enum ContentKind {
    File(Bytes),
    Directory(Arc<BTreeMap<String, Inode>>),
    Link(Arc<str>),
    /// Not made yet.
    None,
}

impl Disk {
    /// A disk with this tree.
    pub(super) fn new(tree: &Tree) -> Self {
        let root = Content { mode: 0o755, kind: ContentKind::Directory(Arc::default()) };
        let mut disk = Self { inodes: vec![root] };
        for (path, entry) in &tree.0 {
            let Some((parent, name)) = disk.place(path) else { continue };
            let inode = disk.inodes.len();
            let kind = match &entry.kind {
                Kind::File(bytes) => ContentKind::File(bytes.clone()),
                Kind::Directory => ContentKind::Directory(Arc::default()),
                Kind::Link(target) => ContentKind::Link(target.as_str().into()),
            };
            disk.inodes.push(Content { mode: entry.mode, kind });
            disk.enter(parent, name, inode);
        }
        disk
    }

    /// The number of the next new inode.
    pub(super) fn next(&self) -> Inode {
        self.inodes.len()
    }

    /// The directory and the name of a path.
    pub(super) fn place(&self, path: &str) -> Option<(Inode, String)> {
        let (parent, name) = path.rsplit_once('/')?;
        Some((self.find(parent)?, name.to_owned()))
    }

    /// The inode of a path; links are not followed.
    pub(super) fn find(&self, path: &str) -> Option<Inode> {
        let names = path.split('/').filter(|name| !name.is_empty());
        names.into_iter().try_fold(ROOT, |inode, name| self.entry(inode, name))
    }

    /// The inode of a name.
    pub(super) fn entry(&self, directory: Inode, name: &str) -> Option<Inode> {
        if let ContentKind::Directory(names) = &self.inodes[directory].kind {
            names.get(name).copied()
        } else {
            None
        }
    }

    /// Whether it is a directory.
    pub(super) fn is_directory(&self, inode: Inode) -> bool {
        matches!(self.inodes[inode].kind, ContentKind::Directory(_))
    }

    /// The bytes of a file.
    pub(super) fn bytes(&self, inode: Inode) -> Bytes {
        match self.inodes.get(inode) {
            Some(Content { kind: ContentKind::File(bytes), .. }) => bytes.clone(),
            _ => Bytes::default(),
        }
    }

    /// The permissions.
    pub(super) fn mode(&self, inode: Inode) -> u32 {
        self.inodes.get(inode).map_or(0, |content| content.mode)
    }

    /// Carries a change out.
    pub(super) fn apply(&mut self, change: &Change) {
        match change {
            Change::Create { parent, name, inode, mode, kind } => {
                let kind = match kind {
                    New::File => ContentKind::File(Bytes::default()),
                    New::Directory => ContentKind::Directory(Arc::default()),
                    New::Link(target) => ContentKind::Link(target.as_str().into()),
                };
                self.make(*inode, Content { mode: *mode, kind });
                self.enter(*parent, name.clone(), *inode);
            }
            Change::Rename { from, to } => {
                if let Some(inode) = self.leave(from.0, &from.1) {
                    self.enter(to.0, to.1.clone(), inode);
                }
            }
            Change::Remove { parent, name } => {
                self.leave(*parent, name);
            }
            Change::Write { file, offset, bytes } => {
                let mut content = self.bytes(*file).to_vec();
                let end = offset + bytes.len();
                content.resize(content.len().max(end), 0);
                content[*offset..end].copy_from_slice(bytes);
                self.set_bytes(*file, content.into());
            }
            Change::Truncate { file, length } => {
                let mut content = self.bytes(*file).to_vec();
                content.resize(*length, 0);
                self.set_bytes(*file, content.into());
            }
            Change::Mode { inode, mode } => {
                if let Some(content) = self.inodes.get_mut(*inode) {
                    content.mode = *mode;
                }
            }
            Change::SyncFile { .. } | Change::SyncDirectory { .. } | Change::SyncAll => {}
        }
    }

    /// Replaces a file's data.
    pub(super) fn set_bytes(&mut self, inode: Inode, bytes: Bytes) {
        if let Some(Content { kind: kind @ ContentKind::File(_), .. }) = self.inodes.get_mut(inode)
        {
            *kind = ContentKind::File(bytes);
        }
    }

    /// Replaces the permissions.
    pub(super) fn set_mode(&mut self, inode: Inode, mode: u32) {
        if let Some(content) = self.inodes.get_mut(inode) {
            content.mode = mode;
        }
    }

    /// Everything that has a path.
    pub(super) fn tree(&self) -> Tree {
        let mut tree = Tree::default();
        self.collect(ROOT, "", &mut tree);
        tree
    }

    /// A number that differs for disks with different trees.
    pub(super) fn digest(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.hash(ROOT, &mut hasher);
        hasher.finish()
    }

    fn hash(&self, directory: Inode, hasher: &mut DefaultHasher) {
        let ContentKind::Directory(names) = &self.inodes[directory].kind else { return };
        for (name, inode) in names.as_ref() {
            let Content { mode, kind } = &self.inodes[*inode];
            if !matches!(kind, ContentKind::None) {
                (name, mode, std::mem::discriminant(kind)).hash(hasher);
            }
            match kind {
                ContentKind::File(bytes) => bytes.hash(hasher),
                ContentKind::Directory(_) => self.hash(*inode, hasher),
                ContentKind::Link(target) => target.hash(hasher),
                ContentKind::None => {}
            }
        }
        // The end of the directory: no name is empty.
        "".hash(hasher);
    }

    fn collect(&self, directory: Inode, path: &str, tree: &mut Tree) {
        let ContentKind::Directory(names) = &self.inodes[directory].kind else { return };
        for (name, inode) in names.as_ref() {
            let path = format!("{path}/{name}");
            let Content { mode, kind } = &self.inodes[*inode];
            let (kind, is_directory) = match kind {
                ContentKind::File(bytes) => (Kind::File(bytes.clone()), false),
                ContentKind::Directory(_) => (Kind::Directory, true),
                ContentKind::Link(target) => (Kind::Link(target.to_string()), false),
                ContentKind::None => continue,
            };
            tree.0.insert(path.clone(), Entry { mode: *mode, kind });
            if is_directory {
                self.collect(*inode, &path, tree);
            }
        }
    }

    fn make(&mut self, inode: Inode, content: Content) {
        let none = Content { mode: 0, kind: ContentKind::None };
        let length = self.inodes.len().max(inode + 1);
        self.inodes.resize(length, none);
        self.inodes[inode] = content;
    }

    fn enter(&mut self, directory: Inode, name: String, inode: Inode) {
        if let ContentKind::Directory(names) = &mut self.inodes[directory].kind {
            Arc::make_mut(names).insert(name, inode);
        }
    }

    fn leave(&mut self, directory: Inode, name: &str) -> Option<Inode> {
        if let ContentKind::Directory(names) = &mut self.inodes[directory].kind {
            Arc::make_mut(names).remove(name)
        } else {
            None
        }
    }
}
