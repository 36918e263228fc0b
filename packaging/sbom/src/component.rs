//! A component in CycloneDX's words: <https://cyclonedx.org/docs/1.5/json/>.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;

use crate::error::Error;
use crate::lock::Origin;
use crate::tree::Package;

/// Everything but the characters that a package URL has as they are.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Component {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(rename = "bom-ref")]
    pub(crate) reference: String,
    name: String,
    version: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    hashes: Vec<Hash>,
    licenses: [Licence; 1],
    pub(crate) purl: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    external_references: Vec<ExternalReference>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    properties: Vec<Property>,
}

#[derive(Debug, Clone, Serialize)]
struct Hash {
    alg: &'static str,
    content: String,
}

#[derive(Debug, Clone, Serialize)]
struct Licence {
    expression: String,
}

#[derive(Debug, Clone, Serialize)]
struct ExternalReference {
    #[serde(rename = "type")]
    kind: &'static str,
    url: String,
}

#[derive(Debug, Clone, Serialize)]
struct Property {
    name: String,
    value: String,
}

impl Component {
    pub(crate) fn library(name: &str, version: &str, licence: &str, purl: String) -> Self {
        Self {
            kind: "library",
            reference: purl.clone(),
            name: name.to_owned(),
            version: version.to_owned(),
            hashes: Vec::new(),
            licenses: [Licence { expression: licence.to_owned() }],
            purl,
            external_references: Vec::new(),
            properties: Vec::new(),
        }
    }

    /// A crate. One of the workspace has a generic package URL: the registry has strangers' crates of these names.
    pub(crate) fn package(package: &Package, origin: Origin) -> Result<Self, Error> {
        let Package { name, version, licence, repository, .. } = package;
        let licence = expression(package, licence)?;
        let kind = if origin == Origin::Workspace { "generic" } else { "cargo" };
        let mut component = Self::library(name, version, &licence, purl(kind, name, version));
        if let Origin::Registry(checksum) = origin {
            component.hashes = vec![Hash { alg: "SHA-256", content: checksum }];
        }
        Ok(repository.iter().fold(component, |component, url| component.at(url)))
    }

    /// The program itself, under its own name, from its package.
    pub(crate) fn program(
        name: &str,
        package: &Package,
        build: &[(&str, &str)],
    ) -> Result<Self, Error> {
        let own = Package { name: name.to_owned(), ..package.clone() };
        let mut component = Self::package(&own, Origin::Workspace)?;
        component.kind = "application";
        component.properties = build
            .iter()
            .map(|(name, value)| Property { name: (*name).into(), value: (*value).into() })
            .collect();
        Ok(component)
    }

    /// Returns name and version, as Cargo.lock has them.
    pub(crate) fn identity(&self) -> (String, String) {
        (self.name.clone(), self.version.clone())
    }

    /// Returns name and version for a person.
    pub(crate) fn title(&self) -> String {
        format!("{} {}", self.name, self.version)
    }

    /// Returns the licence as an SPDX expression.
    pub(crate) fn licence(&self) -> &str {
        &self.licenses[0].expression
    }

    /// With the address of its sources.
    pub(crate) fn at(mut self, url: &str) -> Self {
        self.external_references.push(ExternalReference { kind: "vcs", url: url.to_owned() });
        self
    }
}

fn purl(kind: &str, name: &str, version: &str) -> String {
    let encoded = |text| utf8_percent_encode(text, ENCODED);
    format!("pkg:{kind}/{}@{}", encoded(name), encoded(version))
}

/// An SPDX expression. Older manifests have a slash for "OR".
fn expression(package: &Package, licence: &str) -> Result<String, Error> {
    let failed = |source| Error::Licence {
        name: package.name.clone(),
        version: package.version.clone(),
        source: Box::new(source),
    };
    let canonical = spdx::Expression::canonicalize(licence).map_err(failed)?;
    let canonical = canonical.unwrap_or_else(|| licence.to_owned());
    spdx::Expression::parse(&canonical).map_err(failed)?;
    Ok(canonical)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn package(licence: &str) -> Package {
        let (name, version) = ("serde_yaml".to_owned(), "0.9.34+deprecated".to_owned());
        let (licence, features) = (licence.to_owned(), String::new());
        Package { name, version, licence, repository: None, features }
    }

    #[test]
    fn package_urls_name_the_registry_for_its_own_crates_only() {
        let checksum = Origin::Registry("00".to_owned());
        let registry = Component::package(&package("MIT"), checksum).unwrap();
        assert_eq!(registry.purl, "pkg:cargo/serde_yaml@0.9.34%2Bdeprecated");
        let member = Component::package(&package("MIT"), Origin::Workspace).unwrap();
        assert_eq!(member.purl, "pkg:generic/serde_yaml@0.9.34%2Bdeprecated");
    }

    #[test]
    fn licences_are_expressions_of_spdx() {
        let of = |licence| expression(&package(licence), licence);
        assert_eq!(of("MIT/Apache-2.0").unwrap(), "MIT OR Apache-2.0");
        let kept = "(MIT OR Apache-2.0) AND Unicode-3.0";
        assert_eq!(of(kept).unwrap(), kept);
        assert!(matches!(of(""), Err(Error::Licence { .. })));
        assert!(matches!(of("whatever"), Err(Error::Licence { .. })));
    }
}
