//! Units of a node: stand-ins for the field's, and trees with units to be enabled.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use super::node::Node;

macro_rules! stand_in {
    ($name:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/lab/units/", $name))
    };
}

impl Node {
    /// Adds a `kubelet.service` that requires `kubelet-dependencies.target`, as in the field. `/run/lab-kubelet` has the network's
    /// state at its start.
    #[must_use]
    pub fn kubelet(self) -> Self {
        self.unit("kubelet.service", stand_in!("kubelet.service"))
            .unit("kubelet-dependencies.target", stand_in!("kubelet-dependencies.target"))
            .enable("kubelet.service")
    }

    /// Adds `nmstate-configuration.service` and `ovs-configuration.service` of the machine-config-operator.
    /// Their actions are in `/run/lab-nmstate-configuration` and `/run/lab-ovs-configuration`.
    #[must_use]
    pub fn machine_config_operator(self) -> Self {
        self.unit("nmstate-configuration.service", stand_in!("nmstate-configuration.service"))
            .unit("ovs-configuration.service", stand_in!("ovs-configuration.service"))
            .file(
                "/usr/local/bin/lab-nmstate-configuration",
                stand_in!("nmstate-configuration"),
                0o755,
            )
            .file("/usr/local/bin/lab-ovs-configuration", stand_in!("ovs-configuration"), 0o755)
            .enable("nmstate-configuration.service")
            .enable("ovs-configuration.service")
    }
    /// Adds a tree, with the units of its directory `units` enabled as their `[Install]` sections say, but for those disabled.
    ///
    /// # Panics
    /// If the tree is no directory.
    #[must_use]
    pub fn installed(self, tree: &Path, units: &str, disabled: &[&str]) -> Self {
        assert!(tree.is_dir(), "{} is no directory", tree.display());
        let mut links = links_of(&tree.join(units.trim_start_matches('/')), units);
        links.retain(|(_, unit)| !disabled.iter().any(|name| unit.ends_with(&format!("/{name}"))));
        links.iter().fold(self.tree(tree), |node, (link, unit)| node.link(link, unit))
    }
}

/// Links of `systemctl enable` for the units of a directory: path and target.
fn links_of(directory: &Path, units: &str) -> Vec<(String, String)> {
    let entries = directory.read_dir().into_iter().flatten().flatten();
    let paths: BTreeSet<PathBuf> = entries.map(|entry| entry.path()).collect();
    let files = paths.iter().filter(|path| path.is_file());
    files.flat_map(|path| links(path, units)).collect()
}

fn links(unit: &Path, units: &str) -> Vec<(String, String)> {
    let name = unit.file_name().unwrap_or_default().to_string_lossy();
    let text = fs::read_to_string(unit).unwrap_or_default();
    let install = text.split("\n[Install]\n").nth(1).unwrap_or_default();
    let mut links = Vec::new();
    for (key, directory) in [("WantedBy=", "wants"), ("RequiredBy=", "requires")] {
        let by = install.lines().filter_map(|line| line.strip_prefix(key));
        links.extend(by.flat_map(str::split_whitespace).map(|by| {
            let link = format!("/etc/systemd/system/{by}.{directory}/{name}");
            (link, format!("{units}/{name}"))
        }));
    }
    links
}
