//! A directory of SUSE's nm-configurator: `<hostname>.yaml` for each node, `_all.yaml` for all of them.
//! Manifests in a directory, whose names mean nothing, look the same and are told by their content.

use super::found::Found;
use super::{CLUSTER, directory, kind};
use super::{Content, read};
use crate::error::Error;

const ALL: &str = "_all";

/// True when `_all.yaml` is there, or no document ends in `.yml` as they do in a hosts directory.
pub(super) fn is(names: &[String]) -> bool {
    let visible = || names.iter().filter(|name| !name.starts_with('.'));
    let has_all = visible().any(|name| name.strip_suffix(".yaml") == Some(ALL));
    let any = |extension: &str| visible().any(|name| name.ends_with(extension));
    has_all || (any(".yaml") && !any(".yml"))
}

pub(super) fn load(path: &str, names: &[String], found: &mut Found) -> Result<(), Error> {
    for file_name in names.iter().filter(|name| !name.starts_with('.')) {
        let stem = file_name.strip_suffix(".yaml").or(file_name.strip_suffix(".yml"));
        let Some(stem) = stem else { continue };
        let name = if stem == ALL { CLUSTER } else { stem };
        let file = directory::join(path, file_name);
        let source = read::file(&file, Content::Any, &mut found.loaded.diagnostics)?;
        if let Some(source) = source {
            kind::load(&source, Some(name), found);
        }
    }
    Ok(())
}
