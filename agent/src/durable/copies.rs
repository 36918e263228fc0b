//! Copies of the files a transaction may change, and their return. Needs no NetworkManager.

use std::{
    fs, io,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::file::{self, FileError};
use crate::paths::Paths;

/// One file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Saved {
    name: String,
    mode: u32,
}

/// What a protected path was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Was {
    Absent,
    File(Saved),
    Directory(Vec<Saved>),
}

const MANIFEST: &str = "manifest.json";

/// Copies every protected path into `to` (a new directory), durably.
pub(crate) fn save(paths: &Paths, to: &Path) -> Result<(), FileError> {
    file::create_dir(to)?;
    let mut manifest = Vec::new();
    for (i, (path, _)) in paths.protected().iter().enumerate() {
        let store = to.join(i.to_string());
        manifest.push(save_one(path, &store)?);
    }
    file::write_new_json(&to.join(MANIFEST), &manifest)?;
    file::sync_dir(to)
}

fn save_one(path: &Path, store: &Path) -> Result<Was, FileError> {
    let read = |source| FileError::Read { path: path.to_path_buf(), source };
    let meta = match fs::symlink_metadata(path) {
        Ok(meta) => meta,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Was::Absent),
        Err(source) => return Err(read(source)),
    };
    if meta.is_file() {
        let saved = copy(path, store, "file")?;
        file::sync_dir(store)?;
        return Ok(Was::File(saved));
    }
    if !meta.is_dir() {
        // A link is somebody's own arrangement, and NetworkManager replaces none.
        return Ok(Was::Absent);
    }
    let mut all = Vec::new();
    for file in regular_files(path)? {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        all.push(copy(&file, store, &name)?);
    }
    if !all.is_empty() {
        file::sync_dir(store)?;
    }
    Ok(Was::Directory(all))
}

fn copy(from: &Path, store: &Path, name: &str) -> Result<Saved, FileError> {
    let read = |source| FileError::Read { path: from.to_path_buf(), source };
    let bytes = fs::read(from).map_err(read)?;
    let mode = fs::metadata(from).map_err(read)?.permissions().mode() & 0o7777;
    file::create_dir(store)?;
    file::write_new(&store.join(name), &bytes)?;
    Ok(Saved { name: name.to_owned(), mode })
}

fn regular_files(dir: &Path) -> Result<Vec<PathBuf>, FileError> {
    let read = |source| FileError::Read { path: dir.to_path_buf(), source };
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).map_err(read)? {
        let entry = entry.map_err(read)?;
        if entry.file_type().map_err(read)?.is_file() {
            files.push(entry.path());
        }
    }
    files.sort_unstable();
    Ok(files)
}

/// Makes every protected path what it was. Volatile ones (`/run`) only within the same boot.
/// Returns the paths that had to be touched. One failure does not stop the rest: the first error
/// is returned at the end.
pub(crate) fn restore(
    paths: &Paths,
    from: &Path,
    same_boot: bool,
) -> Result<Vec<PathBuf>, FileError> {
    let manifest: Vec<Was> = file::read_json(&from.join(MANIFEST))?.unwrap_or_default();
    let mut touched = Vec::new();
    let mut first_error = None;
    for (i, ((path, durable_path), was)) in paths.protected().iter().zip(&manifest).enumerate() {
        if !durable_path && !same_boot {
            continue;
        }
        let store = from.join(i.to_string());
        if let Err(error) = restore_one(path, was, &store, &mut touched) {
            first_error = first_error.or(Some(error));
        }
    }
    first_error.map_or(Ok(touched), Err)
}

fn restore_one(
    path: &Path,
    was: &Was,
    store: &Path,
    touched: &mut Vec<PathBuf>,
) -> Result<(), FileError> {
    match was {
        Was::Absent => {
            let is_file = fs::symlink_metadata(path).is_ok_and(|m| m.is_file());
            if is_file {
                file::remove(path)?;
                touched.push(path.to_path_buf());
            } else if path.is_dir() {
                remove_unknown(path, &[], touched)?;
            }
            Ok(())
        }
        Was::File(saved) => put_back(path, saved, store, touched),
        Was::Directory(all) => {
            let mut result = Ok(());
            for saved in all {
                let one = put_back(&path.join(&saved.name), saved, store, touched);
                result = result.and(one);
            }
            result.and(remove_unknown(path, all, touched))
        }
    }
}

fn remove_unknown(
    dir: &Path,
    known: &[Saved],
    touched: &mut Vec<PathBuf>,
) -> Result<(), FileError> {
    for file in regular_files(dir)? {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        if !known.iter().any(|k| *k.name == *name) {
            file::remove(&file)?;
            touched.push(file);
        }
    }
    file::sync_dir(dir)
}

fn put_back(
    path: &Path,
    saved: &Saved,
    store: &Path,
    touched: &mut Vec<PathBuf>,
) -> Result<(), FileError> {
    let source = store.join(&saved.name);
    let bytes = file::read(&source)?
        .ok_or_else(|| FileError::Read { path: source, source: io::ErrorKind::NotFound.into() })?;
    let same = fs::symlink_metadata(path)
        .is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o7777 == saved.mode)
        && file::read(path)?.as_deref() == Some(&bytes);
    if same {
        return Ok(());
    }
    if let Some(dir) = path.parent() {
        file::create_dir(dir)?;
    }
    file::write(path, &bytes, saved.mode)?;
    touched.push(path.to_path_buf());
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{restore, save};
    use crate::paths::Paths;

    #[test]
    fn edited_deleted_and_new_profiles_are_undone() -> Result<(), Box<dyn std::error::Error>> {
        let root = tempfile::tempdir()?;
        let paths = Paths::new(root.path());
        let dir = paths.under("/etc/NetworkManager/system-connections");
        fs::create_dir_all(&dir)?;
        fs::create_dir_all(paths.state_dir())?;
        fs::write(dir.join("a.nmconnection"), "a")?;
        fs::write(dir.join("b.nmconnection"), "b")?;
        std::os::unix::fs::symlink("/dev/null", dir.join("masked"))?;
        let copies = paths.state_dir().join("copies");
        save(&paths, &copies)?;
        assert!(restore(&paths, &copies, true)?.is_empty());

        fs::write(dir.join("a.nmconnection"), "edited")?;
        fs::remove_file(dir.join("b.nmconnection"))?;
        fs::write(dir.join("br-ex-br.nmconnection"), "new")?;
        fs::write(paths.under("/etc/hostname"), "new")?;
        let run = paths.under("/run/NetworkManager/system-connections");
        fs::create_dir_all(&run)?;
        fs::write(run.join("volatile"), "x")?;

        assert_eq!(restore(&paths, &copies, false)?.len(), 4);
        assert!(run.join("volatile").exists());
        assert_eq!(restore(&paths, &copies, true)?.len(), 1);
        assert_eq!(fs::read_to_string(dir.join("a.nmconnection"))?, "a");
        assert_eq!(fs::read_to_string(dir.join("b.nmconnection"))?, "b");
        assert_eq!(fs::read_dir(&dir)?.count(), 3);
        assert!(!paths.under("/etc/hostname").exists());
        assert!(restore(&paths, &copies, true)?.is_empty());
        Ok(())
    }
}
