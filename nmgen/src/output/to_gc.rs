//! The YAML that `nmstatectl gc` prints and that image pipelines read.

use serde_yaml::{Mapping, Value};

use super::loss::NOT_IN_TARGET;
use super::one_host;
use crate::convert::Converted;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::error::Error;
use crate::profile::SystemFile;

/// A map with one key, `NetworkManager`: a list of `[file name, keyfile text]`.
pub(super) fn render(hosts: &[Converted], diagnostics: &mut Diagnostics) -> Result<Vec<u8>, Error> {
    one_host::verify("gc", hosts, diagnostics);
    diagnostics.extend(hosts.iter().flat_map(|host| &host.configuration.files).map(loss));
    let profiles = hosts.iter().take(1).flat_map(|host| &host.configuration.profiles);
    let entries = profiles.map(|profile| {
        Value::Sequence(vec![profile.file_name().into(), profile.keyfile.render().into()])
    });
    let mut map = Mapping::new();
    map.insert("NetworkManager".into(), Value::Sequence(entries.collect()));
    serde_yaml::to_string(&map)
        .map(String::into_bytes)
        .map_err(|source| Error::RenderYaml { source })
}

fn loss(file: &SystemFile) -> Diagnostic {
    let message = format!("{} is not in the output of gc", file.field);
    Diagnostic::new(NOT_IN_TARGET, message, file.place.clone())
        .help(format!("generate --to keyfiles carries it as {}", file.path))
}
