//! Writes all files. Guarantees: readers see the old file or the new one, even after a power failure;
//! all files of a call are staged before the first is replaced; and nothing is written outside the
//! target, regardless of symbolic links in it.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{OFlag, open, openat, renameat};
use nix::sys::stat::{Mode, mkdirat};
use nix::unistd::{UnlinkatFlags, unlinkat};
use nmgen_document::error::Error;

/// A file to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// The directories below the output directory, each a single name.
    pub directories: Vec<String>,
    /// The file's name, without a separator.
    pub name: String,
    /// Its bytes; text in all forms of output but archives.
    pub content: Vec<u8>,
}

impl File {
    /// The path below the output directory.
    pub fn path(&self) -> String {
        let mut path = self.directories.join("/");
        if !path.is_empty() {
            path.push('/');
        }
        path + &self.name
    }
}

/// Files, and the directory that they are written below.
pub struct Target {
    root: PathBuf,
    files: Vec<File>,
}

impl Target {
    /// The directory that the files are written below.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The files.
    pub fn files(&self) -> &[File] {
        &self.files
    }
}

/// Writes `files` below `root`, which is created if missing: directories 0700, files 0600.
///
/// # Errors
/// On an error no file has been replaced, unless the replacement itself failed.
pub fn write(root: &Path, files: &[File]) -> Result<(), Error> {
    write_each(&[(root, files)], PRIVATE)
}

/// Like [`write()`], with several directories.
pub fn write_all(targets: &[Target]) -> Result<(), Error> {
    let targets: Vec<_> = targets.iter().map(|it| (it.root.as_path(), &*it.files)).collect();
    write_each(&targets, PRIVATE)
}

/// The mode of files that may hold secrets.
const PRIVATE: u32 = 0o600;

fn write_each(targets: &[(&Path, &[File])], mode: u32) -> Result<(), Error> {
    let mut trees = Vec::with_capacity(targets.len());
    let staged = targets.iter().try_for_each(|(root, files)| {
        let mut tree = Tree::open(root)?;
        let staged = files.iter().try_for_each(|file| tree.stage(file, mode));
        trees.push(tree);
        staged
    });
    let placed = staged.and_then(|()| trees.iter_mut().try_for_each(Tree::place));
    if placed.is_err() {
        trees.iter_mut().for_each(Tree::discard);
    }
    placed
}

/// Files below a directory.
pub fn below(root: &Path, files: Vec<File>) -> Target {
    Target { root: root.to_owned(), files }
}

/// One file at a path.
pub fn at(path: &Path, content: Vec<u8>) -> Result<Target, Error> {
    let shown = || path.display().to_string();
    let not_a_file = || Error::WriteFile { path: shown(), source: Errno::EISDIR.into() };
    let name = path.file_name().ok_or_else(not_a_file)?.to_string_lossy().into_owned();
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    // The path to the file may contain links; the file itself is replaced.
    let parent = parent
        .unwrap_or(Path::new("."))
        .canonicalize()
        .map_err(|source| Error::WriteFile { path: shown(), source })?;
    Ok(below(&parent, vec![File { directories: Vec::new(), name, content }]))
}

/// Writes or replaces one file, mode 0600.
pub fn write_file(path: &Path, content: Vec<u8>) -> Result<(), Error> {
    write_all(&[at(path, content)?])
}

/// Writes or replaces one file, mode 0644.
pub fn write_readable(path: &Path, content: Vec<u8>) -> Result<(), Error> {
    let Target { root, files } = at(path, content)?;
    write_each(&[(&root, &files)], 0o644)
}

/// Creates a directory, mode 0755, and its ancestors, unless it exists.
pub fn directory(path: &Path) -> Result<(), Error> {
    create_durably(path, 0o755)
        .map_err(|source| Error::CreateDirectory { path: path.display().to_string(), source })
}

/// A new directory survives a power failure once its parent is synced.
fn create_durably(path: &Path, mode: u32) -> io::Result<()> {
    let is_missing = |it: &&Path| !it.as_os_str().is_empty() && !it.exists();
    let missing: Vec<&Path> = path.ancestors().take_while(is_missing).collect();
    DirBuilder::new().recursive(true).mode(mode).create(path)?;
    let parents = missing.iter().filter_map(|it| it.parent());
    parents
        .map(|it| if it.as_os_str().is_empty() { Path::new(".") } else { it })
        .try_for_each(|parent| fs::File::open(parent)?.sync_all())
}

/// Open directories below the target, by their path from it.
struct Tree {
    root: PathBuf,
    directories: BTreeMap<Vec<String>, fs::File>,
    /// Directories made by this call, parents first.
    made: Vec<Vec<String>>,
    staged: Vec<Staged>,
}

struct Staged {
    directory: Vec<String>,
    temporary: String,
    name: String,
}

impl Tree {
    fn open(root: &Path) -> Result<Self, Error> {
        let shown = root.display().to_string();
        create_durably(root, 0o700)
            .map_err(|source| Error::CreateDirectory { path: shown.clone(), source })?;
        // A trailing slash would follow a link despite O_NOFOLLOW.
        let last: PathBuf = root.components().collect();
        let directory = open(&last, directory_flags(), Mode::empty())
            .map_err(|errno| not_directory(shown, errno))?;
        let directories = BTreeMap::from([(Vec::new(), fs::File::from(directory))]);
        Ok(Self { root: last, directories, made: Vec::new(), staged: Vec::new() })
    }

    /// Opens a directory below the target, one component at a time, so that no link is followed.
    fn descend(&mut self, path: &[String]) -> Result<(), Error> {
        for depth in 1..=path.len() {
            let (here, parent) = (&path[..depth], &path[..depth - 1]);
            if self.directories.contains_key(here) {
                continue;
            }
            let (Some(parent), Some(name)) = (self.directories.get(parent), here.last()) else {
                continue;
            };
            let shown = self.shown(here, None);
            match mkdirat(parent, name.as_str(), Mode::S_IRWXU) {
                Ok(()) => self.made.push(here.to_vec()),
                Err(Errno::EEXIST) => {}
                Err(errno) => {
                    return Err(Error::CreateDirectory { path: shown, source: errno.into() });
                }
            }
            let directory = openat(parent, name.as_str(), directory_flags(), Mode::empty())
                .map_err(|errno| not_directory(shown, errno))?;
            self.directories.insert(here.to_vec(), fs::File::from(directory));
        }
        Ok(())
    }

    /// Writes the text to a temporary file beside its final place, and syncs it with its mode.
    fn stage(&mut self, file: &File, mode: u32) -> Result<(), Error> {
        self.descend(&file.directories)?;
        let temporary = format!(".{}.{}", file.name, std::process::id());
        let failed = |source: io::Error| Error::WriteFile {
            path: self.shown(&file.directories, Some(&file.name)),
            source,
        };
        let Some(directory) = self.directories.get(&file.directories) else {
            return Err(failed(Errno::ENOENT.into()));
        };
        let flags =
            OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        let private = Mode::from_bits_truncate(PRIVATE);
        let create = || openat(directory, temporary.as_str(), flags, private);
        let mut handle = create();
        if matches!(handle, Err(Errno::EEXIST)) {
            // Left by a killed call with this process's id.
            handle = unlinkat(directory, temporary.as_str(), UnlinkatFlags::NoRemoveDir)
                .and_then(|()| create());
        }
        let handle = handle.map_err(|errno| failed(errno.into()))?;
        let mut handle = fs::File::from(handle);
        let written = handle.write_all(&file.content);
        let written = match mode {
            PRIVATE => written,
            // Regardless of the caller's umask.
            _ => written.and_then(|()| handle.set_permissions(Permissions::from_mode(mode))),
        };
        let written = written.and_then(|()| handle.sync_all());
        let written = written.map_err(failed);
        self.staged.push(Staged {
            directory: file.directories.clone(),
            temporary,
            name: file.name.clone(),
        });
        written
    }

    /// Renames every staged file to its name, then makes the directories durable.
    fn place(&mut self) -> Result<(), Error> {
        while let Some(staged) = self.staged.pop() {
            let Some(directory) = self.directories.get(&staged.directory) else { continue };
            let renamed =
                renameat(directory, staged.temporary.as_str(), directory, staged.name.as_str());
            if let Err(errno) = renamed {
                let path = self.shown(&staged.directory, Some(&staged.name));
                self.staged.push(staged);
                return Err(Error::WriteFile { path, source: errno.into() });
            }
        }
        self.made.clear();
        for (path, directory) in self.directories.iter().rev() {
            directory
                .sync_all()
                .map_err(|source| Error::WriteFile { path: self.shown(path, None), source })?;
        }
        Ok(())
    }

    /// Removes the staged files of a failed call; only the call's own error is reported.
    fn discard(&mut self) {
        for staged in self.staged.drain(..) {
            if let Some(directory) = self.directories.get(&staged.directory) {
                let _ = unlinkat(directory, staged.temporary.as_str(), UnlinkatFlags::NoRemoveDir);
            }
        }
        for path in self.made.drain(..).rev() {
            let Some((name, parent)) = path.split_last() else { continue };
            if let Some(parent) = self.directories.get(parent) {
                let _ = unlinkat(parent, name.as_str(), UnlinkatFlags::RemoveDir);
            }
        }
    }

    fn shown(&self, directories: &[String], name: Option<&str>) -> String {
        let mut path = self.root.clone();
        path.extend(directories);
        path.extend(name);
        path.display().to_string()
    }
}

fn directory_flags() -> OFlag {
    OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC
}

fn not_directory(path: String, errno: Errno) -> Error {
    if matches!(errno, Errno::ELOOP | Errno::ENOTDIR) {
        Error::TargetNotDirectory { path, source: errno.into() }
    } else {
        Error::CreateDirectory { path, source: errno.into() }
    }
}
