//! The inputs of an attempt, and the event of their change.

use std::{
    io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use thiserror::Error;

use crate::{client::watch::Watch, paths::Paths};

/// A directory that cannot be watched.
#[derive(Debug, Error)]
#[error("cannot watch the directories of {path}")]
pub(crate) struct WatchError {
    path: PathBuf,
    source: io::Error,
}

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
        let mut inputs: Vec<Input> = directories(paths)
            .iter()
            .filter_map(|directory| directory.read_dir().ok())
            .flat_map(|entries| entries.flatten())
            .map(|entry| entry.path())
            .filter(|path| is_input(paths, path))
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
    pub(crate) async fn changed(&self, paths: &Paths) -> Result<(), WatchError> {
        let directories = directories(paths);
        let directories: Vec<&Path> = directories.iter().map(PathBuf::as_path).collect();
        let failed = |source| WatchError { path: paths.documents(), source };
        loop {
            let watch = Watch::on(&directories).map_err(failed)?;
            if Self::now(paths) != *self {
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

fn is_input(paths: &Paths, path: &Path) -> bool {
    path.extension().is_some_and(|it| it == "yml")
        || *path == paths.applied()
        || *path == paths.settings()
        || path.parent() == Some(&paths.uplinks())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

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
