//! Takes the place of `fleet` in an initramfs, which has documents and hosts directories only.

use super::host::{Host, Hosts};
use super::{directory, hosts_directory, read_file};
use crate::diagnostic::Rule;
use crate::error::Error;

pub(super) fn rules() -> Vec<Rule> {
    Vec::new()
}

pub(super) fn load<'p>(paths: impl Iterator<Item = &'p str>) -> Result<Hosts, Error> {
    let mut hosts = Hosts::default();
    for path in paths {
        if directory::is(path) {
            hosts_directory::load(path, &directory::files(path)?, &mut hosts)?;
        } else if let Some(source) = read_file::document(path, &mut hosts.diagnostics)? {
            hosts.add(Host::of_file(None, &source));
        }
    }
    Ok(hosts)
}
