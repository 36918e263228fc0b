//! A hosts directory: the documents themselves.

use nmgen_core::node::CLUSTER;
use nmgen_core::write::File;

use crate::convert::Converted;

/// `<host>.yml` for each host.
pub(super) fn files(hosts: &[Converted]) -> Vec<File> {
    let file = |converted: &Converted| {
        Some(File {
            directories: Vec::new(),
            name: file_name(converted),
            content: converted.host.document()?.text().into_owned().into_bytes(),
        })
    };
    hosts.iter().filter_map(file).collect()
}

pub(super) fn file_name(converted: &Converted) -> String {
    let name = converted.host.name.as_deref().unwrap_or(CLUSTER);
    format!("{name}.yml")
}
