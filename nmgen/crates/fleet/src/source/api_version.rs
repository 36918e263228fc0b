//! The versions of each kind that its reader serves.

use nmgen_document::diagnostic::{Diagnostic, Rule, Severity, rules};
use nmgen_document::{Document, Entry, Node};

use super::manifest::Manifest;

rules! {
    error API_VERSION_UNKNOWN = "api-version-unknown";
}

/// The newest one first. Sources: the CustomResourceDefinitions of each operator; openshift/installer, `pkg/types/conversion`;
/// openshift-kni/cnf-features-deploy, `ztp/siteconfig-generator`.
const SERVED: &[(&str, &[&str])] = &[
    ("AgentClusterInstall", &["extensions.hive.openshift.io/v1beta1"]),
    ("AgentConfig", &["v1beta1", "v1alpha1"]),
    ("BareMetalHost", &["metal3.io/v1alpha1"]),
    ("ClusterDeployment", &["hive.openshift.io/v1"]),
    ("ClusterInstance", &["siteconfig.open-cluster-management.io/v1alpha1"]),
    ("ConfigurationPolicy", &["policy.open-cluster-management.io/v1"]),
    ("HardwareData", &["metal3.io/v1alpha1"]),
    ("InfraEnv", &["agent-install.openshift.io/v1beta1"]),
    ("InstallConfig", &["v1", "v1beta4", "v1beta3"]),
    ("MachineConfig", &["machineconfiguration.openshift.io/v1"]),
    ("NMStateConfig", &["agent-install.openshift.io/v1beta1"]),
    (
        "NodeNetworkConfigurationPolicy",
        &["nmstate.io/v1", "nmstate.io/v1beta1", "nmstate.io/v1alpha1"],
    ),
    ("Secret", &["v1"]),
    ("SiteConfig", &["ran.openshift.io/v1", "ran.openshift.io/v2"]),
];

/// The API's group; the kinds of the installer and of Kubernetes' core have none.
fn group(version: &str) -> &str {
    version.split_once('/').map_or("", |(group, _)| group)
}

/// Tells of an object that its reader does not take for one of its own. A later version of the same group may come.
pub(super) fn check(manifest: &mut Manifest<'_>, root: &Node<'_>, kind: &str) {
    let Some((_, served)) = SERVED.iter().find(|(known, _)| *known == kind) else { return };
    let Some((version, node)) = manifest.text(root, "apiVersion") else { return };
    if served.contains(&version) {
        return;
    }
    let newest = served[0];
    let is_of_group = group(version) == group(newest);
    let severity = if is_of_group { Severity::Warning } else { Severity::Error };
    let message = match is_of_group {
        true => format!("no release serves {kind} as {}", version.escape_debug()),
        false => format!("{} has no {kind}", version.escape_debug()),
    };
    let mut others = SERVED.iter().filter(|(_, served)| served.contains(&version));
    let help = match (others.next(), others.next()) {
        (Some((other, _)), None) if *other != "Secret" => {
            format!("write {newest}, or kind: {other}")
        }
        _ => format!("write {newest}"),
    };
    let place = manifest.place(node);
    manifest.add(Rule { severity, ..API_VERSION_UNKNOWN }, place, message, &help);
}

/// Returns what is wrong with an object of a known kind that has no apiVersion: nothing takes it for one.
pub(super) fn lacking(document: &Document<'_>) -> Option<Diagnostic> {
    let kind = document.root.get("kind")?;
    let (name, served) = SERVED.iter().find(|(known, _)| Some(*known) == kind.text())?;
    let is_version = |entry: &Entry<'_>| entry.key.eq_ignore_ascii_case("apiVersion");
    // An install-config is known by its keys.
    if *name == "InstallConfig" || document.root.entries().iter().any(is_version) {
        return None;
    }
    let message = format!("this {name} has no apiVersion");
    let help = format!("add \"apiVersion: {}\"", served[0]);
    Some(Diagnostic::new(API_VERSION_UNKNOWN, message, document.place(kind.span)).help(help))
}

/// Kinds of these groups that are no misspelt ones.
const OTHERS: &[&str] = &["NMState", "NodeNetworkConfigurationEnactment", "NodeNetworkState"];

/// The kind of a group that is meant by one that the group has not: the two begin alike.
pub(super) fn meant(kind: &str, version: &str) -> Option<&'static str> {
    /// Letters of two kinds' beginnings that are no accident.
    const BEGINNING: usize = 8;
    let is_alike = |known: &str| {
        let same = kind.bytes().zip(known.bytes()).take_while(|(one, other)| one == other).count();
        same >= BEGINNING
    };
    let mut of_group = SERVED.iter().filter(|(known, served)| {
        is_alike(known) && !group(version).is_empty() && group(served[0]) == group(version)
    });
    let is_other = OTHERS.contains(&kind) || kind.ends_with("List");
    of_group.next().map(|(known, _)| *known).filter(|_| !is_other)
}
