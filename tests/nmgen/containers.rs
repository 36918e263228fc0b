//! One document in each container has the same findings, but for those that depend on its stage.

use std::collections::BTreeMap;
use std::fs;

use nmgen::source::Hosts;
use tests::examples::sections;
use tests::{documents, program};

/// Findings about what is beside the document: the map of cards, the bridge of the running node, the reader of a mapping's values.
const BESIDE: [&str; 3] = ["bridge-missing", "boot-mac-unknown", "yaml-dialect"];

/// Findings that conclude from something that a policy leaves to the node.
const OF_WHOLE: [&str; 13] = [
    "address-beside-dhcp",
    "base-undeclared",
    "cluster-static-address",
    "default-routes-apart",
    "dns-without-interface",
    "mac-not-fixed",
    "no-default-route",
    "ovs-bridge-without-interface",
    "ovs-interface-without-bridge",
    "port-undeclared",
    "route-interface-undeclared",
    "route-metric-left-out",
    "route-without-interface",
];

/// The containers of a stage: the name of the file, and the text around the document, whose lines are indented by this number.
type Container = (&'static str, &'static str, usize);

/// In place of an indentation: the document is in the URL that the text around it begins.
const URL: usize = 0;

const EARLY: [Container; 2] = [
    (
        "secret.yaml",
        "apiVersion: v1\nkind: Secret\nmetadata: {name: worker-0-network-config-secret, namespace: m}\n\
         stringData:\n  nmstate: |\n",
        4,
    ),
    ("network.yaml", "networkConfig:\n", 2),
];

const OF_NODE: [Container; 3] = [
    (
        "butane.yaml",
        "variant: openshift\nversion: 4.18.0\nmetadata: {name: m, labels: {machineconfiguration.openshift.io/role: worker}}\n\
         storage:\n  files:\n  - path: /etc/nmstate/openshift/worker-0.yml\n    \
         contents:\n      inline: |\n",
        8,
    ),
    (
        "policy.yaml",
        "apiVersion: nmstate.io/v1\nkind: NodeNetworkConfigurationPolicy\nmetadata: {name: p}\nspec:\n  \
         nodeSelector: {kubernetes.io/hostname: worker-0}\n  desiredState:\n",
        4,
    ),
    (
        "config-map.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n  config: |\n    apiVersion: \
         machineconfiguration.openshift.io/v1\n    kind: MachineConfig\n    metadata: {name: m}\n    spec:\n      config:\n        \
         storage:\n          files:\n          - path: /etc/nmstate/openshift/worker-0.yml\n            contents: {source: \"data:,",
        URL,
    ),
];

/// The numbers of findings by rule.
type Told = BTreeMap<&'static str, usize>;

fn told(hosts: &Hosts, is_for_node: bool, left_out: &[&str]) -> Told {
    let mut found = if is_for_node { nmgen::check(hosts) } else { nmgen::diagnose(hosts) };
    found.retain(|finding| {
        !BESIDE.contains(&finding.rule.name) && !left_out.contains(&finding.rule.name)
    });
    let mut told = Told::new();
    for finding in &found {
        *told.entry(finding.rule.name).or_default() += 1;
    }
    told
}

/// Documents of the fixtures, and those of the checks' examples, right and wrong.
fn all() -> Vec<String> {
    let examples = sections(&program::root().join("nmgen/doc/checks.md"));
    let examples = examples.into_iter().flat_map(|section| section.examples);
    let plain = examples
        .filter(|example| example.info.len() == 2 && example.is("yaml"))
        .map(|example| example.text);
    // A stream and a text with a fault of YAML's are other ones within a mapping.
    let is_state = |text: &String| {
        text.starts_with("interfaces:") && serde_yaml::from_str::<serde_yaml::Value>(text).is_ok()
    };
    let fixtures = documents::fixtures().into_iter().map(|fixture| fixture.text);
    fixtures.chain(plain).filter(is_state).collect()
}

/// A document that is read in the same way as a part of another one: comments, breaks and anchors are the text's own.
fn within((_, head, indent): &Container, document: &str) -> String {
    if *indent == URL {
        let escaped: String = document.bytes().map(|byte| format!("%{byte:02x}")).collect();
        return format!("{head}{escaped}\"}}\n");
    }
    let indented = document.lines().map(|line| match line {
        "" => "\n".to_owned(),
        line => format!("{}{line}\n", " ".repeat(*indent)),
    });
    format!("{head}{}", indented.collect::<String>())
}

#[tests::case]
fn a_document_has_the_same_findings_in_each_container() {
    let directory = tempfile::tempdir().unwrap();
    let load = |name: &str, text: &str| {
        let file = directory.path().join(name);
        fs::write(&file, text).unwrap();
        nmgen::source::load(&[file.display().to_string()]).unwrap()
    };
    let (mut faults, all) = (Vec::new(), all());
    assert!(all.len() > 200, "{}", all.len());
    for document in &all {
        let alone = load("worker-0.yml", document);
        for (containers, is_for_node) in [(&EARLY[..], false), (&OF_NODE[..], true)] {
            for container in containers {
                let hosts = load(container.0, &within(container, document));
                let left_out: &[&str] = if container.0 == "policy.yaml" { &OF_WHOLE } else { &[] };
                let wanted = told(&alone, is_for_node, left_out);
                let found = told(&hosts, is_for_node, left_out);
                if found != wanted {
                    faults
                        .push(format!("{}: {found:?}, alone {wanted:?}\n{document}", container.0));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{} of {}:\n{}", faults.len(), all.len(), faults.join("\n"));
}
