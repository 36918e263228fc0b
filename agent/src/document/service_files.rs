//! The files of `nmstatectl service`: every `/etc/nmstate/*.yml`, in name order. On a node with a
//! document they are part of its transaction, and nmstate.service is held back.

use std::path::PathBuf;

use nmgen::node::short_host_name;

use super::{
    check::CheckError,
    digest::Digest,
    read::{Document, DocumentError},
};
use crate::{
    paths::{Paths, entries},
    state::Parsed,
};

/// A file that a transaction applies before the document.
#[derive(Clone, Debug)]
pub(crate) struct ServiceFile {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
    pub(crate) parsed: Parsed,
}

#[derive(Clone, Debug)]
pub(crate) struct ServiceFiles {
    /// In name order.
    pub(crate) due: Vec<ServiceFile>,
    /// Digests of all files, recorded with the document.
    pub(crate) digests: Vec<Digest>,
}

#[derive(Clone, Debug)]
pub(crate) struct ServiceFolder(Vec<Document>);

/// Lists and reads the files; `hostname` is the node's.
pub(crate) fn read(paths: &Paths, hostname: &str) -> Result<ServiceFolder, DocumentError> {
    let mut files = entries("list", &paths.service_files())?;
    let short = short_host_name(hostname);
    files.retain(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let stem = name.trim_end_matches(".yml");
        // nmstate-configuration copies the node's document here for nmstate.service.
        let is_copy = stem == "cluster" || stem == short || paths.documents().join(&*name).exists();
        name.ends_with(".yml") && !is_copy && path.is_file()
    });
    files.sort_unstable();
    let all = files.into_iter().map(Document::read);
    Ok(ServiceFolder(all.collect::<Result<_, _>>()?))
}

impl ServiceFolder {
    /// The digest of each file, in order.
    pub(crate) fn digests(&self) -> Vec<Digest> {
        self.0.iter().map(|file| file.digest.clone()).collect()
    }

    /// Parses the files that are due: not those in `applied`, nor those that `nmstatectl service`
    /// has applied with the same content (`.applied` beside them).
    pub(crate) fn due(&self, applied: &[Digest]) -> Result<ServiceFiles, CheckError> {
        let is_applied = |file: &Document| {
            applied.contains(&file.digest)
                || Document::read(file.path.with_extension("applied"))
                    .is_ok_and(|copy| copy.digest == file.digest)
        };
        let mut due = Vec::new();
        for file in self.0.iter().filter(|file| !is_applied(file)) {
            let path = file.path.clone();
            match Parsed::new(&file.text) {
                Ok(parsed) => due.push(ServiceFile { path, text: file.text.clone(), parsed }),
                Err(source) => return Err(CheckError::Parse { path, source }),
            }
        }
        Ok(ServiceFiles { due, digests: self.digests() })
    }
}

impl ServiceFiles {
    pub(crate) fn text(&self) -> String {
        self.due.iter().map(|file| file.text.as_str()).collect::<Vec<_>>().join("\n")
    }

    /// No file is due; keeps the recorded digests.
    pub(crate) fn none_due(recorded: Vec<Digest>) -> Self {
        Self { due: Vec::new(), digests: recorded }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{ServiceFolder, read};
    use crate::paths::Paths;

    type Tested = Result<(), Box<dyn std::error::Error>>;

    fn node(files: &[(&str, &str)]) -> Result<(tempfile::TempDir, Paths), std::io::Error> {
        let root = tempfile::tempdir()?;
        let paths = Paths::new(root.path());
        fs::create_dir_all(paths.documents())?;
        for (name, text) in files {
            fs::write(paths.service_files().join(name), text)?;
        }
        Ok((root, paths))
    }

    fn names(found: &ServiceFolder) -> Vec<String> {
        let name = |d: &super::Document| {
            d.path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default()
        };
        found.0.iter().map(name).collect()
    }

    #[test]
    fn in_name_order_without_the_copies_of_documents() -> Tested {
        let files = [
            ("002-b.yml", "interfaces: []\n"),
            ("001-a.yml", "interfaces: []\n"),
            ("003-c.yaml", ""),
            ("001-a.applied", ""),
            ("nmstate.conf", ""),
            ("worker-0.yml", "interfaces: []\n"),
            ("worker-1.yml", "interfaces: []\n"),
            ("cluster.yml", "interfaces: []\n"),
        ];
        let (_root, paths) = node(&files)?;
        fs::write(paths.documents().join("worker-1.yml"), "interfaces: []\n")?;
        let found = read(&paths, "worker-0.example.org")?;
        assert_eq!(names(&found), ["001-a.yml", "002-b.yml"]);
        assert_eq!(found.due(&[])?.due.len(), 2);
        assert_eq!(found.due(&found.digests())?.due.len(), 0);
        Ok(())
    }

    #[test]
    fn applied_content_is_not_due_and_changed_content_is() -> Tested {
        let state = "interfaces:\n- name: eth9\n  type: dummy\n";
        let (_root, paths) = node(&[("a.yml", state), ("a.applied", state)])?;
        let before = read(&paths, "")?;
        assert!(before.due(&[])?.due.is_empty());
        fs::write(paths.service_files().join("a.yml"), state.replace("eth9", "eth8"))?;
        let after = read(&paths, "")?;
        assert_eq!(after.due(&before.digests())?.due.len(), 1);
        assert_ne!(before.digests(), after.digests());
        Ok(())
    }

    #[test]
    fn a_wrong_one_is_named() -> Tested {
        let (_root, paths) = node(&[("a.yml", "interfaces: many\n")])?;
        let error = read(&paths, "")?.due(&[]).map(|_| ()).expect_err("passed");
        assert!(error.to_string().contains("/etc/nmstate/a.yml"), "{error}");
        Ok(())
    }

    #[test]
    fn a_node_without_the_directory_has_none() -> Tested {
        let root = tempfile::tempdir()?;
        let paths = Paths::new(root.path());
        let found = read(&paths, "")?;
        assert!(names(&found).is_empty());
        fs::create_dir_all(paths.under("/etc"))?;
        fs::write(paths.service_files(), "no directory")?;
        assert!(matches!(read(&paths, ""), Err(super::DocumentError::Path(_))));
        Ok(())
    }

    /// The transaction protects the files of every interface that it names.
    #[test]
    fn the_text_of_all_that_are_due_names_their_interfaces() -> Tested {
        let state = |name: &str| format!("interfaces:\n- name: {name}\n  type: dummy\n");
        let (_root, paths) = node(&[("a.yml", &state("eth8")), ("b.yml", &state("eth9"))])?;
        let text = read(&paths, "")?.due(&[])?.text();
        assert_eq!(text, state("eth8") + "\n" + &state("eth9"));
        Ok(())
    }
}
