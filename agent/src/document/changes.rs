//! The inputs of an attempt, and the event of their change.

use std::{
    collections::BTreeSet,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use crate::{
    client::watch::Watch,
    paths::{Paths, Result, cannot},
};

/// The kernel's bound on the symbolic links of a path (path_resolution(7)).
const MAX_LINKS: usize = 40;

/// Documents, `applied` and the settings, by the metadata that reveals a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Inputs(Vec<Input>);

/// A file; a replaced one has another inode.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Input {
    path: PathBuf,
    inode: u64,
    size: u64,
    modified: (i64, i64),
}

impl Inputs {
    /// The current files. An unreadable one counts as absent: the attempt reports the reason.
    pub(crate) fn now(paths: &Paths) -> Self {
        let mut inputs: Vec<Input> = files(paths)
            .filter_map(|path| {
                // Follow links: some deployments link one file under many names.
                let meta = path.metadata().ok()?;
                let modified = (meta.mtime(), meta.mtime_nsec());
                Some(Input { inode: meta.ino(), size: meta.size(), modified, path })
            })
            .collect();
        inputs.sort_unstable();
        Self(inputs)
    }

    /// Returns when the current files differ from these.
    pub(crate) async fn changed(&self, paths: &Paths) -> Result {
        self.differs(paths, |_| true).await
    }

    /// Returns when somebody has changed a document or the settings. The other inputs change with a commit or a roll back, too.
    pub(crate) async fn corrected(&self, paths: &Paths) -> Result {
        let documents = paths.documents();
        let (applied, settings) = (paths.applied(), paths.settings());
        let counts =
            |path: &Path| path == settings || path.parent() == Some(&documents) && path != applied;
        self.differs(paths, counts).await
    }

    /// Returns when one of those files that count differs.
    async fn differs(&self, paths: &Paths, counts: impl Fn(&Path) -> bool) -> Result {
        let documents = paths.documents();
        let failed = cannot("watch the directories of", &documents);
        loop {
            // A link may have another target after each change.
            let linked = files(paths).flat_map(|path| directories_of_links(&path));
            let directories: BTreeSet<PathBuf> =
                directories(paths).into_iter().chain(linked).collect();
            let directories: Vec<&Path> = directories.iter().map(PathBuf::as_path).collect();
            let watch = Watch::on(&directories).map_err(failed)?;
            let now = Self::now(paths);
            let is_counted = |input: &&Input| counts(&input.path);
            if now.0.iter().filter(is_counted).ne(self.0.iter().filter(is_counted)) {
                return Ok(());
            }
            watch.changed().await.map_err(failed)?;
        }
    }
}

/// Documents, the files of `nmstatectl service`, the settings, the choice of uplinks.
fn directories(paths: &Paths) -> [PathBuf; 4] {
    [paths.documents(), paths.under("/etc/nmstate"), paths.under("/etc/dayone"), paths.uplinks()]
}

fn files(paths: &Paths) -> impl Iterator<Item = PathBuf> {
    directories(paths)
        .into_iter()
        .filter_map(|directory| directory.read_dir().ok())
        .flat_map(|entries| entries.flatten())
        .map(|entry| entry.path())
        .filter(|path| {
            path.extension().is_some_and(|extension| extension == "yml")
                || *path == paths.applied()
                || *path == paths.settings()
                || path.parent() == Some(&paths.uplinks())
        })
}

/// The directories in which a change gives the path another file: that of each symbolic link on the way, and the file's own. None
/// for a file in place.
fn directories_of_links(path: &Path) -> BTreeSet<PathBuf> {
    let mut directories = BTreeSet::new();
    let mut path = path.to_path_buf();
    for _ in 0..MAX_LINKS {
        let mut link = None;
        for part in path.ancestors() {
            if let (Ok(target), Some(parent)) = (part.read_link(), part.parent()) {
                link = Some((part.to_path_buf(), parent.join(target)));
            }
        }
        // The link nearest to the root: those below it are found in its target.
        let Some((from, to)) = link else { break };
        directories.extend(from.parent().map(Path::to_path_buf));
        path = path.strip_prefix(&from).map_or_else(
            |_| to.clone(),
            |rest| if rest.as_os_str().is_empty() { to.clone() } else { to.join(rest) },
        );
        directories.extend(path.parent().map(Path::to_path_buf));
    }
    directories
}

#[cfg(test)]
mod tests {
    use std::{io, time::Duration};

    use super::*;

    #[tokio::test]
    async fn a_document_ends_the_wait_and_a_temporary_file_does_not() -> Result<(), io::Error> {
        let root = tempfile::tempdir()?;
        let paths = Paths::new(root.path());
        let seen = Inputs::now(&paths);
        let mut changed = std::pin::pin!(seen.changed(&paths));
        let a_while = Duration::from_millis(50);
        // The directory may be created later.
        std::fs::create_dir_all(paths.documents())?;
        std::fs::write(paths.documents().join(".applied.dayone"), "")?;
        assert!(tokio::time::timeout(a_while, &mut changed).await.is_err());
        std::fs::write(paths.documents().join("worker-0.yml"), "interfaces: []\n")?;
        let soon = tokio::time::timeout(Duration::from_secs(10), &mut changed).await;
        assert!(matches!(soon, Ok(Ok(()))), "{soon:?}");
        Ok(())
    }

    #[tokio::test]
    async fn a_commit_of_the_attempt_is_no_correction() -> Result<(), io::Error> {
        let root = tempfile::tempdir()?;
        let paths = Paths::new(root.path());
        std::fs::create_dir_all(paths.documents())?;
        let seen = Inputs::now(&paths);
        let mut corrected = std::pin::pin!(seen.corrected(&paths));
        std::fs::write(paths.applied(), "interfaces: []\n")?;
        std::fs::write(paths.under("/etc/nmstate/10-day-two.yml"), "interfaces: []\n")?;
        let a_while = Duration::from_millis(50);
        assert!(tokio::time::timeout(a_while, &mut corrected).await.is_err());
        assert!(Inputs::now(&paths) != seen);
        std::fs::write(paths.documents().join("worker-0.yml"), "interfaces: []\n")?;
        let soon = tokio::time::timeout(Duration::from_secs(10), &mut corrected).await;
        assert!(matches!(soon, Ok(Ok(()))), "{soon:?}");
        Ok(())
    }

    #[tokio::test]
    async fn a_changed_target_of_a_link_ends_the_wait() -> Result<(), io::Error> {
        let root = tempfile::tempdir()?;
        let paths = Paths::new(root.path());
        let (first, second) = (root.path().join("first"), root.path().join("second"));
        std::fs::create_dir_all(paths.documents())?;
        for (directory, text) in [(&first, "a"), (&second, "ab")] {
            std::fs::create_dir_all(directory)?;
            std::fs::write(directory.join("document"), text)?;
        }
        // As of a mounted ConfigMap: a link through a link to a directory.
        let current = root.path().join("current");
        std::os::unix::fs::symlink("first", &current)?;
        let link = paths.documents().join("worker-0.yml");
        std::os::unix::fs::symlink(current.join("document"), &link)?;
        let soon = Duration::from_secs(10);
        let changes: [&dyn Fn() -> io::Result<()>; 4] = [
            &|| std::fs::write(first.join("document"), "abc"),
            &|| {
                std::fs::remove_file(&current)?;
                std::os::unix::fs::symlink("second", &current)
            },
            &|| std::fs::remove_file(second.join("document")),
            &|| std::fs::write(second.join("document"), "abcd"),
        ];
        for change in changes {
            let seen = Inputs::now(&paths);
            let mut changed = std::pin::pin!(seen.changed(&paths));
            let a_while = Duration::from_millis(50);
            assert!(tokio::time::timeout(a_while, &mut changed).await.is_err());
            change()?;
            let changed = tokio::time::timeout(soon, &mut changed).await;
            assert!(matches!(changed, Ok(Ok(()))), "{changed:?}");
        }
        Ok(())
    }

    #[test]
    fn content_settings_and_removal_are_changes() -> Result<(), io::Error> {
        let root = tempfile::tempdir()?;
        let paths = Paths::new(root.path());
        std::fs::create_dir_all(paths.documents())?;
        std::fs::create_dir_all(paths.under("/etc/dayone"))?;
        let mut seen = vec![Inputs::now(&paths)];
        let document = paths.documents().join("cluster.yml");
        std::fs::write(&document, "a")?;
        seen.push(Inputs::now(&paths));
        std::fs::write(&document, "ab")?;
        seen.push(Inputs::now(&paths));
        std::fs::write(paths.settings(), "")?;
        seen.push(Inputs::now(&paths));
        std::fs::remove_file(&document)?;
        seen.push(Inputs::now(&paths));
        for pair in seen.windows(2) {
            assert_ne!(pair[0], pair[1]);
        }
        Ok(())
    }
}
