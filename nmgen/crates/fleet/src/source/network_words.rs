//! The words of a text that describes some host's network, for a file that cannot be read as what it is.

use nmgen_document::spelling::is_among;

/// Words of a text that describes some host's network.
const NETWORK: &str = "interfaces: networkConfig: nodeNetwork: desiredState: \
    preprovisioningNetworkDataName: nmstate: dns-resolver:";

/// Kinds of objects that have a host's network, or a part of its description.
pub(super) const KINDS: &str = "AgentConfig BareMetalHost ClusterInstance ConfigurationPolicy \
    ImageBasedConfig ImageBasedInstallationConfig InfraEnv InstallConfig List MachineConfig \
    NMStateConfig NodeNetworkConfigurationPolicy NodeNetworkState Policy Secret SiteConfig";

/// True for a text that seems to describe some host's network. A text of kinds that have none does not, whatever its words.
pub(super) fn is_about_network(text: &str) -> bool {
    let of_objects: Vec<&str> =
        text.lines().filter_map(|line| line.strip_prefix("kind:")).map(str::trim).collect();
    let within = || {
        let lines = text.lines().map(|line| line.trim_start_matches([' ', '-']));
        lines.filter_map(|line| line.strip_prefix("kind:")).map(str::trim).collect()
    };
    // A CustomResourceDefinition names the kind that it defines.
    let kinds = if of_objects.is_empty() { within() } else { of_objects };
    let may_be = kinds.is_empty() || kinds.iter().any(|kind| is_among(kind, KINDS));
    may_be && NETWORK.split(' ').any(|word| text.contains(word))
}

#[cfg(test)]
mod tests {
    use super::is_about_network;

    #[test]
    fn a_text_is_about_a_network_by_the_kinds_of_its_objects() {
        let words = "spec:\n  names:\n    kind: BareMetalHost\n  interfaces:\n";
        for (head, expected) in [
            ("kind: CustomResourceDefinition\n", false),
            ("kind: NMStateConfig\n", true),
            ("kind: ConfigMap\n---\nkind: Secret\n", true),
            ("items:\n- kind: BareMetalHost\n", true),
            ("items:\n- kind: Agent\n", true),
            ("", true),
        ] {
            assert_eq!(is_about_network(&format!("{head}{words}")), expected, "{head}");
        }
        assert!(!is_about_network("items:\n- kind: Agent\n  interfaces:\n"));
    }
}
