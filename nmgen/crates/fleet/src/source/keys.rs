//! Keys that stand in another part of an object than the one where its reader looks, and keys that a strict reader refuses.

use nmgen_document::diagnostic::{Rule, Severity};
use nmgen_document::spelling::{self, is_among};
use nmgen_document::text::Span;
use nmgen_document::{Entry, Node};

use super::manifest::{Decoder, KEY_MISPLACED, KEY_MISSPELT, Manifest};

/// The keys of a kind that are read in a part of it alone.
struct KeyHomes {
    name: &'static str,
    reader: &'static str,
    /// The keys of each of these parts; "" is the object itself. The first part of a key is told.
    parts: &'static [(&'static str, &'static str)],
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
        parts: &[
            ("", "additionalNTPSources bootArtifactsBaseURL hosts minimalISO rendezvousIP"),
            ("hosts[]", "hostname networkConfig rootDeviceHints"),
            ("hosts[].interfaces[]", "macAddress"),
        ],
    },
    KeyHomes {
        name: NODES_CONFIG,
        reader: "oc",
        parts: &[
            ("", "hosts"),
            ("hosts[]", "hostname networkConfig rootDeviceHints"),
            ("hosts[].interfaces[]", "macAddress"),
        ],
    },
    KeyHomes {
        name: "InstallConfig",
        reader: "openshift-install",
        parts: &[
            ("", "networking"),
            ("platform.baremetal", "hosts"),
            ("platform.vsphere", "hosts"),
            ("platform.baremetal.hosts[]", "networkConfig bootMACAddress"),
            ("networking", "machineNetwork hostConfig"),
            ("networking.hostConfig[]", "networkConfig"),
        ],
    },
    KeyHomes {
        name: "InfraEnv",
        reader: "assisted-service",
        parts: &[("spec", "nmStateConfigLabelSelector")],
    },
    KeyHomes {
        name: "BareMetalHost",
        reader: "metal3",
        parts: &[
            ("spec", "bootMACAddress preprovisioningNetworkDataName bmc"),
            ("spec.bmc", "credentialsName"),
        ],
    },
    KeyHomes {
        name: "NodeNetworkConfigurationPolicy",
        reader: "kubernetes-nmstate",
        parts: &[
            ("spec", "capture desiredState maxUnavailable nodeSelector"),
            ("spec.desiredState", "dns-resolver ovn ovs-db route-rules routes"),
        ],
    },
    KeyHomes {
        name: "ClusterInstance",
        reader: "the siteconfig operator",
        parts: &[
            ("spec", "nodes machineNetwork clusterName"),
            ("spec.nodes[]", "bmcAddress bootMACAddress hostName nodeNetwork"),
        ],
    },
    KeyHomes {
        name: "SiteConfig",
        reader: "the siteconfig generator",
        parts: &[
            ("spec", "clusters"),
            ("spec.clusters[]", "nodes machineNetwork clusterName"),
            ("spec.clusters[].nodes[]", "bmcAddress bootMACAddress hostName nodeNetwork"),
        ],
    },
    KeyHomes {
        name: "MachineConfig",
        reader: "the machine-config-operator",
        parts: &[("spec.config", "ignition storage systemd passwd")],
    },
];

impl KeyHomes {
    /// A key in its reader's spelling, and the parts that have it; another case is no matter of the place.
    fn home(&self, found: &str) -> Option<(&'static str, Vec<&'static str>)> {
        let (keys, parts): (Vec<_>, Vec<_>) = self
            .parts
            .iter()
            .filter_map(|(part, keys)| {
                Some((keys.split(' ').find(|key| key.eq_ignore_ascii_case(found))?, *part))
            })
            .unzip();
        Some((*keys.first()?, parts))
    }
}

/// nodes-config.yaml, which has no kind of its own.
pub(super) const NODES_CONFIG: &str = "nodes-config";

/// All keys of the parts of an AgentConfig, of each release: openshift-install decodes it with `yaml.UnmarshalStrict`
/// (`pkg/asset/agent/agentconfig/agent_config.go`).
const AGENT_CONFIG: &[(&str, &str)] = &[
    (
        "",
        "additionalNTPSources apiVersion bootArtifactsBaseURL hosts ipxeBaseURL kind metadata minimalISO rendezvousIP",
    ),
    ("hosts[]", "bmc hostname interfaces networkConfig role rootDeviceHints"),
    ("hosts[].interfaces[]", "macAddress name"),
    (
        "hosts[].rootDeviceHints",
        "deviceName hctl minSizeGigabytes model rotational serialNumber vendor wwn wwnVendorExtension wwnWithExtension",
    ),
];

/// Parts of a document, which are told beside its key.
const PARTS: &str = "dns-resolver route-rules routes";

/// Parts with keys or texts of the user's own, and documents.
const OPAQUE: &str = "annotations capture config data desiredState extraAnnotations extraLabels labels \
    nodeLabels nodeSelector status stringData";

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
        let home = kind.home(&entry.key);
        let is_known = home.is_some();
        let is_here = |home: &&str| home.eq_ignore_ascii_case(at);
        if let Some((key, homes)) = home.filter(|(_, homes)| !homes.iter().any(is_here)) {
            let help = match homes[..] {
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
            && !is_known
            && entry.key != "metadata"
            && has_own(kind, &entry.node)
        {
            let what = format!("{} has no {}", named(kind.name), entry.key.escape_debug());
            let help = "move its keys to the left".to_owned();
            let severity = Severity::Error;
            let (keys, around) = (Vec::new(), around());
            strays.push(Stray { entry, keys, what, help, severity, around });
        } else if !is_among(&entry.key, OPAQUE) {
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
    let mut rests = kind.parts.iter().filter_map(|(home, _)| {
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
    let mut own = kind.parts.iter().filter(|(part, _)| part.is_empty());
    own.any(|(_, keys)| keys.split(' ').any(|key| node.get(key).is_some()))
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
        let is_known = known.split(' ').any(|known| entry.key.eq_ignore_ascii_case(known));
        if is_known || is_among(&entry.key, PARTS) {
            continue;
        }
        let place = manifest.document().place(entry.key_span);
        if *left == 0 || manifest.is_told(&place) {
            continue;
        }
        *left -= 1;
        match known.split(' ').find(|known| is_near(&entry.key, known)) {
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
                manifest.add(rule, place, message, &format!("it has {}", known.replace(' ', ", ")));
            }
        }
    }
}
