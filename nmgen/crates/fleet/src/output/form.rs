//! The forms of output.

use std::borrow::Cow;
use std::collections::HashSet;

use nmgen_core::check::Purpose;
use nmgen_core::node::CLUSTER;
use nmgen_core::output;
use nmgen_core::source::{Host, Stage};
use nmgen_core::write::File;
use nmgen_document::diagnostic::Diagnostics;
use nmgen_document::error::Error;

use super::delivery::{
    host_name, to_bmh_secret, to_ignition, to_initrd, to_kargs, to_machine_config,
    to_nmstateconfig, to_nodepool_config, to_policy,
};
use super::one_host::Selection;
use super::options::Options;
use super::rendered::Output;
use super::{loss, once, one_host, per_cluster, to_hosts};
use crate::check::running_node;
use crate::convert::{self, Converted, Outcome};
use crate::parallel::each_given;
use crate::source::{Cluster, Hosts, is_usable_name, own_name};

/// A form of output.
#[allow(rustdoc::invalid_html_tags, reason = "these are help texts")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Form {
    /// One <id>.nmconnection file a profile
    Keyfiles,
    /// The YAML that `nmstatectl gc` prints
    Gc,
    /// The documents, one <host>.yml a host
    Hosts,
    /// An Ignition config a host, with its keyfiles
    Ignition,
    /// A MachineConfig a role, with its hosts' documents
    MachineConfig,
    /// A ConfigMap a role, with its MachineConfig, for NodePools
    NodepoolConfig,
    /// A policy (NNCP) of kubernetes-nmstate a host
    Policy,
    /// A Secret and the BareMetalHost's reference a host
    BmhSecret,
    /// An NMStateConfig of assisted-service a host
    #[value(name = "nmstateconfig")]
    NmStateConfig,
    /// Kernel arguments for dracut, one line a host
    Kargs,
    /// A cpio archive with the documents, for `nmgen boot`
    Initrd,
}

impl Form {
    /// Checks every host, and converts the hosts of this form. If sources have both an early document
    /// and one for the running node, the form's stage decides.
    pub fn convert(self, hosts: Hosts) -> Outcome {
        self.convert_selected(hosts, Selection::ALL)
    }

    /// Like [`Self::convert`], for the selected hosts. The others are checked too, but for faults that a document has in
    /// this form alone.
    pub fn convert_selected(self, hosts: Hosts, selection: Selection<'_>) -> Outcome {
        let mut outcome = convert::convert_at(hosts, self.stage(), self.purpose());
        selection.keep_converted(&mut outcome);
        if !matches!(self, Self::Keyfiles | Self::Gc | Self::Hosts) {
            outcome.diagnostics.merge(self.check(&outcome.hosts, &outcome.clusters));
        }
        outcome
    }

    /// The purpose that the documents are checked for.
    fn purpose(self) -> Purpose {
        match self {
            Self::Gc => Purpose::HandedOn,
            Self::Hosts | Self::MachineConfig | Self::NodepoolConfig | Self::Policy => {
                Purpose::Apply
            }
            Self::Keyfiles
            | Self::Ignition
            | Self::BmhSecret
            | Self::NmStateConfig
            | Self::Kargs
            | Self::Initrd => Purpose::Offline,
        }
    }

    /// The preferred stage, if a host has two documents.
    fn stage(self) -> Stage {
        if self.purpose() == Purpose::Apply { Stage::Node } else { Stage::Early }
    }

    /// Reports faults that a document has in this form alone, since the form gives it another purpose.
    fn check(self, hosts: &[Converted], clusters: &[Cluster]) -> Diagnostics {
        if !matches!(self, Self::MachineConfig | Self::NodepoolConfig) {
            return Diagnostics::default();
        }
        // A second document of a host is a fault by itself (`once`).
        let mut seen = HashSet::new();
        let first = hosts.iter().filter(|converted| {
            let Host { cluster, role, .. } = &converted.host;
            seen.insert((cluster, role, host_name::node_name(converted)))
        });
        running_node::check(first.map(|converted| &converted.host), clusters)
    }

    /// An outcome's hosts in this form, and the values that it cannot carry. After an error among these, or among the outcome's
    /// diagnostics, the output must not be used. Hosts that are given away need no memory beside their files.
    ///
    /// # Errors
    /// When a writer of YAML, JSON or an archive fails.
    pub fn render<'h>(
        self,
        hosts: impl Into<Cow<'h, [Converted]>>,
        options: &Options,
    ) -> Result<(Output, Diagnostics), Error> {
        let hosts = hosts.into();
        let mut diagnostics = Diagnostics::default();
        // No name leads out of a directory; the check has reported it.
        let mut names = hosts.iter().filter_map(|converted| converted.host.name.as_deref());
        if !names.all(is_usable_name) {
            return Ok((Output::Directory(Vec::new()), diagnostics));
        }
        let destination = |host| self.destination(host, options);
        let is_kept = once::is_kept(&hosts, destination, &mut diagnostics);
        let hosts = once::keep(hosts, is_kept);
        if !self.has_map() {
            diagnostics.extend(loss::map(&hosts));
        }
        let clusters = per_cluster::clusters(&hosts);
        let is_one = clusters.len() < 2 || self == Self::Gc;
        let output = match is_one {
            // One file for all hosts, which a node reads whole.
            false if self == Self::Initrd => {
                diagnostics.push(per_cluster::refuse("initrd", &clusters, &hosts));
                Output::Directory(Vec::new())
            }
            true => self.one(hosts, options, &mut diagnostics)?,
            false => {
                let one = |hosts: &[Converted], diagnostics: &mut Diagnostics| {
                    self.one(hosts.into(), options, diagnostics)
                };
                let name = |hosts: &[Converted]| self.file_name(hosts);
                per_cluster::render(&hosts, &clusters, one, name, &mut diagnostics)?
            }
        };
        Ok((output, diagnostics))
    }

    /// Like [`Self::render`], for a place that has room for one file.
    ///
    /// # Errors
    /// Those of [`Self::render`].
    pub fn render_one_file(
        self,
        hosts: &[Converted],
        options: &Options,
    ) -> Result<(Output, Diagnostics), Error> {
        let clusters = per_cluster::clusters(hosts);
        if clusters.len() < 2 {
            return self.render(hosts, options);
        }
        let told = per_cluster::refuse("one file", &clusters, hosts);
        Ok((Output::Directory(Vec::new()), Diagnostics::from(told)))
    }

    /// The hosts of one cluster.
    fn one(
        self,
        hosts: Cow<'_, [Converted]>,
        options: &Options,
        diagnostics: &mut Diagnostics,
    ) -> Result<Output, Error> {
        match self {
            Self::Keyfiles => Ok(Output::Directory(keyfiles(hosts))),
            Self::Gc => gc(&hosts, diagnostics).map(Output::File),
            Self::Hosts => Ok(Output::Directory(to_hosts::files(&hosts))),
            Self::Ignition => to_ignition::render(&hosts, options.ignition_version),
            Self::MachineConfig => to_machine_config::render(&hosts, options, diagnostics),
            Self::NodepoolConfig => to_nodepool_config::render(&hosts, options, diagnostics),
            Self::Policy => to_policy::render(&hosts, diagnostics).map(Output::File),
            Self::BmhSecret => {
                to_bmh_secret::render(&hosts, options, diagnostics).map(Output::File)
            }
            Self::NmStateConfig => {
                to_nmstateconfig::render(&hosts, options, diagnostics).map(Output::File)
            }
            Self::Kargs => to_kargs::render(&hosts, options, diagnostics),
            Self::Initrd => to_initrd::render(&hosts, options, diagnostics),
        }
    }

    /// The name of a cluster's only file, beside those of other clusters.
    fn file_name(self, hosts: &[Converted]) -> String {
        let host = hosts.first().map_or(CLUSTER, host_name::document_name);
        match self {
            Self::Keyfiles | Self::Gc | Self::Hosts => "gc.yaml".to_owned(),
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

    /// The host's own file or object; `None` if the form checks this itself.
    fn destination<'h>(
        self,
        host: &'h Converted,
        options: &'h Options,
    ) -> Option<once::Destination<'h>> {
        let file = |extension: &str| format!("{}.{extension}", host_name::document_name(host));
        let (role, name) = match self {
            // Each host has its own directory.
            Self::Keyfiles => {
                let name = host.host.name.as_deref();
                (None, name.map_or_else(String::new, |name| format!("{name}/")))
            }
            Self::Gc => return None,
            Self::Hosts => (None, to_hosts::file_name(host)),
            Self::Ignition => (None, file("ign")),
            Self::Kargs => (None, file("kargs")),
            Self::Initrd => (None, file("yml")),
            Self::MachineConfig | Self::NodepoolConfig => {
                let role = host.host.role.as_deref().or(options.role.as_deref());
                (role, format!("{}.yml", host_name::node_name(host)))
            }
            Self::BmhSecret | Self::NmStateConfig | Self::Policy => {
                (None, own_name(&host.host).filter(|name| *name != CLUSTER)?.to_owned())
            }
        };
        Some((role, name.into()))
    }

    /// True when the form holds MAC addresses that only the source gives.
    const fn has_map(self) -> bool {
        matches!(self, Self::NmStateConfig | Self::Kargs | Self::Initrd)
    }
}

/// The files of a single document, or those of each host below its name.
fn keyfiles(hosts: Cow<'_, [Converted]>) -> Vec<File> {
    let files = |converted: &Converted| {
        output::files(&converted.configuration, converted.host.name.as_slice())
    };
    match hosts {
        Cow::Borrowed(hosts) => hosts.iter().flat_map(files).collect(),
        Cow::Owned(hosts) => {
            each_given(hosts, |converted| files(&converted)).into_iter().flatten().collect()
        }
    }
}

fn gc(hosts: &[Converted], diagnostics: &mut Diagnostics) -> Result<Vec<u8>, Error> {
    one_host::verify("gc", hosts, diagnostics);
    diagnostics.extend(hosts.iter().flat_map(|host| output::gc_losses(&host.configuration)));
    output::gc(hosts.first().map(|host| &host.configuration))
}
