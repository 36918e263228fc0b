//! The options of single targets.

use std::path::PathBuf;

use clap::Args;
use clap::error::ErrorKind;

use super::arguments::{To, command};
use crate::error::Error;
use crate::target::{Agent, IgnitionVersion, Options};

#[derive(Debug, Clone, Args)]
pub(super) struct TargetArguments {
    /// Ignition's specification, for ignition and machine-config [default:
    /// 3.2.0]
    #[arg(long, value_enum, value_name = "VERSION", help_heading = TARGETS)]
    #[arg(verbatim_doc_comment)]
    ignition_version: Option<IgnitionVersion>,
    /// For machine-config: the role of hosts whose source tells none
    #[arg(long, value_name = "ROLE", help_heading = TARGETS)]
    role: Option<String>,
    /// For machine-config: enable the agent's units too
    #[arg(long, help_heading = TARGETS)]
    agent: bool,
    /// For machine-config: the agent's dayone.toml, with its units
    #[arg(long, value_name = "FILE", help_heading = TARGETS)]
    agent_config: Option<PathBuf>,
    /// For bmh-secret [default: openshift-machine-api] and nmstateconfig
    #[arg(long, value_name = "NAME", help_heading = TARGETS)]
    namespace: Option<String>,
    /// For nmstateconfig: a label, by which an InfraEnv selects; repeatable
    #[arg(long, value_name = "KEY=VALUE", value_parser = label, help_heading = TARGETS)]
    label: Vec<(String, String)>,
}

const TARGETS: &str = "Options of single targets";

fn label(text: &str) -> Result<(String, String), &'static str> {
    let (key, value) = text.split_once('=').ok_or("it has no '='")?;
    if key.is_empty() { Err("the key is empty") } else { Ok((key.into(), value.into())) }
}

impl TargetArguments {
    /// An option that the target would not look at is a mistake in the call.
    pub(super) fn verify(&self, to: To) -> Result<(), clap::Error> {
        let is_machine_config = to == To::MachineConfig;
        let (with_version, with_namespace) = (
            is_machine_config || to == To::Ignition,
            matches!(to, To::BmhSecret | To::Nmstateconfig),
        );
        let wrong = [
            ("--ignition-version", self.ignition_version.is_some() && !with_version),
            ("--role", self.role.is_some() && !is_machine_config),
            ("--agent", self.agent && !is_machine_config),
            ("--agent-config", self.agent_config.is_some() && !is_machine_config),
            ("--namespace", self.namespace.is_some() && !with_namespace),
            ("--label", !self.label.is_empty() && to != To::Nmstateconfig),
        ];
        match wrong.iter().find(|(_, is_wrong)| *is_wrong) {
            None => Ok(()),
            Some((option, _)) => {
                let message = format!("{option} has no meaning for this target");
                Err(command().error(ErrorKind::ArgumentConflict, message))
            }
        }
    }

    /// Reads the agent's configuration where there is one.
    pub(super) fn options(&self) -> Result<Options, Error> {
        let read = |path: &PathBuf| {
            let path_shown = || path.display().to_string();
            std::fs::read_to_string(path)
                .map_err(|source| Error::ReadFile { path: path_shown(), source })
        };
        let configuration = self.agent_config.as_ref().map(read).transpose()?;
        let has_agent = self.agent || configuration.is_some();
        Ok(Options {
            ignition_version: self.ignition_version.unwrap_or_default(),
            role: self.role.clone(),
            agent: has_agent.then_some(Agent { configuration }),
            namespace: self.namespace.clone(),
            labels: self.label.clone(),
        })
    }
}
