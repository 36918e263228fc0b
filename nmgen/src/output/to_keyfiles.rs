//! Keyfiles, and the files beside them, with their paths in the output directory.

use crate::convert::Converted;
use crate::write::File;

/// `<id>.nmconnection` for a single document, `<host>/<id>.nmconnection` for hosts; files beside them
/// keep their path from the root file system (`etc/hostname`).
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
