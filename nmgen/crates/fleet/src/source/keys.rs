//! Keys that stand in another part of an object than the one where its reader looks, and keys that a strict reader refuses.

use nmgen_document::diagnostic::{Rule, Severity};
use nmgen_document::spelling;
use nmgen_document::text::Span;
use nmgen_document::{Entry, Node};

use super::manifest::{Decoder, KEY_MISPLACED, KEY_MISSPELT, Manifest};

/// The keys of a kind that are read in a part of it alone, each with these parts; "" is the object itself.
struct KeyHomes {
    name: &'static str,
    reader: &'static str,
    homes: &'static [(&'static str, &'static [&'static str])],
}

/// openshift/installer, `pkg/types/agent/agent_config_type.go`, `pkg/asset/agent/joiner/addnodesconfig.go`,
/// `pkg/types/baremetal/platform.go`, `pkg/types/installconfig.go`; openshift/assisted-service, `api/v1beta1/infraenv_types.go`;
/// metal3-io/baremetal-operator, `apis/metal3.io/v1alpha1/baremetalhost_types.go`; nmstate/kubernetes-nmstate,
/// `api/shared/nodenetworkconfigurationpolicy_types.go`; stolostron/siteconfig, `api/v1alpha1/clusterinstance_types.go`;
/// Ignition's config in a MachineConfig.
const KINDS: &[KeyHomes] = &[
    KeyHomes {
        name: "AgentConfig",
        reader: "openshift-install",
        homes: &[
            ("additionalNTPSources", &[""]),
            ("bootArtifactsBaseURL", &[""]),
            ("hosts", &[""]),
            ("minimalISO", &[""]),
            ("rendezvousIP", &[""]),
            ("hostname", &["hosts[]"]),
            ("networkConfig", &["hosts[]"]),
            ("rootDeviceHints", &["hosts[]"]),
            ("macAddress", &["hosts[].interfaces[]"]),
        ],
    },
    KeyHomes {
        name: NODES_CONFIG,
        reader: "oc",
        homes: &[
            ("hosts", &[""]),
            ("hostname", &["hosts[]"]),
            ("networkConfig", &["hosts[]"]),
            ("rootDeviceHints", &["hosts[]"]),
            ("macAddress", &["hosts[].interfaces[]"]),
        ],
    },
    KeyHomes {
        name: "InstallConfig",
        reader: "openshift-install",
        homes: &[
            ("hosts", &["platform.baremetal", "platform.vsphere"]),
            ("networkConfig", &["platform.baremetal.hosts[]", "networking.hostConfig[]"]),
            ("bootMACAddress", &["platform.baremetal.hosts[]"]),
            ("networking", &[""]),
            ("machineNetwork", &["networking"]),
            ("hostConfig", &["networking"]),
        ],
    },
    KeyHomes {
        name: "InfraEnv",
        reader: "assisted-service",
        homes: &[("nmStateConfigLabelSelector", &["spec"])],
    },
    KeyHomes {
        name: "BareMetalHost",
        reader: "metal3",
        homes: &[
            ("bootMACAddress", &["spec"]),
            ("preprovisioningNetworkDataName", &["spec"]),
            ("bmc", &["spec"]),
            ("credentialsName", &["spec.bmc"]),
        ],
    },
    KeyHomes {
        name: "NodeNetworkConfigurationPolicy",
        reader: "kubernetes-nmstate",
        homes: &[
            ("capture", &["spec"]),
            ("desiredState", &["spec"]),
            ("maxUnavailable", &["spec"]),
            ("nodeSelector", &["spec"]),
            ("dns-resolver", &["spec.desiredState"]),
            ("ovn", &["spec.desiredState"]),
            ("ovs-db", &["spec.desiredState"]),
            ("route-rules", &["spec.desiredState"]),
            ("routes", &["spec.desiredState"]),
        ],
    },
    KeyHomes {
        name: "ClusterInstance",
        reader: "the siteconfig operator",
        homes: &[
            ("nodes", &["spec"]),
            ("machineNetwork", &["spec"]),
            ("clusterName", &["spec"]),
            ("bmcAddress", &["spec.nodes[]"]),
            ("bootMACAddress", &["spec.nodes[]"]),
            ("hostName", &["spec.nodes[]"]),
            ("nodeNetwork", &["spec.nodes[]"]),
        ],
    },
    KeyHomes {
        name: "SiteConfig",
        reader: "the siteconfig generator",
        homes: &[
            ("clusters", &["spec"]),
            ("nodes", &["spec.clusters[]"]),
            ("machineNetwork", &["spec.clusters[]"]),
            ("clusterName", &["spec.clusters[]"]),
            ("bmcAddress", &["spec.clusters[].nodes[]"]),
            ("bootMACAddress", &["spec.clusters[].nodes[]"]),
            ("hostName", &["spec.clusters[].nodes[]"]),
            ("nodeNetwork", &["spec.clusters[].nodes[]"]),
        ],
    },
    KeyHomes {
        name: "MachineConfig",
        reader: "the machine-config-operator",
        homes: &[
            ("ignition", &["spec.config"]),
            ("storage", &["spec.config"]),
            ("systemd", &["spec.config"]),
            ("passwd", &["spec.config"]),
        ],
    },
];

/// nodes-config.yaml, which has no kind of its own.
pub(super) const NODES_CONFIG: &str = "nodes-config";

/// All keys of the parts of an AgentConfig, of each release: openshift-install decodes it with `yaml.UnmarshalStrict`
/// (`pkg/asset/agent/agentconfig/agent_config.go`).
const AGENT_CONFIG: &[(&str, &[&str])] = &[
    (
        "",
        &[
            "additionalNTPSources",
            "apiVersion",
            "bootArtifactsBaseURL",
            "hosts",
            "ipxeBaseURL",
            "kind",
            "metadata",
            "minimalISO",
            "rendezvousIP",
        ],
    ),
    ("hosts[]", &["bmc", "hostname", "interfaces", "networkConfig", "role", "rootDeviceHints"]),
    ("hosts[].interfaces[]", &["macAddress", "name"]),
    (
        "hosts[].rootDeviceHints",
        &[
            "deviceName",
            "hctl",
            "minSizeGigabytes",
            "model",
            "rotational",
            "serialNumber",
            "vendor",
            "wwn",
            "wwnVendorExtension",
            "wwnWithExtension",
        ],
    ),
];

/// Parts of a document, which are told beside its key.
const PARTS: &[&str] = &["dns-resolver", "route-rules", "routes"];

/// Parts with keys or texts of the user's own, and documents.
const OPAQUE: &[&str] = &[
    "annotations",
    "capture",
    "config",
    "data",
    "desiredState",
    "extraAnnotations",
    "extraLabels",
    "labels",
    "nodeLabels",
    "nodeSelector",
    "status",
    "stringData",
];

/// How the reader of a kind decodes it.
pub(super) fn decoder(kind: &str) -> Decoder {
    Decoder {
        // sigs.k8s.io/yaml makes JSON of it.
        folds_case: matches!(
            kind,
            "AgentConfig"
                | "ImageBasedConfig"
                | "ImageBasedInstallationConfig"
                | "InstallConfig"
                | NODES_CONFIG
        ),
        is_strict: kind == "AgentConfig",
    }
}

/// Keys of one part where nobody reads them.
struct Stray<'n, 't> {
    /// The first one.
    entry: &'n Entry<'t>,
    keys: Vec<&'n str>,
    /// What is wrong with them, behind their names; the whole message of a section that no reader knows.
    what: String,
    help: String,
    severity: Severity,
    /// The keys around them.
    around: Vec<Span>,
}

/// Bounds the findings of an object.
const MAX_FOUND: usize = 100;

/// A part of an object, from its top.
#[derive(Clone, Copy)]
struct ObjectPart<'p> {
    key: Span,
    above: Option<&'p ObjectPart<'p>>,
}

/// Tells of keys in the wrong part of an object. Returns whether a host may lack because of one what it seems to lack.
pub(super) fn check(manifest: &mut Manifest<'_>, root: &Node<'_>, kind: &str) -> bool {
    let Some(kind) = KINDS.iter().find(|known| known.name == kind) else { return false };
    let mut found = Vec::new();
    walk(kind, root, root, "", None, &mut found);
    let mut is_found = false;
    let document = manifest.document();
    for Stray { entry, keys, what, help, severity, around } in found {
        // What is below a key that is told is meant otherwise.
        if around.iter().any(|key| manifest.is_told(&document.place(*key))) {
            continue;
        }
        let message = match keys.len() {
            0 => what,
            1 => format!("{} is {what}", keys[0]),
            _ => format!("{} are {what}", keys.join(" and ")),
        };
        let place = document.place(entry.key_span);
        if !manifest.is_told(&place) {
            is_found |= severity == Severity::Error;
            manifest.add(Rule { severity, ..KEY_MISPLACED }, place, message, &help);
        }
    }
    if manifest.decoder.is_strict {
        let mut left = MAX_FOUND;
        unknown(manifest, root, "", &mut left);
    }
    is_found
}

fn walk<'n, 't>(
    kind: &KeyHomes,
    root: &Node<'_>,
    node: &'n Node<'t>,
    at: &str,
    above: Option<&ObjectPart<'_>>,
    found: &mut Vec<Stray<'n, 't>>,
) {
    let around = || {
        let parts = std::iter::successors(above, |part| part.above);
        parts.map(|part| part.key).collect::<Vec<_>>()
    };
    if !node.items().is_empty() {
        let at = format!("{at}[]");
        node.items().iter().for_each(|item| walk(kind, root, item, &at, above, found));
    }
    let mut strays: Vec<Stray<'n, 't>> = Vec::new();
    for entry in node.entries() {
        if found.len() >= MAX_FOUND {
            return;
        }
        // Another case is no matter of the place.
        let home = kind.homes.iter().find(|(key, _)| entry.key.eq_ignore_ascii_case(key));
        let is_here = |home: &&str| home.eq_ignore_ascii_case(at);
        if let Some((key, homes)) = home.filter(|(_, homes)| !homes.iter().any(is_here)) {
            let help = match homes {
                [""] => format!("{} reads {key} at the top level", kind.reader),
                _ => format!("{} reads {}.{key}", kind.reader, homes[0]),
            };
            let what = match at.rsplit('.').next() {
                None | Some("") => "at the top level".to_owned(),
                Some(part) => match part.strip_suffix("[]") {
                    Some(list) => format!("in an item of {list}"),
                    None => format!("in {part}"),
                },
            };
            // Another item's key is none of this one.
            let mut single = homes.iter().filter(|home| !home.contains("[]"));
            let is_twice = single.any(|home| has(root, home, key));
            let severity = if is_twice { Severity::Warning } else { Severity::Error };
            match strays.iter_mut().find(|stray| !stray.keys.is_empty()) {
                Some(stray) => stray.keys.push(&entry.key),
                None => {
                    let (keys, around) = (vec![&*entry.key], around());
                    strays.push(Stray { entry, keys, what, help, severity, around });
                }
            }
        } else if at.is_empty()
            && home.is_none()
            && entry.key != "metadata"
            && has_own(kind, &entry.node)
        {
            let what = format!("{} has no {}", named(kind.name), entry.key.escape_debug());
            let help = "move its keys to the left".to_owned();
            let severity = Severity::Error;
            let (keys, around) = (Vec::new(), around());
            strays.push(Stray { entry, keys, what, help, severity, around });
        } else if !OPAQUE.contains(&&*entry.key) {
            let at =
                if at.is_empty() { entry.key.to_string() } else { format!("{at}.{}", entry.key) };
            if has_its_shape(kind, &entry.node, &at) {
                let part = ObjectPart { key: entry.key_span, above };
                walk(kind, root, &entry.node, &at, Some(&part), found);
            }
        }
    }
    found.append(&mut strays);
}

/// False for a list instead of a mapping, or a mapping instead of a list, which its reader tells.
fn has_its_shape(kind: &KeyHomes, node: &Node<'_>, at: &str) -> bool {
    let homes = || kind.homes.iter().flat_map(|(_, homes)| *homes);
    let mut rests = homes().filter_map(|home| {
        let (first, rest) = home.split_at_checked(at.len())?;
        first.eq_ignore_ascii_case(at).then_some(rest)
    });
    match node.items() {
        [] => !rests.any(|rest| rest.starts_with("[]")) || node.entries().is_empty(),
        _ => !rests.any(|rest| rest.is_empty() || rest.starts_with('.')),
    }
}

/// True for a section that has the keys of the object itself: the hosts of an AgentConfig below `spec`.
fn has_own(kind: &KeyHomes, node: &Node<'_>) -> bool {
    let is_own = |(key, homes): &(&str, &[&str])| homes.contains(&"") && node.get(key).is_some();
    kind.homes.iter().any(is_own)
}

/// True if a part of the object has the key.
fn has(root: &Node<'_>, home: &str, key: &str) -> bool {
    let mut parts = home.split('.').filter(|part| !part.is_empty());
    let part = parts.try_fold(root, |node, part| node.get(part));
    part.is_some_and(|node| node.get(key).is_some())
}

fn named(kind: &str) -> String {
    let article = if kind.starts_with(['A', 'I']) { "an" } else { "a" };
    format!("{article} {kind}")
}

/// Letters of two keys' beginnings that are no accident.
const BEGINNING: usize = 10;

/// True for a key that is meant as another one: misspelt, or with another end.
fn is_near(found: &str, known: &str) -> bool {
    let same = found.bytes().zip(known.bytes()).take_while(|(one, other)| one == other).count();
    spelling::is_alike(found, known) || same >= BEGINNING
}

/// Tells of the keys of an AgentConfig that no release has. One that is alike to none may be a later release's.
fn unknown(manifest: &mut Manifest<'_>, node: &Node<'_>, at: &str, left: &mut usize) {
    for item in node.items() {
        unknown(manifest, item, &format!("{at}[]"), left);
    }
    let Some((_, known)) = AGENT_CONFIG.iter().find(|(part, _)| *part == at) else {
        return;
    };
    for entry in node.entries() {
        let below =
            if at.is_empty() { entry.key.to_string() } else { format!("{at}.{}", entry.key) };
        unknown(manifest, &entry.node, &below, left);
        let is_known = |known: &&str| entry.key.eq_ignore_ascii_case(known);
        let is_part = PARTS.contains(&&*entry.key);
        if known.iter().any(is_known) || is_part {
            continue;
        }
        let place = manifest.document().place(entry.key_span);
        if *left == 0 || manifest.is_told(&place) {
            continue;
        }
        *left -= 1;
        match known.iter().find(|known| is_near(&entry.key, known)) {
            Some(meant) => {
                manifest.unknown_key(place, &entry.key, &format!("did you mean \"{meant}\"?"));
            }
            None => {
                let rule = Rule { severity: Severity::Warning, ..KEY_MISSPELT };
                let of =
                    if at.is_empty() { "an AgentConfig" } else { "this part of an AgentConfig" };
                let message = format!(
                    "{of} has no \"{}\": openshift-install refuses unknown keys",
                    entry.key.escape_debug()
                );
                manifest.add(rule, place, message, &format!("it has {}", known.join(", ")));
            }
        }
    }
}
