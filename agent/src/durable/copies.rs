//! Copying and restoring the files that a transaction may change. Needs no NetworkManager.

use std::{
    fs, io,
    os::unix::fs::PermissionsExt as _,
    path::{Component, Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::{
    file::{self, FileError, Result, Staged},
    label,
    protected::{DocumentNames, PROTECTED, ProtectedKind},
};
use crate::paths::{Paths, cannot};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Saved {
    name: String,
    mode: u32,
    /// The SELinux label of a path that is a single file: it need not be that of its directory's files. Version 0.2 does
    /// not write it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    label: Option<String>,
}

/// The state of a protected path before the transaction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Was {
    Absent,
    File(Saved),
    Directory(Vec<Saved>),
}

/// A protected path with everything needed to restore it: another version of the agent may protect
/// other paths.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct ProtectedCopy {
    path: String,
    kind: ProtectedKind,
    is_volatile: bool,
    was: Was,
    store: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct Manifest {
    scope: DocumentNames,
    entries: Vec<ProtectedCopy>,
}

impl Manifest {
    fn read(from: &Path) -> Result<Self> {
        let path = from.join(MANIFEST);
        let Some(manifest) = file::read_json::<Self>(&path)? else {
            return Err(cannot("read", &path)(io::ErrorKind::NotFound.into()).into());
        };
        match manifest.entries.iter().find_map(ProtectedCopy::outside) {
            Some(name) => Err(FileError::Outside { path, name: name.to_owned() }),
            None => Ok(manifest),
        }
    }
}

impl ProtectedCopy {
    /// A name that leads elsewhere than below the root, or below the directories of copies.
    fn outside(&self) -> Option<&str> {
        let saved = match &self.was {
            Was::Absent => &[][..],
            Was::File(saved) => std::slice::from_ref(saved),
            Was::Directory(all) => all,
        };
        let mut names = saved.iter().map(|saved| &*saved.name).chain([&*self.store]);
        let is_below = |path: &str| {
            let mut parts = Path::new(path.trim_start_matches('/')).components();
            parts.all(|part| matches!(part, Component::Normal(_)))
        };
        (!is_below(&self.path))
            .then_some(&*self.path)
            .or_else(|| names.find(|name| name.contains('/') || !is_below(name)))
    }
}

const MANIFEST: &str = "manifest.json";

/// Durably copies the files that the document may overwrite into `to`, a new directory.
pub(crate) fn save(paths: &Paths, to: &Path, scope: &DocumentNames) -> Result {
    file::create_new_dir(to)?;
    let mut entries = Vec::new();
    for (i, protected) in PROTECTED.iter().enumerate() {
        let (store, kind) = (i.to_string(), protected.kind);
        let was = save_one(&paths.under(protected.path), &to.join(&store), kind, scope)?;
        let (path, is_volatile) = (protected.path.to_owned(), protected.is_volatile);
        entries.push(ProtectedCopy { path, kind, is_volatile, was, store });
    }
    let manifest = Manifest { scope: scope.clone(), entries };
    file::write_new_json(&to.join(MANIFEST), &manifest)?;
    file::sync_dir(to)
}

fn save_one(path: &Path, store: &Path, kind: ProtectedKind, scope: &DocumentNames) -> Result<Was> {
    let read = cannot("read", path);
    let meta = match fs::symlink_metadata(path) {
        Ok(meta) => meta,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Was::Absent),
        Err(error) => return Err(read(error).into()),
    };
    if meta.is_file() {
        let label = label::read(path).unwrap_or_else(|error| {
            tracing::warn!(path = %path.display(), "cannot read its label: {error}");
            None
        });
        let saved = Saved { label, ..copy(path, store, "file")? };
        file::sync_dir(store)?;
        return Ok(Was::File(saved));
    }
    // A directory may be kept elsewhere. The path of a single file that is a link was made so by an administrator.
    if !(meta.is_dir() || (meta.is_symlink() && path.is_dir())) {
        return Ok(Was::Absent);
    }
    let mut all = Vec::new();
    for (name, file) in regular_files(path)? {
        if kind.may_write(&name, scope) {
            all.push(copy(&file, store, &name)?);
        }
    }
    if !all.is_empty() {
        file::sync_dir(store)?;
    }
    Ok(Was::Directory(all))
}

fn copy(from: &Path, store: &Path, name: &str) -> Result<Saved> {
    let read = cannot("read", from);
    let bytes = fs::read(from).map_err(read)?;
    let mode = fs::metadata(from).map_err(read)?.permissions().mode() & 0o7777;
    file::create_new_dir(store)?;
    file::write_new(&store.join(name), &bytes, 0o600)?;
    Ok(Saved { name: name.to_owned(), mode, label: None })
}

pub(super) fn regular_files(dir: &Path) -> Result<Vec<(String, PathBuf)>> {
    let read = cannot("read", dir);
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).map_err(read)? {
        let entry = entry.map_err(read)?;
        // NetworkManager follows a link to a profile, and puts a file in its place when it writes the profile.
        let kind = entry.file_type().map_err(read)?;
        if kind.is_file() || (kind.is_symlink() && entry.path().is_file()) {
            files.push((entry.file_name().to_string_lossy().into_owned(), entry.path()));
        }
    }
    files.sort_unstable();
    Ok(files)
}

/// Whether copies can be restored: their manifest is readable and names no other place.
pub(crate) fn check(from: &Path) -> Result {
    Manifest::read(from).map(drop)
}

/// Restores every path of the manifest, volatile ones (`/run`) only within the same boot. Returns
/// the changed paths. A failure does not stop the rest: the first error is returned at the end.
pub(crate) fn restore(paths: &Paths, from: &Path, same_boot: bool) -> Result<Vec<PathBuf>> {
    let manifest = Manifest::read(from)?;
    let mut touched = Vec::new();
    let mut first_error = None;
    for entry in manifest.entries.iter().filter(|entry| same_boot || !entry.is_volatile) {
        let path = paths.under(&entry.path);
        let store = from.join(&entry.store);
        if let Err(error) = restore_one(&path, entry, &store, &manifest.scope, &mut touched) {
            first_error = first_error.or(Some(error));
        }
    }
    first_error.map_or(Ok(touched), Err)
}

fn restore_one(
    path: &Path,
    entry: &ProtectedCopy,
    store: &Path,
    scope: &DocumentNames,
    touched: &mut Vec<PathBuf>,
) -> Result {
    // A path that is a single file is restored only if the document may write it.
    let is_ours = entry.kind.may_write("", scope);
    match &entry.was {
        Was::Absent if fs::symlink_metadata(path).is_ok_and(|m| m.is_dir()) => {
            remove_new(path, entry.kind, &[], scope, touched)
        }
        Was::Absent => {
            if is_ours && fs::symlink_metadata(path).is_ok_and(|m| m.is_file()) {
                file::remove_durably(path)?;
                touched.push(path.to_path_buf());
            }
            Ok(())
        }
        Was::File(saved) if is_ours => put_back(path, entry.kind, saved, store, touched),
        Was::File(_) => Ok(()),
        Was::Directory(all) => {
            let mut result = Ok(());
            for saved in all {
                let one = put_back(&path.join(&saved.name), entry.kind, saved, store, touched);
                result = result.and(one);
            }
            result.and(remove_new(path, entry.kind, all, scope, touched))
        }
    }
}

/// Removes files added by the transaction; files of other programs stay.
fn remove_new(
    dir: &Path,
    kind: ProtectedKind,
    known: &[Saved],
    scope: &DocumentNames,
    touched: &mut Vec<PathBuf>,
) -> Result {
    if !dir.is_dir() {
        return Ok(());
    }
    for (name, path) in regular_files(dir)? {
        if known.iter().any(|saved| saved.name == name) || !kind.may_write(&name, scope) {
            continue;
        }
        let bytes = file::read(&path)?.unwrap_or_default();
        if kind.is_written(&name, &bytes, scope) {
            file::remove(&path)?;
            touched.push(path);
        } else {
            tracing::info!(path = %path.display(), "appeared during the transaction and is not the document's");
        }
    }
    file::sync_dir(dir)
}

fn put_back(
    path: &Path,
    kind: ProtectedKind,
    saved: &Saved,
    store: &Path,
    touched: &mut Vec<PathBuf>,
) -> Result {
    let source = store.join(&saved.name);
    let missing = || cannot("read", &source)(io::ErrorKind::NotFound.into());
    let bytes = file::read(&source)?.ok_or_else(missing)?;
    let meta = fs::metadata(path).ok().filter(fs::Metadata::is_file);
    let is_same = meta.as_ref().is_some_and(|m| m.permissions().mode() & 0o7777 == saved.mode)
        && file::read(path)?.as_deref() == Some(&bytes);
    if is_same {
        return Ok(());
    }
    if let Some(dir) = path.parent() {
        file::create_dir(dir)?;
    }
    // A renamed file would get the SELinux type of the directory; the host name has its own type.
    // After a power cut in the middle this is repeated, as the journal is still open.
    let is_file = fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file());
    if kind == ProtectedKind::HostName && is_file {
        file::overwrite(path, &bytes, saved.mode)?;
    } else {
        let staged = Staged::new(path, &bytes, saved.mode)?;
        match &saved.label {
            Some(label) => staged.labelled(label).put()?,
            None => staged.put()?,
        }
    }
    touched.push(path.to_path_buf());
    Ok(())
}

#[cfg(test)]
mod tests;
