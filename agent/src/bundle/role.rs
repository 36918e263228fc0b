//! The pool of machines that a node is in.

use std::path::Path;

use nmgen::source::bounded;
use serde::Deserialize;

use crate::paths::Paths;

/// The whole configuration of a node is large.
const LIMIT: usize = 16 << 20;

#[derive(Deserialize)]
struct Config {
    metadata: Metadata,
}

#[derive(Deserialize)]
struct Metadata {
    name: String,
}

/// By the configuration that the machine-config-operator has put in place; `None` elsewhere. Nothing else of that file, which
/// has secrets, is kept.
pub(crate) fn role(paths: &Paths) -> Option<String> {
    named(&paths.machine_config())
}

fn named(path: &Path) -> Option<String> {
    let text = bounded::read(path, LIMIT).ok()?;
    let config: Config = serde_json::from_slice(&text).ok()?;
    let (role, _) = config.metadata.name.strip_prefix("rendered-")?.rsplit_once('-')?;
    Some(role.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_the_configuration_has_it() -> std::io::Result<()> {
        let file = tempfile::NamedTempFile::new()?;
        let config = r#"{"kind": "MachineConfig", "metadata": {"name": "rendered-infra-gpu-0a1b2c"}, "spec": {}}"#;
        std::fs::write(file.path(), config)?;
        assert_eq!(named(file.path()).as_deref(), Some("infra-gpu"));
        assert_eq!(named(Path::new("/nowhere")), None);
        Ok(())
    }
}
