//! InfraEnv of assisted-service: `spec.nmStateConfigLabelSelector` selects the NMStateConfigs of its hosts
//! (openshift/assisted-service, `internal/controller/controllers/infraenv_controller.go`, `processNMStateConfig`: without a
//! selector none).

use nmgen_document::Node;
use nmgen_document::diagnostic::{Diagnostic, Diagnostics, Place, rules};

use super::found::Found;
use super::manifest::Manifest;

rules! {
    warning INFRA_ENV_SELECTOR = "infra-env-selector";
}

const SELECTOR: &str = "nmStateConfigLabelSelector";

/// A label of an object, or one that a selector asks for.
#[derive(Debug)]
pub(super) struct Label {
    key: String,
    value: String,
    place: Place,
}

impl Label {
    fn is(&self, other: &Self) -> bool {
        self.key == other.key && self.value == other.value
    }
}

type Labels = Vec<Label>;

#[derive(Debug)]
struct InfraEnv {
    name: String,
    namespace: Option<String>,
    wanted: Labels,
    /// The selector has expressions, which are not read here.
    has_expressions: bool,
    place: Place,
}

#[derive(Debug)]
struct Config {
    namespace: Option<String>,
    labels: Labels,
    place: Place,
}

/// The InfraEnvs of the sources, and the NMStateConfigs that they may select.
#[derive(Debug, Default)]
pub(super) struct InfraEnvs {
    environments: Vec<InfraEnv>,
    configs: Vec<Config>,
}

impl InfraEnvs {
    pub(super) fn add_config(&mut self, namespace: Option<String>, labels: Labels, place: Place) {
        self.configs.push(Config { namespace, labels, place });
    }

    /// Tells of InfraEnvs and NMStateConfigs without each other. Only labels that the sources show are compared.
    pub(super) fn unselected(&self) -> Diagnostics {
        let mut found = Diagnostics::default();
        let mut has_selected = false;
        for environment in &self.environments {
            let mut of = self.configs.iter().filter(|config| environment.is_beside(config));
            let has_any = of.clone().next().is_some();
            let has_own = of.any(|config| environment.selects(config));
            has_selected |= has_own;
            if has_any && !has_own {
                if let Some(told) = environment.misspelt(&self.configs) {
                    found.push(told);
                    continue;
                }
                let message = format!(
                    "the InfraEnv {} selects none of the NMStateConfigs",
                    environment.name.escape_debug()
                );
                let help = "its hosts boot by DHCP: give spec.nmStateConfigLabelSelector.matchLabels labels that they have";
                found.add(INFRA_ENV_SELECTOR, environment.place.clone(), message, help);
            }
        }
        let has_environment = |config: &Config| {
            self.environments.iter().any(|environment| environment.is_beside(config))
        };
        let is_selected = |config: &Config| {
            self.environments.iter().any(|environment| environment.selects(config))
        };
        // One mistake in a selector leaves out all.
        for config in self.configs.iter().filter(|_| has_selected) {
            if has_environment(config) && !is_selected(config) {
                let message = "no InfraEnv here selects this NMStateConfig";
                let help = "its host boots by DHCP: add a label that spec.nmStateConfigLabelSelector asks for";
                found.add(INFRA_ENV_SELECTOR, config.place.clone(), message, help);
            }
        }
        found
    }
}

impl InfraEnv {
    fn is_beside(&self, config: &Config) -> bool {
        match (&self.namespace, &config.namespace) {
            (Some(own), Some(other)) => own == other,
            (None, _) | (_, None) => true,
        }
    }

    fn selects(&self, config: &Config) -> bool {
        let has = |label: &Label| config.labels.iter().any(|own| own.is(label));
        self.is_beside(config)
            && (self.has_expressions || !self.wanted.is_empty() && self.wanted.iter().all(has))
    }

    /// A label of the NMStateConfigs beside it that has another value than the selector asks for.
    fn misspelt(&self, configs: &[Config]) -> Option<Diagnostic> {
        let mut beside = configs.iter().filter(|config| self.is_beside(config));
        let (own, wanted) = beside.find_map(|config| {
            let of = |own: &Label| {
                self.wanted.iter().find(|wanted| wanted.key == own.key && !wanted.is(own))
            };
            let mut labels = config.labels.iter();
            labels.find_map(|own| Some((own, of(own)?)))
        })?;
        let (key, value) = (own.key.escape_debug(), own.value.escape_debug());
        let message = format!(
            "the label {key} is \"{value}\", and the InfraEnv {} selects \"{}\" ({})",
            self.name.escape_debug(),
            wanted.value.escape_debug(),
            wanted.place.shown()
        );
        let help = "the host boots by DHCP: write the same value in both";
        Some(Diagnostic::new(INFRA_ENV_SELECTOR, message, own.place.clone()).help(help))
    }
}

pub(super) fn load(manifest: &mut Manifest<'_>, root: &Node<'_>, found: &mut Found) {
    let Some((name, place)) = manifest.metadata(root) else { return };
    let Some(spec) = manifest.get(root, "spec") else { return };
    let selector = manifest.get(spec, SELECTOR);
    let has_expressions =
        selector.is_some_and(|selector| selector.get("matchExpressions").is_some());
    let place = match spec.entry(SELECTOR) {
        Some(_) => manifest.key_place(spec, Some(SELECTOR)),
        None => place,
    };
    found.infra_envs.environments.push(InfraEnv {
        name: name.name,
        namespace: name.namespace,
        wanted: selector
            .map(|selector| labels(manifest, selector, &["matchLabels"]))
            .unwrap_or_default(),
        has_expressions,
        place,
    });
}

/// The labels at the end of a chain of keys.
pub(super) fn labels(manifest: &Manifest<'_>, node: &Node<'_>, keys: &[&str]) -> Labels {
    let entries = node.at(keys).map(Node::entries).unwrap_or_default().iter();
    let label = |entry: &nmgen_document::Entry<'_>| Label {
        key: entry.key.to_string(),
        value: entry.node.text().unwrap_or_default().to_owned(),
        place: manifest.place(&entry.node),
    };
    entries.map(label).collect()
}
