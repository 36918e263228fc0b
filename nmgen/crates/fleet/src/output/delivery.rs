//! Forms that other programs deliver to the nodes.

mod agent;
mod cards;
mod compress;
mod cpio;
mod host_name;
mod initrd_loss;
mod kargs_loss;
mod kubernetes_object;
mod secrets;
mod to_bmh_secret;
mod to_ignition;
mod to_initrd;
mod to_kargs;
mod to_machine_config;
mod to_nmstateconfig;
mod to_nodepool_config;
mod to_policy;

use std::collections::HashSet;

use nmgen_core::check::Purpose;
use nmgen_core::node::CLUSTER;
use nmgen_core::source::{Host, Stage};
use nmgen_document::diagnostic::{Diagnostics, Rule};
use nmgen_document::error::Error;

use super::once;
use super::options::Options;
use super::rendered::Output;
use crate::check::running_node;
use crate::convert::Converted;
use crate::source::{Cluster, own_name};

/// The rules of these forms.
pub(super) fn rules() -> Vec<Rule> {
    [
        host_name::RULES,
        kubernetes_object::RULES,
        to_machine_config::RULES,
        to_nmstateconfig::RULES,
        kargs_loss::RULES,
        &to_initrd::rules(),
        initrd_loss::RULES,
        secrets::RULES,
    ]
    .concat()
}

/// A form that another program delivers to the nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// Ignition configs with keyfiles, host name and link files.
    Ignition,
    /// MachineConfigs with the documents, one for each role.
    MachineConfig,
    /// ConfigMaps with these MachineConfigs, for the NodePools of a hosted cluster.
    NodepoolConfig,
    /// NodeNetworkConfigurationPolicies of kubernetes-nmstate.
    Policy,
    /// Secrets with the documents, and the BareMetalHosts' references to them.
    BmhSecret,
    /// NMStateConfig objects of assisted-service.
    NmStateConfig,
    /// Kernel arguments for dracut.
    Kargs,
    /// A cpio archive with the documents, for `nmgen boot`.
    Initrd,
}

impl Delivery {
    pub(super) fn purpose(self) -> Purpose {
        match self {
            Self::MachineConfig | Self::NodepoolConfig | Self::Policy => Purpose::Apply,
            Self::Ignition | Self::BmhSecret | Self::NmStateConfig | Self::Kargs | Self::Initrd => {
                Purpose::Offline
            }
        }
    }

    pub(super) fn stage(self) -> Stage {
        match self {
            Self::MachineConfig | Self::NodepoolConfig | Self::Policy => Stage::Node,
            Self::Ignition | Self::BmhSecret | Self::NmStateConfig | Self::Kargs | Self::Initrd => {
                Stage::Early
            }
        }
    }

    /// True when the form holds MAC addresses that only the source gives.
    pub(super) fn has_map(self) -> bool {
        match self {
            Self::NmStateConfig | Self::Kargs | Self::Initrd => true,
            Self::Ignition
            | Self::MachineConfig
            | Self::NodepoolConfig
            | Self::Policy
            | Self::BmhSecret => false,
        }
    }

    /// Reports faults that a document has in this form alone, since the form gives it another purpose.
    pub(super) fn check(self, hosts: &[Converted], clusters: &[Cluster]) -> Diagnostics {
        match self {
            Self::MachineConfig | Self::NodepoolConfig => {
                // A second document of a host is a fault by itself (`once`).
                let mut seen = HashSet::new();
                let first = hosts.iter().filter(|converted| {
                    let Host { cluster, role, .. } = &converted.host;
                    seen.insert((cluster, role, host_name::node_name(converted)))
                });
                running_node::check(first.map(|converted| &converted.host), clusters)
            }
            Self::Ignition
            | Self::Policy
            | Self::BmhSecret
            | Self::NmStateConfig
            | Self::Kargs
            | Self::Initrd => Diagnostics::default(),
        }
    }

    /// The host's own file or object.
    pub(super) fn destination<'h>(
        self,
        host: &'h Converted,
        options: &'h Options,
    ) -> Option<once::Destination<'h>> {
        let file =
            |extension: &str| format!("{}.{extension}", host_name::document_name(host)).into();
        match self {
            Self::Ignition => Some((None, file("ign"))),
            Self::Kargs => Some((None, file("kargs"))),
            Self::Initrd => Some((None, file("yml"))),
            Self::MachineConfig | Self::NodepoolConfig => {
                let name = format!("{}.yml", host_name::node_name(host));
                Some((host.host.role.as_deref().or(options.role.as_deref()), name.into()))
            }
            Self::BmhSecret | Self::NmStateConfig | Self::Policy => {
                let name = own_name(&host.host).filter(|name| *name != CLUSTER)?;
                Some((None, name.into()))
            }
        }
    }

    /// The name of a cluster's only file.
    pub(super) fn file_name(self, hosts: &[Converted]) -> String {
        let host = hosts.first().map_or(CLUSTER, host_name::document_name);
        match self {
            Self::Ignition => format!("{host}.ign"),
            Self::Kargs => format!("{host}.kargs"),
            Self::MachineConfig => "machine-config.yaml".to_owned(),
            Self::NodepoolConfig => "nodepool-config.yaml".to_owned(),
            Self::Policy => "policy.yaml".to_owned(),
            Self::BmhSecret => "bmh-secret.yaml".to_owned(),
            Self::NmStateConfig => "nmstateconfig.yaml".to_owned(),
            Self::Initrd => "initrd.img".to_owned(),
        }
    }

    pub(super) fn render(
        self,
        hosts: &[Converted],
        options: &Options,
        diagnostics: &mut Diagnostics,
    ) -> Result<Output, Error> {
        match self {
            Self::Ignition => to_ignition::render(hosts, options.ignition_version),
            Self::MachineConfig => to_machine_config::render(hosts, options, diagnostics),
            Self::NodepoolConfig => to_nodepool_config::render(hosts, options, diagnostics),
            Self::Policy => to_policy::render(hosts, diagnostics).map(Output::File),
            Self::BmhSecret => to_bmh_secret::render(hosts, options, diagnostics).map(Output::File),
            Self::NmStateConfig => {
                to_nmstateconfig::render(hosts, options, diagnostics).map(Output::File)
            }
            Self::Kargs => to_kargs::render(hosts, options, diagnostics),
            Self::Initrd => {
                diagnostics.extend(initrd_loss::all(hosts));
                to_initrd::render(hosts, options, diagnostics)
            }
        }
    }
}
