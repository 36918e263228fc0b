//! Copying and restoring the files that a transaction may change. Needs no NetworkManager.

use std::{
    fs, io,
    os::unix::fs::PermissionsExt as _,
    path::{Component, Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::{
    file::{self, FileError},
    protected::{Kind, PROTECTED, Scope},
};
use crate::paths::Paths;

/// One file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Saved {
    name: String,
    mode: u32,
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
struct Entry {
    path: String,
    kind: Kind,
    is_volatile: bool,
    was: Was,
    /// Directory of the copies.
    store: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct Manifest {
    scope: Scope,
    entries: Vec<Entry>,
}

impl Manifest {
    fn read(from: &Path) -> Result<Self, FileError> {
        let path = from.join(MANIFEST);
        let Some(manifest) = file::read_json::<Self>(&path)? else {
            return Err(FileError::Read { path, source: io::ErrorKind::NotFound.into() });
        };
        match manifest.entries.iter().find_map(Entry::outside) {
            Some(name) => Err(FileError::Outside { path, name: name.to_owned() }),
            None => Ok(manifest),
        }
    }
}

impl Entry {
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
pub(crate) fn save(paths: &Paths, to: &Path, scope: &Scope) -> Result<(), FileError> {
    file::create_new_dir(to)?;
    let mut entries = Vec::new();
    for (i, protected) in PROTECTED.iter().enumerate() {
        let (store, kind) = (i.to_string(), protected.kind);
        let was = save_one(&protected.under(paths), &to.join(&store), kind, scope)?;
        let (path, is_volatile) = (protected.path.to_owned(), protected.is_volatile);
        entries.push(Entry { path, kind, is_volatile, was, store });
    }
    let manifest = Manifest { scope: scope.clone(), entries };
    file::write_new_json(&to.join(MANIFEST), &manifest)?;
    file::sync_dir(to)
}

fn save_one(path: &Path, store: &Path, kind: Kind, scope: &Scope) -> Result<Was, FileError> {
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
        // A link was made by an administrator; NetworkManager never replaces one.
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

fn copy(from: &Path, store: &Path, name: &str) -> Result<Saved, FileError> {
    let read = |source| FileError::Read { path: from.to_path_buf(), source };
    let bytes = fs::read(from).map_err(read)?;
    let mode = fs::metadata(from).map_err(read)?.permissions().mode() & 0o7777;
    file::create_new_dir(store)?;
    file::write_new(&store.join(name), &bytes, 0o600)?;
    Ok(Saved { name: name.to_owned(), mode })
}

pub(super) fn regular_files(dir: &Path) -> Result<Vec<(String, PathBuf)>, FileError> {
    let read = |source| FileError::Read { path: dir.to_path_buf(), source };
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).map_err(read)? {
        let entry = entry.map_err(read)?;
        if entry.file_type().map_err(read)?.is_file() {
            files.push((entry.file_name().to_string_lossy().into_owned(), entry.path()));
        }
    }
    files.sort_unstable();
    Ok(files)
}

/// Whether copies can be restored: their manifest is readable and names no other place.
pub(crate) fn check(from: &Path) -> Result<(), FileError> {
    Manifest::read(from).map(drop)
}

/// Restores every path of the manifest, volatile ones (`/run`) only within the same boot. Returns
/// the changed paths. A failure does not stop the rest: the first error is returned at the end.
pub(crate) fn restore(
    paths: &Paths,
    from: &Path,
    same_boot: bool,
) -> Result<Vec<PathBuf>, FileError> {
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
    entry: &Entry,
    store: &Path,
    scope: &Scope,
    touched: &mut Vec<PathBuf>,
) -> Result<(), FileError> {
    // A path that is a single file is restored only if the document may write it.
    let is_ours = entry.kind.may_write("", scope);
    match &entry.was {
        Was::Absent if path.is_dir() => remove_new(path, entry.kind, &[], scope, touched),
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
    kind: Kind,
    known: &[Saved],
    scope: &Scope,
    touched: &mut Vec<PathBuf>,
) -> Result<(), FileError> {
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
    kind: Kind,
    saved: &Saved,
    store: &Path,
    touched: &mut Vec<PathBuf>,
) -> Result<(), FileError> {
    let source = store.join(&saved.name);
    let bytes = file::read(&source)?
        .ok_or_else(|| FileError::Read { path: source, source: io::ErrorKind::NotFound.into() })?;
    let meta = fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file);
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
    if kind == Kind::HostName && meta.is_some() {
        file::overwrite(path, &bytes, saved.mode)?;
    } else {
        file::write(path, &bytes, saved.mode)?;
    }
    touched.push(path.to_path_buf());
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::MetadataExt as _};

    use super::{restore, save};
    use crate::{durable::protected::Scope, paths::Paths};

    type Tested = Result<(), Box<dyn std::error::Error>>;

    /// A node with profiles, and the directory for copies.
    fn node() -> Result<(tempfile::TempDir, Paths, std::path::PathBuf), std::io::Error> {
        let root = tempfile::tempdir()?;
        let paths = Paths::new(root.path());
        let dir = paths.under("/etc/NetworkManager/system-connections");
        fs::create_dir_all(&dir)?;
        fs::create_dir_all(paths.state_dir())?;
        fs::write(dir.join("a.nmconnection"), "a")?;
        fs::write(dir.join("b.nmconnection"), "b")?;
        let copies = paths.state_dir().join("copies");
        Ok((root, paths, copies))
    }

    fn scope(hostname: bool) -> Scope {
        Scope::new(&["interfaces:\n- name: eno1\n- name: br-ex\n"], hostname)
    }

    #[test]
    fn edited_deleted_and_new_profiles_are_undone() -> Tested {
        let (_root, paths, copies) = node()?;
        let dir = paths.under("/etc/NetworkManager/system-connections");
        std::os::unix::fs::symlink("/dev/null", dir.join("masked"))?;
        save(&paths, &copies, &scope(true))?;
        assert!(restore(&paths, &copies, true)?.is_empty());

        fs::write(dir.join("a.nmconnection"), "edited")?;
        fs::remove_file(dir.join("b.nmconnection"))?;
        fs::write(dir.join("br-ex-br.nmconnection"), "interface-name=br-ex\n")?;
        fs::write(paths.under("/etc/hostname"), "new")?;
        let run = paths.under("/run/NetworkManager/system-connections");
        fs::create_dir_all(&run)?;
        fs::write(run.join("volatile.nmconnection"), "x")?;

        assert_eq!(restore(&paths, &copies, false)?.len(), 4);
        assert!(run.join("volatile.nmconnection").exists());
        assert_eq!(restore(&paths, &copies, true)?.len(), 1);
        assert_eq!(fs::read_to_string(dir.join("a.nmconnection"))?, "a");
        assert_eq!(fs::read_to_string(dir.join("b.nmconnection"))?, "b");
        assert_eq!(fs::read_dir(&dir)?.count(), 3);
        assert!(!paths.under("/etc/hostname").exists());
        assert!(restore(&paths, &copies, true)?.is_empty());
        Ok(())
    }

    #[test]
    fn files_of_others_stay() -> Tested {
        let (_root, paths, copies) = node()?;
        let (scripts, links) =
            (paths.under("/etc/NetworkManager/dispatcher.d"), paths.under("/etc/systemd/network"));
        fs::create_dir_all(&scripts)?;
        fs::create_dir_all(&links)?;
        fs::write(scripts.join("30-resolv-prepender"), "old")?;
        save(&paths, &copies, &scope(false))?;

        let others = [
            paths.under("/etc/NetworkManager/system-connections/storage.nmconnection"),
            scripts.join("30-resolv-prepender"),
            scripts.join("99-new"),
            links.join("98-nmstate-eno1.link"),
            paths.under("/etc/hostname"),
        ];
        let texts = ["interface-name=eno7\n", "edited", "new", "[Link]\nName=eno1\n", "worker-0\n"];
        for (path, text) in others.iter().zip(texts) {
            fs::write(path, text)?;
        }
        let ours = [scripts.join("nmstate-br-ex-up.sh"), links.join("98-nmstate-br-ex.link")];
        for path in &ours {
            fs::write(path, "AlternativeName=x\n")?;
        }
        let mut touched = restore(&paths, &copies, true)?;
        touched.sort_unstable();
        assert_eq!(touched, ours);
        for (path, text) in others.iter().zip(texts) {
            assert_eq!(fs::read_to_string(path)?, text);
        }
        Ok(())
    }

    #[test]
    fn the_host_name_stays_in_its_file() -> Tested {
        let (_root, paths, copies) = node()?;
        let place = paths.under("/etc/hostname");
        fs::write(&place, "worker-0\n")?;
        save(&paths, &copies, &scope(true))?;
        fs::write(&place, "a-longer-name\n")?;
        let before = fs::metadata(&place)?.ino();
        assert_eq!(restore(&paths, &copies, false)?, [paths.under("/etc/hostname")]);
        assert_eq!(fs::read_to_string(&place)?, "worker-0\n");
        assert_eq!(fs::metadata(&place)?.ino(), before);
        Ok(())
    }

    #[test]
    fn paths_are_those_of_the_manifest() -> Tested {
        let (_root, paths, copies) = node()?;
        save(&paths, &copies, &scope(false))?;
        let dir = paths.under("/etc/NetworkManager/system-connections");
        fs::write(dir.join("a.nmconnection"), "edited")?;
        // A manifest as another version would write it.
        let place = copies.join("manifest.json");
        let mut manifest: serde_json::Value = serde_json::from_slice(&fs::read(&place)?)?;
        manifest["entries"].as_array_mut().ok_or("no entries")?.reverse();
        fs::write(&place, manifest.to_string())?;
        assert_eq!(restore(&paths, &copies, false)?, [dir.join("a.nmconnection")]);
        assert_eq!(fs::read_to_string(dir.join("a.nmconnection"))?, "a");
        Ok(())
    }

    #[test]
    fn a_manifest_that_leads_elsewhere_restores_nothing() -> Tested {
        let (_root, paths, copies) = node()?;
        save(&paths, &copies, &scope(false))?;
        let profile = paths.under("/etc/NetworkManager/system-connections/a.nmconnection");
        fs::write(&profile, "edited")?;
        let place = copies.join("manifest.json");
        let good = fs::read_to_string(&place)?;
        for (from, to) in [
            ("/etc/hostname", "/etc/../../hostname"),
            ("b.nmconnection", "../b.nmconnection"),
            ("b.nmconnection", "/etc/passwd"),
            ("\"store\": \"0\"", "\"store\": \"..\""),
        ] {
            assert!(good.contains(from), "{from} in {good}");
            fs::write(&place, good.replace(from, to))?;
            let error = restore(&paths, &copies, true).expect_err("elsewhere");
            assert!(error.is_unusable(), "{error}");
            assert_eq!(fs::read_to_string(&profile)?, "edited");
        }
        Ok(())
    }
}
