//! The forms of output.

use std::borrow::Cow;

use nmgen_core::check::Purpose;
use nmgen_core::output;
use nmgen_core::source::Stage;
use nmgen_core::write::File;
use nmgen_document::diagnostic::Diagnostics;
use nmgen_document::error::Error;

use super::delivery::Delivery;
use super::one_host::Selection;
use super::options::Options;
use super::rendered::Output;
use super::{loss, once, one_host, per_cluster, to_hosts};
use crate::convert::{self, Converted, Outcome};
use crate::parallel::each_given;
use crate::source::{Hosts, is_usable_name};

/// A form of output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// NetworkManager keyfiles in a directory, with the files beside them.
    Keyfiles,
    /// The YAML of `nmstatectl gc`: keyfiles only.
    Gc,
    /// A hosts directory: the documents themselves.
    Hosts,
    /// A form that another program delivers to the nodes.
    Delivery(Delivery),
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
        if let Self::Delivery(delivery) = self {
            outcome.diagnostics.merge(delivery.check(&outcome.hosts, &outcome.clusters));
        }
        outcome
    }

    /// The purpose that the documents are checked for.
    fn purpose(self) -> Purpose {
        match self {
            Self::Keyfiles => Purpose::Offline,
            Self::Gc => Purpose::HandedOn,
            Self::Hosts => Purpose::Apply,
            Self::Delivery(delivery) => delivery.purpose(),
        }
    }

    /// The preferred stage, if a host has two documents.
    fn stage(self) -> Stage {
        match self {
            Self::Keyfiles | Self::Gc => Stage::Early,
            Self::Hosts => Stage::Node,
            Self::Delivery(delivery) => delivery.stage(),
        }
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
        let output = match self.one_cluster_only().filter(|_| !is_one) {
            Some(form) => {
                diagnostics.push(per_cluster::refuse(form, &clusters, &hosts));
                Output::Directory(Vec::new())
            }
            None if is_one => self.one(hosts, options, &mut diagnostics)?,
            None => {
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
        Ok(match self {
            Self::Keyfiles => Output::Directory(keyfiles(hosts)),
            Self::Gc => Output::File(gc(&hosts, diagnostics)?),
            Self::Hosts => Output::Directory(to_hosts::files(&hosts)),
            Self::Delivery(delivery) => delivery.render(&hosts, options, diagnostics)?,
        })
    }

    /// The name of a form that is one file for all hosts, which a node reads whole.
    fn one_cluster_only(self) -> Option<&'static str> {
        match self {
            Self::Delivery(Delivery::Initrd) => Some("initrd"),
            Self::Keyfiles | Self::Gc | Self::Hosts | Self::Delivery(_) => None,
        }
    }

    /// The name of a cluster's only file, beside those of other clusters.
    fn file_name(self, hosts: &[Converted]) -> String {
        match self {
            Self::Delivery(delivery) => delivery.file_name(hosts),
            Self::Keyfiles | Self::Gc | Self::Hosts => "gc.yaml".to_owned(),
        }
    }

    /// The host's own file or object; `None` if the form checks this itself.
    fn destination<'h>(
        self,
        host: &'h Converted,
        options: &'h Options,
    ) -> Option<once::Destination<'h>> {
        match self {
            // Each host has its own directory.
            Self::Keyfiles => {
                let name = host.host.name.as_deref();
                Some((None, name.map_or_else(String::new, |name| format!("{name}/")).into()))
            }
            Self::Gc => None,
            Self::Hosts => Some((None, to_hosts::file_name(host).into())),
            Self::Delivery(delivery) => delivery.destination(host, options),
        }
    }

    /// True when the form holds MAC addresses that only the source gives.
    fn has_map(self) -> bool {
        match self {
            Self::Keyfiles | Self::Gc | Self::Hosts => false,
            Self::Delivery(delivery) => delivery.has_map(),
        }
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
