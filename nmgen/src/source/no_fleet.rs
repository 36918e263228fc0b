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
            load_directory(path, &mut hosts)?;
        } else if let Some(source) = read_file::document(path, &mut hosts.diagnostics)? {
            hosts.add(Host::of_file(None, &source));
        }
    }
    Ok(hosts)
}

fn load_directory(path: &str, hosts: &mut Hosts) -> Result<(), Error> {
    let (before, faults) = (hosts.hosts.len(), hosts.diagnostics.len());
    for file_name in directory::files(path)? {
        let file = directory::join(path, &file_name);
        let Some(name) = hosts_directory::accepted_name(&file, &file_name, hosts) else { continue };
        if let Some(source) = read_file::document(&file, &mut hosts.diagnostics)? {
            hosts_directory::add(name, &source, hosts);
        }
    }
    if hosts.hosts.len() == before {
        hosts_directory::without_hosts(path, faults, hosts);
    }
    Ok(())
}
