//! Keyfiles, and the files beside them, with their paths in the target.

use crate::pipeline::Converted;

/// A file of the output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// The directories below the target, each a single name.
    pub directories: Vec<String>,
    /// The file's name, without a separator.
    pub name: String,
    /// Its bytes; text in every target but an archive.
    pub content: Vec<u8>,
}

impl File {
    /// The path below the target.
    pub fn path(&self) -> String {
        let mut path = self.directories.join("/");
        if !path.is_empty() {
            path.push('/');
        }
        path + &self.name
    }
}

/// `<id>.nmconnection` for a single document, `<host>/<id>.nmconnection` for hosts; the files beside
/// them keep their path from the root file system (`etc/hostname`).
pub(super) fn files(hosts: &[Converted]) -> Vec<File> {
    let mut files = Vec::new();
    for converted in hosts {
        let base: Vec<String> = converted.host.name.iter().cloned().collect();
        for profile in &converted.configuration.profiles {
            files.push(File {
                directories: base.clone(),
                name: profile.file_name(),
                content: profile.keyfile.render().into_bytes(),
            });
        }
        for file in &converted.configuration.files {
            let mut directories = base.clone();
            let mut parts: Vec<String> = file.path.split('/').map(str::to_owned).collect();
            let name = parts.pop().unwrap_or_default();
            directories.extend(parts);
            files.push(File { directories, name, content: file.content.clone().into_bytes() });
        }
    }
    files
}
