//! The files of some directories: read from a disk, and written to one.

use std::{
    collections::{BTreeMap, hash_map::DefaultHasher},
    fs,
    hash::{Hash, Hasher},
    io,
    ops::Deref,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::Path,
    sync::Arc,
};

/// The content of a file, shared, with a number that differs for different contents: a tree is told from others without a look at
/// all bytes of its files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bytes {
    digest: u64,
    bytes: Arc<[u8]>,
}

impl Hash for Bytes {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.digest);
    }
}

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Self {
        let mut hasher = DefaultHasher::new();
        hasher.write(&bytes);
        Self { digest: hasher.finish(), bytes: bytes.into() }
    }
}

impl Default for Bytes {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

/// A file, directory or link.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A file with its bytes.
    File(Bytes),
    /// A directory.
    Directory,
    /// A symbolic link with its target.
    Link(String),
}

/// An entry with its mode.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Entry {
    /// Permissions; 0 for a link.
    pub mode: u32,
    /// File, directory or link, with its content.
    pub kind: Kind,
}

/// Entries by their absolute path on the node; a directory comes before its content.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Tree(pub BTreeMap<String, Entry>);

impl Tree {
    /// Reads what exists of `places` below `root`, with the directories that lead there.
    ///
    /// # Errors
    /// If anything cannot be read.
    pub fn read(root: &Path, places: &[&str]) -> io::Result<Self> {
        Self::default().read_again(root, places)
    }

    /// Reads it again after changes of this tree: content that has not changed is shared.
    ///
    /// # Errors
    /// If anything cannot be read.
    pub fn read_again(&self, root: &Path, places: &[&str]) -> io::Result<Self> {
        let mut tree = Self::default();
        for place in places {
            let mut above = Vec::new();
            let mut parent = Path::new(place).parent();
            while let Some(it) = parent.filter(|path| path.parent().is_some()) {
                above.push(it);
                parent = it.parent();
            }
            for path in above.into_iter().rev().chain([Path::new(place)]) {
                let with_content = path == Path::new(place);
                tree.add(self, root, &path.to_string_lossy(), with_content)?;
            }
        }
        Ok(tree)
    }

    fn add(
        &mut self,
        before: &Self,
        root: &Path,
        path: &str,
        with_content: bool,
    ) -> io::Result<()> {
        let real = root.join(path.trim_start_matches('/'));
        let meta = match fs::symlink_metadata(&real) {
            Ok(meta) => meta,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        let mode = meta.permissions().mode() & 0o7777;
        let (kind, mode) = if meta.is_dir() {
            (Kind::Directory, mode)
        } else if meta.is_symlink() {
            (Kind::Link(fs::read_link(&real)?.to_string_lossy().into_owned()), 0)
        } else if meta.is_file() {
            match fs::read(&real) {
                Ok(bytes) => match before.0.get(path) {
                    Some(Entry { kind: Kind::File(old), .. }) if **old == *bytes => {
                        (Kind::File(old.clone()), mode)
                    }
                    _ => (Kind::File(bytes.into()), mode),
                },
                // A temporary file, gone meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
                Err(error) => return Err(error),
            }
        } else {
            return Err(io::Error::other(format!("{path} is no file, directory or link")));
        };
        let is_directory = kind == Kind::Directory;
        self.0.insert(path.to_owned(), Entry { mode, kind });
        if is_directory && with_content {
            for entry in fs::read_dir(&real)? {
                let name = entry?.file_name();
                self.add(before, root, &format!("{path}/{}", name.to_string_lossy()), true)?;
            }
        }
        Ok(())
    }

    /// Makes `root`, which holds `now`, hold this tree.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn write(&self, root: &Path, now: &Self) -> io::Result<()> {
        let real = |path: &str| root.join(path.trim_start_matches('/'));
        for (path, entry) in now.0.iter().rev() {
            if self.0.get(path).is_some_and(|wanted| wanted.is_same_kind(entry)) {
                continue;
            }
            match entry.kind {
                Kind::Directory => fs::remove_dir(real(path))?,
                Kind::File(_) | Kind::Link(_) => fs::remove_file(real(path))?,
            }
        }
        for (path, entry) in &self.0 {
            let old = now.0.get(path).filter(|old| old.is_same_kind(entry));
            if old == Some(entry) {
                continue;
            }
            match &entry.kind {
                Kind::Directory if old.is_none() => fs::create_dir(real(path))?,
                Kind::Directory => {}
                Kind::File(bytes) => fs::write(real(path), &**bytes)?,
                Kind::Link(target) => {
                    if old.is_some() {
                        fs::remove_file(real(path))?;
                    }
                    symlink(target, real(path))?;
                    continue;
                }
            }
            fs::set_permissions(real(path), fs::Permissions::from_mode(entry.mode))?;
        }
        Ok(())
    }

    /// A number that differs for different trees.
    pub fn digest(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.hash(&mut hasher);
        hasher.finish()
    }

    /// The bytes of a file.
    pub fn bytes(&self, path: &str) -> Option<&[u8]> {
        match &self.0.get(path)?.kind {
            Kind::File(bytes) => Some(bytes),
            Kind::Directory | Kind::Link(_) => None,
        }
    }

    /// Only the entries whose path is chosen.
    #[must_use]
    pub fn only(&self, is_chosen: impl Fn(&str) -> bool) -> Self {
        let chosen = self.0.iter().filter(|(path, _)| is_chosen(path));
        Self(chosen.map(|(path, entry)| (path.clone(), entry.clone())).collect())
    }

    /// The entries below a directory, with their paths from there.
    #[must_use]
    pub fn below(&self, directory: &str) -> Self {
        let inside = self.0.iter().filter_map(|(path, entry)| {
            let path = path.strip_prefix(directory).filter(|path| path.starts_with('/'))?;
            Some((path.to_owned(), entry.clone()))
        });
        Self(inside.collect())
    }

    /// The first difference from `expected`, in words.
    pub fn difference(&self, expected: &Self) -> Option<String> {
        let paths = expected.0.keys().chain(self.0.keys());
        paths.into_iter().find_map(|path| match (self.0.get(path), expected.0.get(path)) {
            (Some(_), None) => Some(format!("{path} exists")),
            (None, Some(_)) => Some(format!("{path} is missing")),
            (Some(it), Some(other)) if it.kind != other.kind => {
                Some(format!("{path} has other content"))
            }
            (Some(it), Some(other)) if it.mode != other.mode => {
                Some(format!("{path} has mode {:o}, not {:o}", it.mode, other.mode))
            }
            _ => None,
        })
    }
}

impl Entry {
    fn is_same_kind(&self, other: &Self) -> bool {
        std::mem::discriminant(&self.kind) == std::mem::discriminant(&other.kind)
    }
}
