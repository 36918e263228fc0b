//! `install-config.yaml`: `platform.baremetal.hosts[]` with `name`, `role`, `bootMACAddress` and
//! `networkConfig`; and `networking.hostConfig[]` with `hostname` and `networkConfig`, from which the
//! installer makes MachineConfigs (openshift/installer, `pkg/types/baremetal/platform.go` and
//! `pkg/asset/machines/machineconfig/networkconfig.go`). `controlPlane`, `arbiter` and `compute[]`
//! have the number of machines per role (`pkg/types/machinepools.go`).

use nmgen_core::source::{Host, Stage};
use nmgen_document::Node;
use nmgen_document::diagnostic::Diagnostic;

use super::cluster::{Cluster, ClusterAddress, OsStream, Replicas};
use super::found::Found;
use super::hosts_directory::NO_HOSTS;
use super::installation;
use super::manifest::{Manifest, items_mut};
use super::origin::Claim;

const HOSTS: &[&str] = &["platform", "baremetal", "hosts"];
const MACHINE_NETWORK: &str = "machineNetwork";
const HOST_CONFIGS: &[&str] = &["networking", "hostConfig"];
/// The installer's default for a pool without `replicas` (`pkg/types/defaults/machinepools.go`).
const DEFAULT_REPLICAS: u64 = 3;

/// The installer creates the machines of these platforms, so no source lists them.
const MADE_BY_INSTALLER: &[&str] =
    &["aws", "azure", "gcp", "ibmcloud", "kubevirt", "openstack", "ovirt", "powervs"];

pub(super) fn load(manifest: &mut Manifest<'_>, root: &mut Node<'_>, found: &mut Found) {
    let (name, place) = manifest.metadata(root).unzip();
    let name = name.map(|name| name.name);
    found.origin.claim(Claim::Installation { name, is_install_config: true });
    let place = place.unwrap_or_else(|| manifest.key_place(root, None));
    let without_hosts = cluster(manifest, root, found.describe(place));
    found.without_hosts.extend(without_hosts);
    for node in items_mut(root, HOSTS) {
        let host = one(manifest, node);
        found.add_machine(host, installation::management_controller(manifest, node), None);
    }
    for node in items_mut(root, HOST_CONFIGS) {
        let host = manifest.host(node, "hostname", Stage::Node);
        found.add(manifest.with_network(host, node, "networkConfig"));
    }
}

/// The facts of the cluster, and the number of its machines; the message if it has no hosts.
fn cluster(
    manifest: &mut Manifest<'_>,
    root: &Node<'_>,
    cluster: &mut Cluster,
) -> Option<Diagnostic> {
    let platform = manifest.section(root, "platform");
    let bare_metal = platform.and_then(|node| manifest.section(node, "baremetal"));
    let hosts = bare_metal.map(|node| manifest.list(node, "hosts")).unwrap_or_default();
    let networking = manifest.section(root, "networking");
    installation::network(manifest, networking, cluster);
    os_streams(manifest, root, cluster);
    let vsphere = platform.and_then(|node| manifest.section(node, "vsphere"));
    let made = vsphere.map(|node| manifest.list(node, "hosts")).unwrap_or_default();
    made_machines(manifest, made, cluster);
    if !networking.is_some_and(|node| {
        manifest.misspelt(node, &[MACHINE_NETWORK]).is_some()
            || manifest.get(node, MACHINE_NETWORK).is_some()
    }) {
        installation::default_machine_network(manifest, root, cluster);
    }
    for entry in platform.map(Node::entries).unwrap_or_default() {
        installation::virtual_addresses(manifest, &entry.node, cluster);
    }
    if let Some(bare_metal) = bare_metal {
        // `Managed` without a value (openshift/installer, `pkg/types/baremetal/defaults/platform.go`).
        let provisioning = manifest.text(bare_metal, "provisioningNetwork");
        cluster.has_provisioning_network = provisioning.is_none_or(|(text, _)| text != "Disabled");
        let (key, purpose) = ("bootstrapExternalStaticIP", "the bootstrap machine's address");
        cluster.bootstrap = installation::address_at(manifest, bare_metal, key, purpose);
    }
    let configs = networking.map(|node| manifest.list(node, "hostConfig")).unwrap_or_default();
    let mut without_hosts = None;
    if hosts.is_empty() && configs.is_empty() {
        let (at, key) = match (platform, bare_metal) {
            (Some(platform), Some(_)) => (platform, Some("baremetal")),
            (Some(_), None) => (root, Some("platform")),
            (None, _) => (root, None),
        };
        without_hosts = Some(match made.iter().find(|host| host.get("networkDevice").is_some()) {
            Some(host) => {
                let message = "vSphere's hosts have neither a name nor a card's address: no document can be made of this";
                let place = manifest.key_place(host, Some("networkDevice"));
                let help = "the installer hands these addresses to the machines' kernels itself; for br-ex \
                    give documents by host name once the machines have theirs, or one cluster.yml";
                Diagnostic::new(NO_HOSTS, message, place).help(help)
            }
            None => {
                let help = "hosts in an agent-config.yaml count too: give both files";
                let (place, help) = manifest
                    .misspelt(root, HOSTS)
                    .unwrap_or_else(|| (manifest.key_place(at, key), help.to_owned()));
                let message = "this install-config has no hosts in platform.baremetal.hosts";
                Diagnostic::new(NO_HOSTS, message, place).help(help)
            }
        });
    }
    if !platform.is_some_and(|platform| {
        platform.entries().iter().any(|entry| MADE_BY_INSTALLER.contains(&&*entry.key))
    }) {
        replicas(manifest, root, cluster);
    }
    without_hosts
}

fn one(manifest: &mut Manifest<'_>, node: &mut Node<'_>) -> Host {
    let host = Host {
        role: manifest.role(node),
        nics: manifest.nic(node, "bootMACAddress", None).into_iter().collect(),
        ..manifest.host(node, "name", Stage::Early)
    };
    manifest.with_network(host, node, "networkConfig")
}

/// The streams of the operating system: the pools' own, and the cluster's for the others.
fn os_streams(manifest: &mut Manifest<'_>, root: &Node<'_>, cluster: &mut Cluster) {
    let control_plane = manifest.get(root, "controlPlane").map(|pool| (pool, Some("master")));
    let arbiter = manifest.get(root, "arbiter").map(|pool| (pool, Some("arbiter")));
    let compute = manifest.list(root, "compute").iter().map(|pool| (pool, Some("worker")));
    let pools = control_plane.into_iter().chain(arbiter).chain(compute);
    for (owner, usual) in pools.chain([(root, None)]) {
        let Some((name, node)) = manifest.text(owner, "osImageStream") else { continue };
        let (name, place) = (name.to_owned(), manifest.place(node));
        let role = usual.map(|usual| owner.text_at("name").unwrap_or(usual).to_owned());
        cluster.os_streams.push(OsStream { role, name, place });
    }
}

/// The addresses of virtual machines that vSphere gives no name before they are there (openshift/installer,
/// `pkg/types/vsphere/platform.go`).
fn made_machines(manifest: &mut Manifest<'_>, hosts: &[Node<'_>], cluster: &mut Cluster) {
    for host in hosts {
        let Some(device) = manifest.get(host, "networkDevice") else { continue };
        let purpose = match host.text_at("role") {
            Some("bootstrap") => "the bootstrap machine's address",
            Some("control-plane") => "the address of a machine of the control plane",
            _ => "a compute machine's address",
        };
        for item in manifest.list(device, "ipAddrs") {
            let address = item.text().and_then(|text| text.split('/').next()?.parse().ok());
            let place = manifest.place(item);
            cluster.made_machines.extend(address.map(|address| ClusterAddress {
                address,
                purpose,
                place,
            }));
        }
    }
}

/// The pools, in the order in which the installer assigns them to hosts without a role.
fn replicas(manifest: &mut Manifest<'_>, root: &Node<'_>, cluster: &mut Cluster) {
    let control_plane = manifest.section(root, "controlPlane").map(|pool| (pool, "master"));
    let arbiter = manifest.section(root, "arbiter").map(|pool| (pool, "arbiter"));
    let compute = manifest.list(root, "compute").iter().map(|pool| (pool, "worker"));
    for (pool, usual) in control_plane.into_iter().chain(arbiter).chain(compute) {
        let name = manifest.text(pool, "name");
        let role = name.map_or(usual, |(name, _)| name);
        let default = if matches!(role, "master" | "worker") { DEFAULT_REPLICAS } else { 0 };
        let given = manifest.number(pool, "replicas");
        let (count, node) = given.unwrap_or((default, name.map_or(pool, |(_, node)| node)));
        let place = manifest.place(node);
        cluster.replicas.push(Replicas { role: role.to_owned(), count, place });
    }
}
