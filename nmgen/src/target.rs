//! What hosts are written as.

mod gc;
mod keyfiles;
mod name;
mod nic;
mod once;
mod options;
#[cfg(feature = "pipelines")]
mod pipeline;

pub use self::keyfiles::File;
pub use self::options::{Agent, IgnitionVersion, Options};
#[cfg(feature = "pipelines")]
pub use self::pipeline::Pipeline;

use crate::check::Purpose;
use crate::diagnostic::{Diagnostic, Place, Rule};
use crate::error::Error;
use crate::pipeline::{Converted, Outcome};
use crate::source::Stage;

const NOT_IN_TARGET: Rule = Rule::warning("not-in-target");
pub(crate) const NO_SUCH_HOST: Rule = Rule::error("no-such-host");
pub(crate) const ONE_HOST_ONLY: Rule = Rule::error("one-host-only");

/// What a target cannot carry.
pub(crate) fn rules() -> Vec<Rule> {
    let rules = [&[NOT_IN_TARGET, NO_SUCH_HOST, ONE_HOST_ONLY], once::RULES].concat();
    #[cfg(feature = "pipelines")]
    let rules = [rules, pipeline::rules()].concat();
    rules
}

/// The forms of output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// NetworkManager keyfiles in a directory, with the files beside them.
    Keyfiles,
    /// The YAML of `nmstatectl gc`: keyfiles only.
    Gc,
    /// A hosts directory: the documents themselves.
    Hosts,
    /// What another program takes to the nodes.
    #[cfg(feature = "pipelines")]
    Pipeline(Pipeline),
}

/// What a target gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// Files below a directory.
    Directory(Vec<File>),
    /// One file, or standard output.
    File(Vec<u8>),
}

impl Target {
    /// What the documents are checked for.
    pub(crate) fn purpose(self) -> Purpose {
        match self {
            Self::Keyfiles | Self::Gc => Purpose::Offline,
            Self::Hosts => Purpose::Apply,
            #[cfg(feature = "pipelines")]
            Self::Pipeline(pipeline) => pipeline.purpose(),
        }
    }

    /// Which document it takes where a host has two.
    pub(crate) fn stage(self) -> Stage {
        match self {
            Self::Keyfiles | Self::Gc => Stage::Early,
            Self::Hosts => Stage::Node,
            #[cfg(feature = "pipelines")]
            Self::Pipeline(pipeline) => pipeline.stage(),
        }
    }

    /// Writes the hosts in this form. What it cannot carry is added to the diagnostics; with an error among
    /// them the output is not to be used.
    ///
    /// # Errors
    /// When a writer of YAML, JSON or an archive fails.
    pub fn render(self, outcome: &mut Outcome) -> Result<Output, Error> {
        self.render_with(outcome, &Options::default())
    }

    /// The same with what the targets of pipelines leave open.
    ///
    /// # Errors
    /// When a writer of YAML, JSON or an archive fails.
    pub fn render_with(self, outcome: &mut Outcome, options: &Options) -> Result<Output, Error> {
        let (hosts, diagnostics) = (&outcome.hosts, &mut outcome.diagnostics);
        if !name::are_file_names(hosts, diagnostics) {
            return Ok(Output::Directory(Vec::new()));
        }
        let hosts = &*once::each(hosts, |host| self.destination(host, options), diagnostics);
        diagnostics.extend(self.lost_map(hosts));
        #[cfg(not(feature = "pipelines"))]
        let Options { .. } = options;
        let output = match self {
            Self::Keyfiles => Ok(Output::Directory(keyfiles::files(hosts))),
            Self::Gc => gc::render(hosts, diagnostics).map(Output::File),
            Self::Hosts => Ok(Output::Directory(documents(hosts))),
            #[cfg(feature = "pipelines")]
            Self::Pipeline(pipeline) => pipeline.render(hosts, options, diagnostics),
        };
        diagnostics.sort_by_cached_key(Diagnostic::sort_key);
        output
    }

    /// What is written for a host alone; `None` where the target has its own say.
    fn destination<'h>(
        self,
        host: &'h Converted,
        options: &'h Options,
    ) -> Option<once::Destination<'h>> {
        #[cfg(not(feature = "pipelines"))]
        let Options { .. } = options;
        match self {
            // A directory of its own.
            Self::Keyfiles => {
                let name = host.host.name.as_deref();
                Some((None, name.map_or_else(String::new, |name| format!("{name}/")).into()))
            }
            Self::Gc => None,
            Self::Hosts => Some((None, document_file(host).into())),
            #[cfg(feature = "pipelines")]
            Self::Pipeline(pipeline) => pipeline.destination(host, options),
        }
    }

    /// One warning for the MAC addresses that only the source tells, where the target has no place for them.
    fn lost_map(self, hosts: &[Converted]) -> Option<Diagnostic> {
        match self {
            #[cfg(feature = "pipelines")]
            Self::Pipeline(pipeline) if pipeline.has_map() => return None,
            #[cfg(feature = "pipelines")]
            Self::Pipeline(_) => {}
            Self::Keyfiles | Self::Gc | Self::Hosts => {}
        }
        let lost: Vec<_> = hosts.iter().flat_map(|host| nic::only_mapped(&host.host)).collect();
        let first = lost.first()?;
        let message = format!(
            "the target has no place for {} of the source's MAC addresses: a node finds the NICs by name",
            lost.len()
        );
        let diagnostic = Diagnostic::new(NOT_IN_TARGET, message, first.place.clone());
        Some(diagnostic.help("give the documents' interfaces their mac-address"))
    }
}

/// `<host>.yml` for each host.
fn documents(hosts: &[Converted]) -> Vec<File> {
    let file = |converted: &Converted| {
        Some(File {
            directories: Vec::new(),
            name: document_file(converted),
            content: converted.host.document.as_ref()?.text().into_owned().into_bytes(),
        })
    };
    hosts.iter().filter_map(file).collect()
}

fn document_file(converted: &Converted) -> String {
    let name = converted.host.name.as_deref().unwrap_or(crate::source::CLUSTER);
    format!("{name}.yml")
}

/// For a target that describes one host only: an error when there are more.
fn one_host(target: &str, hosts: &[Converted], diagnostics: &mut Vec<Diagnostic>) {
    if let [_, second, ..] = hosts {
        let message = format!("{target} describes one host; here are {}", hosts.len());
        let place = Place::file(second.host.place.file.clone());
        let diagnostic = Diagnostic::new(ONE_HOST_ONLY, message, place);
        diagnostics.push(diagnostic.help("choose one with --host NAME"));
    }
}
