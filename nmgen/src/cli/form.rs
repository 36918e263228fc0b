//! The arguments that choose a form of output, and their options.

use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use nmgen_core::source::bounded;
use nmgen_document::diagnostic::Diagnostics;
use nmgen_document::error::Error;
use nmgen_document::size::MAX_DOCUMENT_BYTES;
use nmgen_fleet::derive::{self, BalanceSlb, Choice, Request};
use nmgen_fleet::output::kubernetes_name::{
    is_label_key, is_label_value, is_namespace, is_object_name,
};
use nmgen_fleet::output::{Agent, Form, IgnitionVersion, Image, Layout, Options, Program};
use nmgen_fleet::source::Hosts;

/// The derivation of br-ex.
#[derive(Debug, Clone, Args)]
pub(super) struct BridgeArguments {
    /// Derive the documents of the running node: br-ex takes the addresses,
    /// DHCP, routes and rules of the uplink, which becomes its port
    #[arg(long, help_heading = BRIDGE)]
    br_ex: bool,
    /// The uplink of br-ex, for all hosts or for one; repeatable [default:
    /// the interface with the default route, else with an address in
    /// machineNetwork]
    #[arg(long, value_name = "[HOST=]NAME", value_parser = choice, requires = "br_ex")]
    #[arg(help_heading = BRIDGE)]
    uplink: Vec<Choice>,
    /// The uplink is a bond: its cards become one of Open vSwitch in mode
    /// balance-slb, in the bridge br-phy, which patch ports connect with br-ex
    #[arg(long, requires = "br_ex", help_heading = BRIDGE)]
    balance_slb: bool,
    /// The uplink of a second bridge, br-ex1
    #[arg(long, value_name = "[HOST=]NAME", value_parser = choice, requires = "br_ex")]
    #[arg(help_heading = BRIDGE)]
    br_ex1: Vec<Choice>,
}

impl BridgeArguments {
    pub(super) fn request(&self) -> Option<Request> {
        self.br_ex.then(|| Request {
            uplinks: self.uplink.clone(),
            second: self.br_ex1.clone(),
            balance_slb: self.balance_slb.then(BalanceSlb::default),
        })
    }

    /// Refuses choices for hosts that the sources do not have.
    pub(super) fn verify_hosts(&self, hosts: &Hosts, sources: &[String]) -> Diagnostics {
        self.request().map(|request| request.verify(&hosts.hosts, sources)).unwrap_or_default()
    }
}

/// The derivation of br-ex, and the options of single forms.
#[derive(Debug, Clone, Args)]
pub(super) struct FormArguments {
    #[command(flatten)]
    bridge: BridgeArguments,
    /// Ignition's specification, for ignition and machine-config [default:
    /// 3.2.0]
    #[arg(long, value_enum, value_name = "VERSION", help_heading = TARGETS)]
    ignition_version: Option<IgnitionVersion>,
    /// For machine-config: the role of hosts whose source gives none
    #[arg(long, value_name = "ROLE", help_heading = TARGETS)]
    role: Option<String>,
    /// For machine-config: also the policies of kubernetes-nmstate, which
    /// get the same documents for day two
    #[arg(long, value_name = "FILE", help_heading = TARGETS)]
    policies: Option<PathBuf>,
    /// For machine-config: the objects' names without the role [default:
    /// 10-br-ex]
    #[arg(long, value_name = "NAME", value_parser = object_name, help_heading = TARGETS)]
    name: Option<String>,
    /// For kargs: search domains, resolver options and metrics, which no
    /// argument expresses, are left out with a warning
    #[arg(long, help_heading = TARGETS)]
    allow_loss: bool,
    /// For machine-config: enable the agent's units too
    #[arg(long, help_heading = TARGETS)]
    agent: bool,
    /// For machine-config: the agent's dayone.toml, with its units
    #[arg(long, value_name = "FILE", help_heading = TARGETS)]
    agent_config: Option<PathBuf>,
    /// For machine-config: nodes take the agent out of this container
    /// image, and have its units from the MachineConfig
    #[arg(long, value_name = "IMAGE@DIGEST", help_heading = TARGETS)]
    install: Option<Image>,
    /// For bmh-secret [default: openshift-machine-api], nmstateconfig and
    /// nodepool-config [default: clusters]
    #[arg(long, value_name = "NAME", value_parser = namespace_name, help_heading = TARGETS)]
    namespace: Option<String>,
    /// For nmstateconfig: a label for an InfraEnv to select; repeatable
    #[arg(long, value_name = "KEY=VALUE", value_parser = label, help_heading = TARGETS)]
    label: Vec<(String, String)>,
    /// For initrd: the static program and its units too
    #[arg(long, value_name = "FILE", help_heading = TARGETS)]
    with_program: Option<PathBuf>,
    /// For initrd: two images as in a minimal ISO of assisted-image-service
    #[arg(long, value_enum, value_name = "LAYOUT", help_heading = TARGETS)]
    #[arg(requires = "with_program")]
    layout: Option<Layout>,
}

const POLICIES_BESIDE: &str = "\
--policies cannot be in the directory of the MachineConfigs: the installer would apply
them before the cluster knows their kind";

const OBJECT_NAME: &str = "\
it has at most 200 lower-case letters, digits, '-' and '.', with a letter or digit at both
ends and beside each '.' (RFC 1123)";
const NAMESPACE_NAME: &str = "\
it has at most 63 lower-case letters, digits and '-', with a letter or digit at both ends
(RFC 1123)";
const LABEL_KEY: &str = "\
the key has at most 63 letters, digits, '-', '_' and '.', with a letter or digit at both
ends; a DNS name and '/' may be before it";
const LABEL_VALUE: &str = "\
the value is empty, or has at most 63 letters, digits, '-', '_' and '.', with a letter or
digit at both ends";

/// Far above the size of a static program.
const MAX_PROGRAM_BYTES: usize = 64 << 20;
const BRIDGE: &str = "From early documents to the running node's";
const TARGETS: &str = "Options of single targets";

fn choice(text: &str) -> Result<Choice, &'static str> {
    let (host, interface) = match text.split_once('=') {
        Some((host, interface)) => (Some(host.to_owned()), interface),
        None => (None, text),
    };
    let is_empty = interface.is_empty() || host.as_ref().is_some_and(String::is_empty);
    if is_empty {
        Err("it is NAME or HOST=NAME")
    } else {
        Ok(Choice { host, interface: interface.to_owned() })
    }
}

fn label(text: &str) -> Result<(String, String), &'static str> {
    let (key, value) = text.split_once('=').ok_or("it has no '='")?;
    if !is_label_key(key) {
        return Err(LABEL_KEY);
    }
    if !is_label_value(value) {
        return Err(LABEL_VALUE);
    }
    Ok((key.to_owned(), value.to_owned()))
}

fn object_name(text: &str) -> Result<String, &'static str> {
    if is_object_name(text) { Ok(text.to_owned()) } else { Err(OBJECT_NAME) }
}

fn namespace_name(text: &str) -> Result<String, &'static str> {
    if is_namespace(text) { Ok(text.to_owned()) } else { Err(NAMESPACE_NAME) }
}

impl FormArguments {
    /// Refuses options that the form does not use.
    ///
    /// # Errors
    /// The message for the user.
    pub(super) fn verify(&self, to: Form, output: Option<&Path>) -> Result<(), String> {
        let parent = self.policies.as_deref().and_then(Path::parent);
        if let (Some(parent), Some(output)) = (parent, output)
            && parent.components().eq(output.components())
        {
            return Err(POLICIES_BESIDE.to_owned());
        }
        let is_machine_config = matches!(to, Form::MachineConfig | Form::NodepoolConfig);
        let (with_version, with_namespace) = (
            is_machine_config || to == Form::Ignition,
            matches!(to, Form::BmhSecret | Form::NmStateConfig | Form::NodepoolConfig),
        );
        let is_early =
            matches!(to, Form::BmhSecret | Form::NmStateConfig | Form::Kargs | Form::Initrd);
        let wrong = [
            ("--ignition-version", self.ignition_version.is_some() && !with_version),
            ("--role", self.role.is_some() && !is_machine_config),
            ("--policies", self.policies.is_some() && to != Form::MachineConfig),
            ("--name", self.name.is_some() && !is_machine_config),
            ("--allow-loss", self.allow_loss && to != Form::Kargs),
            ("--agent", self.agent && !is_machine_config),
            ("--agent-config", self.agent_config.is_some() && !is_machine_config),
            ("--install", self.install.is_some() && !is_machine_config),
            ("--namespace", self.namespace.is_some() && !with_namespace),
            ("--label", !self.label.is_empty() && to != Form::NmStateConfig),
            ("--with-program", self.with_program.is_some() && to != Form::Initrd),
            ("--br-ex", self.bridge.br_ex && is_early),
        ];
        match wrong.iter().find(|(_, is_wrong)| *is_wrong) {
            None => Ok(()),
            Some((option, _)) => Err(format!("{option} does not apply to this target")),
        }
    }

    /// The hosts with the documents that `--br-ex` makes of theirs.
    pub(super) fn derived(&self, hosts: Hosts) -> Hosts {
        match self.bridge.request() {
            Some(request) => derive::hosts(hosts, &request),
            None => hosts,
        }
    }

    /// Refuses choices for hosts that the sources do not have.
    pub(super) fn verify_hosts(&self, hosts: &Hosts, sources: &[String]) -> Diagnostics {
        self.bridge.verify_hosts(hosts, sources)
    }

    /// The form to write beside the first one, and its file.
    pub(super) fn beside(&self) -> Option<(Form, &Path)> {
        self.policies.as_deref().map(|path| (Form::Policy, path))
    }

    /// Reads the agent's configuration, if given.
    pub(super) fn options(&self) -> Result<Options, Error> {
        let configuration =
            self.agent_config.as_ref().map(|path| configuration(path)).transpose()?;
        let program = |path: &PathBuf| {
            Ok(Program {
                path: path.display().to_string(),
                content: read_bounded(path, MAX_PROGRAM_BYTES)?,
                layout: self.layout.unwrap_or_default(),
            })
        };
        let install = self.install.clone();
        let has_agent = self.agent || configuration.is_some() || install.is_some();
        Ok(Options {
            ignition_version: self.ignition_version.unwrap_or_default(),
            role: self.role.clone(),
            name: self.name.clone(),
            allow_loss: self.allow_loss,
            agent: has_agent.then_some(Agent { configuration, install }),
            namespace: self.namespace.clone(),
            labels: self.label.clone(),
            program: self.with_program.as_ref().map(program).transpose()?,
        })
    }
}

/// The agent's configuration.
fn configuration(path: &Path) -> Result<String, Error> {
    let bytes = read_bounded(path, MAX_DOCUMENT_BYTES)?;
    String::from_utf8(bytes).map_err(|_| Error::ReadFile {
        path: path.display().to_string(),
        source: io::ErrorKind::InvalidData.into(),
    })
}

fn read_bounded(path: &Path, limit: usize) -> Result<Vec<u8>, Error> {
    bounded::read(path, limit)
        .map_err(|source| Error::ReadFile { path: path.display().to_string(), source })
}
