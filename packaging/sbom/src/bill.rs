//! The bill itself: CycloneDX 1.5, without the serial number and the time of an edition, which are voluntary and would make each
//! build's differ.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::component::Component;
use crate::error::Error;
use crate::lock::Lock;
use crate::tree::{Package, Tree};

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Bill {
    bom_format: &'static str,
    spec_version: &'static str,
    version: u32,
    metadata: Metadata,
    components: Vec<Component>,
    dependencies: Vec<Dependency>,
}

#[derive(Debug, Serialize)]
struct Metadata {
    component: Component,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Dependency {
    #[serde(rename = "ref")]
    reference: String,
    depends_on: Vec<String>,
}

impl Bill {
    /// The program `name`, whose own package is the tree's root; it depends on the toolchain's components too. A package depends on
    /// the C library that it embeds.
    pub(crate) fn new(
        name: &str,
        tree: &Tree,
        lock: &Lock,
        embedded: &BTreeMap<Package, Component>,
        toolchain: Vec<Component>,
        build: &[(&str, &str)],
    ) -> Result<Self, Error> {
        let program = Component::program(name, &tree.root, build)?;
        let component = |package: &Package| {
            Component::package(package, lock.origin(&package.name, &package.version)?)
        };
        let reference = |package: &Package| component(package).map(|component| component.reference);
        let mut components = Vec::new();
        let mut dependencies = Vec::new();
        for (package, below) in &tree.dependencies {
            let mut depends_on = below.iter().map(reference).collect::<Result<Vec<_>, _>>()?;
            depends_on.extend(embedded.get(package).map(|library| library.reference.clone()));
            if *package == tree.root {
                depends_on.extend(toolchain.iter().map(|component| component.reference.clone()));
                dependencies
                    .insert(0, Dependency { reference: program.reference.clone(), depends_on });
            } else {
                dependencies.push(Dependency { reference: reference(package)?, depends_on });
                components.push(component(package)?);
            }
        }
        for component in embedded.values().cloned().chain(toolchain) {
            let reference = component.reference.clone();
            dependencies.push(Dependency { reference, depends_on: Vec::new() });
            components.push(component);
        }
        Ok(Self {
            bom_format: "CycloneDX",
            spec_version: "1.5",
            version: 1,
            metadata: Metadata { component: program },
            components,
            dependencies,
        })
    }

    /// Returns the program and all that is linked into it.
    pub(crate) fn all(&self) -> Vec<Component> {
        std::iter::once(&self.metadata.component).chain(&self.components).cloned().collect()
    }

    pub(crate) fn text(&self) -> Result<String, Error> {
        let text = serde_json::to_string_pretty(self).map_err(Error::Encode)?;
        Ok(text + "\n")
    }
}
