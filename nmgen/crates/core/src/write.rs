//! Writes all files. Guarantees: readers see the old file or the new one, even after a power failure;
//! all files of a call are staged before the first is replaced; and nothing is written outside the
//! target, regardless of symbolic links in it. A call that was killed leaves files beside their places;
//! the next one removes them.

mod leftover;
pub mod stream;

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{OFlag, open, openat, renameat};
use nix::sys::stat::{Mode, mkdirat};
use nix::unistd::{UnlinkatFlags, syncfs, unlinkat};
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
    let targets: Vec<_> =
        targets.iter().map(|target| (target.root.as_path(), &*target.files)).collect();
    write_each(&targets, PRIVATE)
}

/// The mode of files that may hold secrets.
const PRIVATE: u32 = 0o600;

/// The most files of a call that are synced one by one: each waits for the disk. More are synced with their file system, which
/// may hold other programs' data too, but waits once.
const ONE_BY_ONE: usize = 16;

/// The way that a call's files reach the disk.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sync {
    OneByOne,
    FileSystem,
}

fn write_each(targets: &[(&Path, &[File])], mode: u32) -> Result<(), Error> {
    let number: usize = targets.iter().map(|(_, files)| files.len()).sum();
    let sync = if number > ONE_BY_ONE { Sync::FileSystem } else { Sync::OneByOne };
    let mut trees = Vec::with_capacity(targets.len());
    let staged = targets.iter().try_for_each(|(root, files)| {
        trees.push(Tree::open(root)?);
        let Some(tree) = trees.last_mut() else { return Ok(()) };
        files.iter().try_for_each(|file| tree.stage(file, mode, sync))
    });
    // A name must not reach the disk before its data.
    let synced = staged.and_then(|()| sync_file_systems(&trees, sync));
    let placed = synced.and_then(|()| trees.iter_mut().try_for_each(Tree::place));
    if placed.is_err() {
        trees.iter_mut().for_each(Tree::discard);
        return placed;
    }
    match sync {
        Sync::OneByOne => trees.iter_mut().try_for_each(Tree::sync_directories),
        Sync::FileSystem => sync_file_systems(&trees, sync),
    }
}

/// Waits until everything on the trees' file systems is on the disk.
fn sync_file_systems(trees: &[Tree], sync: Sync) -> Result<(), Error> {
    let mut synced = Vec::new();
    for tree in trees.iter().filter(|_| sync == Sync::FileSystem) {
        for (device, directory) in &tree.file_systems {
            if !synced.contains(device) {
                synced.push(*device);
                syncfs(directory).map_err(|errno| tree.not_written(&[], None, errno.into()))?;
            }
        }
    }
    Ok(())
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

/// Writes one file at a path that a person gives: into what is no regular file, else in its place with mode 0600.
pub fn write_given(path: &Path, content: Vec<u8>) -> Result<(), Error> {
    if stream::is_stream(path) { stream::pour(path, &content) } else { write_file(path, content) }
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
    let is_missing = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
    let missing: Vec<&Path> = path.ancestors().take_while(is_missing).collect();
    DirBuilder::new().recursive(true).mode(mode).create(path)?;
    let parents = missing.iter().filter_map(|directory| directory.parent());
    parents
        .map(|parent| if parent.as_os_str().is_empty() { Path::new(".") } else { parent })
        .try_for_each(|parent| fs::File::open(parent)?.sync_all())
}

/// Directories and files below the target.
struct Tree {
    root: PathBuf,
    top: fs::File,
    /// The way to the last directory, open, each after its parent. No other is: a process may have 1024 open files.
    way: Vec<(String, fs::File)>,
    /// Each directory that the call uses, by its path from the target.
    used: BTreeSet<String>,
    /// The device number of each file system, and a directory on it.
    file_systems: Vec<(u64, fs::File)>,
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
        let top = open(&last, directory_flags(), Mode::empty())
            .map_err(|errno| not_directory(shown, errno))?;
        let top = fs::File::from(top);
        let mut tree = Self {
            root: last,
            file_systems: Vec::new(),
            way: Vec::new(),
            used: BTreeSet::new(),
            made: Vec::new(),
            staged: Vec::new(),
            top,
        };
        tree.note_file_system().map_err(|source| tree.not_written(&[], None, source))?;
        leftover::remove(&tree.root, &tree.top);
        Ok(tree)
    }

    /// The last directory of the way.
    fn last(&self) -> &fs::File {
        self.way.last().map_or(&self.top, |(_, directory)| directory)
    }

    fn note_file_system(&mut self) -> io::Result<()> {
        let device = self.last().metadata()?.dev();
        if self.file_systems.iter().all(|(known, _)| *known != device) {
            let directory = self.last().try_clone()?;
            self.file_systems.push((device, directory));
        }
        Ok(())
    }

    /// Opens a directory below the target, one component at a time, so that no link is followed; makes it at its first use.
    fn directory(&mut self, path: &[String]) -> Result<&fs::File, Error> {
        let open =
            self.way.iter().zip(path).take_while(|((name, _), wanted)| name == *wanted).count();
        self.way.truncate(open);
        for depth in open..path.len() {
            let (here, name) = (&path[..=depth], path[depth].as_str());
            let is_first = self.used.insert(here.join("/"));
            let made = match is_first {
                true => mkdirat(self.last(), name, Mode::S_IRWXU),
                false => Err(Errno::EEXIST),
            };
            if made.is_ok() {
                self.made.push(here.to_vec());
            }
            let opened = match made {
                Ok(()) | Err(Errno::EEXIST) => {
                    openat(self.last(), name, directory_flags(), Mode::empty())
                }
                Err(errno) => Err(errno),
            };
            let opened = opened.map_err(|errno| not_directory(self.shown(here, None), errno))?;
            self.way.push((name.to_owned(), opened.into()));
            if is_first {
                self.note_file_system().map_err(|source| self.not_written(here, None, source))?;
                if made.is_err() {
                    leftover::remove(&self.path(here, None), self.last());
                }
            }
        }
        Ok(self.last())
    }

    /// Writes the text to a temporary file beside its final place, with its mode.
    fn stage(&mut self, file: &File, mode: u32, sync: Sync) -> Result<(), Error> {
        let temporary = leftover::temporary(&file.name);
        let directory = self.directory(&file.directories)?;
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
        let failed =
            |tree: &Self, source| tree.not_written(&file.directories, Some(&file.name), source);
        let handle = handle.map_err(|errno| failed(self, errno.into()))?;
        let mut handle = fs::File::from(handle);
        let written = handle.write_all(&file.content);
        let written = match mode {
            PRIVATE => written,
            // Regardless of the caller's umask.
            _ => written.and_then(|()| handle.set_permissions(Permissions::from_mode(mode))),
        };
        let written = match sync {
            Sync::OneByOne => written.and_then(|()| handle.sync_all()),
            Sync::FileSystem => written,
        };
        self.staged.push(Staged {
            directory: file.directories.clone(),
            temporary,
            name: file.name.clone(),
        });
        written.map_err(|source| failed(self, source))
    }

    /// Renames every staged file to its name.
    fn place(&mut self) -> Result<(), Error> {
        while let Some(staged) = self.staged.pop() {
            let renamed = self.directory(&staged.directory).map(|directory| {
                renameat(directory, staged.temporary.as_str(), directory, staged.name.as_str())
            });
            let renamed = renamed.and_then(|renamed| {
                renamed.map_err(|errno| {
                    self.not_written(&staged.directory, Some(&staged.name), errno.into())
                })
            });
            if renamed.is_err() {
                self.staged.push(staged);
                return renamed;
            }
        }
        self.made.clear();
        Ok(())
    }

    /// Makes the names durable, those of a directory before its own.
    fn sync_directories(&mut self) -> Result<(), Error> {
        for path in std::mem::take(&mut self.used).iter().rev() {
            let path: Vec<_> = path.split('/').map(str::to_owned).collect();
            let synced = self.directory(&path)?.sync_all();
            synced.map_err(|source| self.not_written(&path, None, source))?;
        }
        self.top.sync_all().map_err(|source| self.not_written(&[], None, source))
    }

    /// Removes the staged files of a failed call; only the call's own error is reported.
    fn discard(&mut self) {
        for staged in std::mem::take(&mut self.staged) {
            if let Ok(directory) = self.directory(&staged.directory) {
                let _ = unlinkat(directory, staged.temporary.as_str(), UnlinkatFlags::NoRemoveDir);
            }
        }
        for path in std::mem::take(&mut self.made).into_iter().rev() {
            let Some((name, parent)) = path.split_last() else { continue };
            if let Ok(parent) = self.directory(parent) {
                let _ = unlinkat(parent, name.as_str(), UnlinkatFlags::RemoveDir);
            }
        }
    }

    fn not_written(&self, directories: &[String], name: Option<&str>, source: io::Error) -> Error {
        Error::WriteFile { path: self.shown(directories, name), source }
    }

    fn path(&self, directories: &[String], name: Option<&str>) -> PathBuf {
        let mut path = self.root.clone();
        path.extend(directories);
        path.extend(name);
        path
    }

    fn shown(&self, directories: &[String], name: Option<&str>) -> String {
        self.path(directories, name).display().to_string()
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
