//! The YAML that `nmstatectl gc` prints and that image pipelines read.

use serde_yaml::{Mapping, Value};

use crate::profile::Configuration;

/// A map with one key, `NetworkManager`: a list of `[file name, keyfile text]`.
///
/// # Errors
/// Never for keyfiles, whose texts are strings; passed on from the YAML writer.
pub fn render(configuration: &Configuration) -> Result<String, serde_yaml::Error> {
    let profiles = configuration.profiles.iter().map(|profile| {
        Value::Sequence(vec![profile.file_name().into(), profile.keyfile.render().into()])
    });
    let mut map = Mapping::new();
    map.insert("NetworkManager".into(), Value::Sequence(profiles.collect()));
    serde_yaml::to_string(&map)
}
