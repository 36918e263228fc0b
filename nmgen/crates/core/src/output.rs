//! One configuration as output: its files, and the YAML of `nmstatectl gc`.

use nmgen_document::Error;
use nmgen_document::diagnostic::{Diagnostic, Diagnostics, Rule, rules};
use serde_yaml::{Mapping, Value};

use crate::profile::{Configuration, SystemFile};
use crate::write::File;

rules! {
    /// A value that a form of output cannot carry.
    pub warning NOT_IN_TARGET = "not-in-target";
}

/// `<id>.nmconnection` for each profile, below these directories; files beside them keep their path from the root file system
/// (`etc/hostname`).
pub fn files(configuration: &Configuration, directories: &[String]) -> Vec<File> {
    let profiles = configuration.profiles.iter().map(|profile| File {
        directories: directories.to_vec(),
        name: profile.file_name(),
        content: profile.keyfile.render().into_bytes(),
    });
    let beside = configuration.files.iter().map(|file| {
        let mut directories = directories.to_vec();
        directories.extend(file.path.split('/').map(str::to_owned));
        let name = directories.pop().unwrap_or_default();
        File { directories, name, content: file.content.clone().into_bytes() }
    });
    profiles.chain(beside).collect()
}

/// Files as one stream.
pub fn shown(files: &[File]) -> Vec<u8> {
    let shown = |file: &File| [b"# ", file.path().as_bytes(), b"\n", &file.content].concat();
    files.iter().map(shown).collect::<Vec<_>>().join(&b'\n')
}

/// The YAML that `nmstatectl gc` prints and that image pipelines read: a map with one key, `NetworkManager`, and a list of
/// `[file name, keyfile text]`. It cannot carry files beside the profiles ([`gc_losses`]).
///
/// # Errors
/// When the writer of YAML fails.
pub fn gc(configuration: Option<&Configuration>) -> Result<Vec<u8>, Error> {
    let profiles = configuration.iter().flat_map(|configuration| &configuration.profiles);
    let entries = profiles.map(|profile| {
        Value::Sequence(vec![profile.file_name().into(), profile.keyfile.render().into()])
    });
    let mut map = Mapping::new();
    map.insert("NetworkManager".into(), Value::Sequence(entries.collect()));
    serde_yaml::to_string(&map)
        .map(String::into_bytes)
        .map_err(|source| Error::RenderYaml { source })
}

/// Files that the YAML of `nmstatectl gc` cannot carry.
pub fn gc_losses(configuration: &Configuration) -> Diagnostics {
    configuration.files.iter().map(loss).collect()
}

fn loss(file: &SystemFile) -> Diagnostic {
    let message = format!("{} is not in the output of gc", file.field);
    Diagnostic::new(NOT_IN_TARGET, message, file.place.clone())
        .help(format!("generate --to keyfiles carries it as {}", file.path))
}

/// Losses of these forms.
pub fn rules() -> Vec<Rule> {
    RULES.to_vec()
}
