//! Files that survive a power cut: written beside their place, synced, renamed, the directory synced.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

use nmgen::chain;
use thiserror::Error;

use super::{label, omit};
use crate::paths::{PathError, cannot};

/// A file operation that failed.
#[derive(Debug, Error)]
pub(crate) enum FileError {
    #[error(transparent)]
    Path(#[from] PathError),
    #[error("cannot move {from} to {to}")]
    Rename { from: PathBuf, to: PathBuf, source: io::Error },
    #[error("{path} does not have this version's format")]
    Decode { path: PathBuf, source: serde_json::Error },
    #[error("{path} has format {found}; this version reads {known}")]
    Version { path: PathBuf, found: u32, known: u32 },
    #[error("{path} names {name:?}, which is no place of a copy")]
    Outside { path: PathBuf, name: String },
    #[error("cannot encode {path}")]
    Encode { path: PathBuf, source: serde_json::Error },
}

/// What an operation on a file comes to.
pub(crate) type Result<T = (), E = FileError> = std::result::Result<T, E>;

impl FileError {
    /// Whether the file was read but this version cannot use its content.
    pub(crate) fn is_unusable(&self) -> bool {
        matches!(self, Self::Decode { .. } | Self::Version { .. } | Self::Outside { .. })
    }
}

/// A complete, synced temporary file that only needs a rename. Created before a transaction, so
/// that a full or read-only file system fails before any change.
#[derive(Debug)]
pub(crate) struct Staged {
    temporary: PathBuf,
    target: PathBuf,
}

impl Staged {
    /// Writes `bytes` beside `target`.
    pub(crate) fn new(target: &Path, bytes: &[u8], mode: u32) -> Result<Self> {
        let name = target.file_name().unwrap_or_default().to_string_lossy();
        let temporary = target.with_file_name(format!(".{name}.dayone"));
        // Left by a crash; only the agent uses this name.
        match fs::remove_file(&temporary) {
            Ok(()) => {}
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(cannot("remove", &temporary)(error).into()),
        }
        let staged = Self { temporary, target: target.to_path_buf() };
        fill(OpenOptions::new().create_new(true), &staged.temporary, bytes, mode)
            .and_then(|file| file.sync_all())
            .map_err(cannot("write", target))?;
        Ok(staged)
    }

    /// Gives the file this SELinux label. A label that the policy refuses is no reason to leave the file away.
    pub(crate) fn labelled(self, label: &str) -> Self {
        if let Err(error) = label::write(&self.temporary, label) {
            tracing::warn!(path = %self.target.display(), label, "cannot give it its label: {error}");
        }
        self
    }

    /// Moves the file into place.
    pub(crate) fn put(self) -> Result {
        rename(&self.temporary, &self.target)
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        // After `put` no file has this name.
        let _ = fs::remove_file(&self.temporary);
    }
}

/// Replaces `target` by `bytes`, durably.
pub(crate) fn write(target: &Path, bytes: &[u8], mode: u32) -> Result {
    Staged::new(target, bytes, mode)?.put()
}

/// Writes and syncs a file in a directory that is not yet in use; its creator syncs the directory.
pub(crate) fn write_new(path: &Path, bytes: &[u8], mode: u32) -> Result {
    let filled = fill(OpenOptions::new().create_new(true), path, bytes, mode);
    let synced = filled.and_then(|file| match omit::is_omitted("sync-new-file") {
        true => Ok(()),
        false => file.sync_all(),
    });
    Ok(synced.map_err(cannot("write", path))?)
}

/// Overwrites an existing file, so that it keeps attributes such as its SELinux type. A power cut
/// in the middle leaves it half written.
pub(crate) fn overwrite(path: &Path, bytes: &[u8], mode: u32) -> Result {
    let filled = fill(OpenOptions::new().truncate(true), path, bytes, mode);
    Ok(filled.and_then(|file| file.sync_all()).map_err(cannot("write", path))?)
}

fn fill(how: &mut OpenOptions, path: &Path, bytes: &[u8], mode: u32) -> io::Result<File> {
    let mut file = how.write(true).mode(mode).open(path)?;
    file.set_permissions(fs::Permissions::from_mode(mode))?;
    file.write_all(bytes)?;
    Ok(file)
}

/// Moves an unusable file or directory aside for inspection, and returns its new path. Replaces one
/// set aside before.
pub(crate) fn set_aside(path: &Path) -> Result<PathBuf> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".damaged");
    let aside = path.with_file_name(name);
    // A file replaces a file. Two readers may find the same one damaged: the later one must not remove what the first has moved.
    if path.is_dir() || aside.is_dir() {
        remove(&aside)?;
    }
    rename(path, &aside)?;
    Ok(aside)
}

/// Reads JSON, `None` without a file; sets an undecodable file aside with a warning and returns
/// `None`: it must not keep a node from its network.
pub(crate) fn read_json_or_set_aside<T: serde::de::DeserializeOwned>(
    path: &Path,
) -> Result<Option<T>> {
    let error = match read_json(path) {
        Err(error @ FileError::Decode { .. }) => error,
        done => return done,
    };
    match set_aside(path) {
        Ok(aside) => {
            tracing::warn!("{}; it was moved to {}", chain(&error), aside.display());
        }
        // A reader without write permission; the next run of the agent moves the file.
        Err(refused) => tracing::warn!("{}; {}", chain(&error), chain(&refused)),
    }
    Ok(None)
}

/// Writes JSON like [`write_new`].
pub(crate) fn write_new_json<T: serde::Serialize>(path: &Path, value: &T) -> Result {
    write_new(path, &encode(path, value)?, 0o600)
}

/// Renames a directory or file, durably.
pub(crate) fn rename(from: &Path, to: &Path) -> Result {
    fs::rename(from, to).map_err(|source| FileError::Rename {
        from: from.to_path_buf(),
        to: to.to_path_buf(),
        source,
    })?;
    match to.parent() {
        Some(dir) => sync_dir(dir),
        None => Ok(()),
    }
}

/// Creates `path` and its parents durably; new ones have mode 0700.
pub(crate) fn create_dir(path: &Path) -> Result {
    if path.is_dir() {
        return Ok(());
    }
    if let Some(parent) = path.parent() {
        create_dir(parent)?;
    }
    create_new_dir(path)?;
    path.parent().map_or(Ok(()), sync_dir)
}

/// Creates a directory that is not yet in use, unless it exists; whoever puts it to use syncs the
/// directory above it.
pub(crate) fn create_new_dir(path: &Path) -> Result {
    use std::os::unix::fs::DirBuilderExt as _;
    match fs::DirBuilder::new().mode(0o700).create(path) {
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        made => Ok(made.map_err(cannot("create the directory", path))?),
    }
}

/// Makes the entries of `dir` durable.
pub(crate) fn sync_dir(dir: &Path) -> Result {
    Ok(File::open(dir).and_then(|d| d.sync_all()).map_err(cannot("sync", dir))?)
}

/// The file's bytes, `None` without a file.
pub(crate) fn read(path: &Path) -> Result<Option<Vec<u8>>> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(cannot("read", path)(error).into()),
    }
}

/// The file's permissions.
pub(crate) fn mode(path: &Path) -> Result<u32> {
    Ok(fs::metadata(path).map_err(cannot("read", path))?.permissions().mode() & 0o777)
}

/// Removes a file or a whole directory, if it exists.
pub(crate) fn remove(path: &Path) -> Result {
    let removed = match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(e) => Err(e),
    };
    match removed {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => Ok(removed.map_err(cannot("remove", path))?),
    }
}

/// Removes a file durably, if it exists.
pub(crate) fn remove_durably(path: &Path) -> Result {
    remove(path)?;
    match path.parent().filter(|parent| parent.is_dir()) {
        Some(parent) => sync_dir(parent),
        None => Ok(()),
    }
}

/// Reads a JSON file, `None` without a file.
pub(crate) fn read_json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<Option<T>> {
    match read(path)? {
        None => Ok(None),
        Some(bytes) => serde_json::from_slice(&bytes)
            .map(Some)
            .map_err(|source| FileError::Decode { path: path.to_path_buf(), source }),
    }
}

/// Writes a JSON file durably.
pub(crate) fn write_json<T: serde::Serialize>(path: &Path, value: &T, mode: u32) -> Result {
    write(path, &encode(path, value)?, mode)
}

fn encode<T: serde::Serialize>(path: &Path, value: &T) -> Result<Vec<u8>> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|source| FileError::Encode { path: path.to_path_buf(), source })?;
    Ok((nmgen::printable_json(text) + "\n").into_bytes())
}

#[cfg(test)]
mod tests {
    use super::{
        FileError, Staged, cannot, create_new_dir, read, read_json_or_set_aside, remove, write,
    };

    fn failed<T>(done: Result<T, FileError>) -> String {
        done.err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn staged_file_appears_only_when_put() -> Result<(), Box<dyn std::error::Error>> {
        let dir = tempfile::tempdir()?;
        let target = dir.path().join("applied");
        let staged = Staged::new(&target, b"a", 0o644)?;
        assert_eq!(read(&target)?, None);
        staged.put()?;
        assert_eq!(read(&target)?.as_deref(), Some(&b"a"[..]));
        drop(Staged::new(&target, b"b", 0o644)?);
        assert_eq!(read(&target)?.as_deref(), Some(&b"a"[..]));
        assert_eq!(std::fs::read_dir(dir.path())?.count(), 1);
        remove(&target)?;
        remove(&target)?;
        Ok(())
    }

    #[test]
    fn a_damaged_file_is_set_aside_and_read_as_none() -> Result<(), Box<dyn std::error::Error>> {
        let dir = tempfile::tempdir()?;
        let path = dir.path().join("record.json");
        for text in ["{\"half", "{}x"] {
            std::fs::write(&path, text)?;
            assert!(read_json_or_set_aside::<serde_json::Value>(&path)?.is_none());
            assert!(!path.exists());
            let aside = dir.path().join("record.json.damaged");
            // Of a reader that comes too late.
            assert!(super::set_aside(&path).is_err());
            assert_eq!(std::fs::read_to_string(aside)?, text);
        }
        Ok(())
    }

    #[test]
    fn a_place_that_is_taken_is_an_error() -> Result<(), Box<dyn std::error::Error>> {
        let dir = tempfile::tempdir()?;
        let target = dir.path().join("applied");
        std::fs::create_dir(dir.path().join(".applied.dayone"))?;
        assert!(failed(Staged::new(&target, b"a", 0o644)).starts_with("cannot remove "));
        Ok(())
    }

    #[test]
    fn names_the_path_that_failed() {
        let error = failed(write(std::path::Path::new("/nowhere/x"), b"", 0o600));
        assert_eq!(error, "cannot write /nowhere/x");
    }

    #[test]
    fn only_a_missing_file_is_none() -> Result<(), Box<dyn std::error::Error>> {
        let dir = tempfile::tempdir()?;
        let (file, missing) = (dir.path().join("file"), dir.path().join("missing"));
        std::fs::write(&file, "a")?;
        assert_eq!(read(&missing)?, None);
        assert_eq!(read(&file.join("below"))?, None);
        assert!(failed(read(dir.path())).starts_with("cannot read "));
        remove(&missing)?;
        assert!(failed(remove(&file.join("below"))).starts_with("cannot remove "));
        create_new_dir(&missing)?;
        create_new_dir(&missing)?;
        assert!(failed(create_new_dir(&file)).starts_with("cannot create the directory "));
        Ok(())
    }

    #[test]
    fn only_content_makes_a_file_unusable() {
        let path = std::path::PathBuf::new();
        let source = std::io::Error::other("why");
        assert!(!FileError::from(cannot("read", &path)(source)).is_unusable());
        assert!(FileError::Version { path, found: 2, known: 1 }.is_unusable());
    }
}
