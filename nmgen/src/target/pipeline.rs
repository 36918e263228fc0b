//! The forms that other programs take to the nodes.

mod bmh_secret;
mod card;
mod ignition;
mod initrd;
mod kargs;
mod machine_config;
mod manifest;
mod name;
mod nmstateconfig;

use super::{Options, Output, once};
use crate::check::Purpose;
use crate::diagnostic::{Diagnostic, Rule};
use crate::error::Error;
use crate::pipeline::Converted;
use crate::source::{CLUSTER, Stage};

/// What only these targets find.
pub(super) fn rules() -> Vec<Rule> {
    [name::RULES, manifest::RULES, machine_config::RULES, nmstateconfig::RULES, kargs::RULES]
        .concat()
}

/// What a program in a pipeline reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pipeline {
    /// Ignition configs with keyfiles, host name and link files.
    Ignition,
    /// MachineConfigs with the documents, one for each role.
    MachineConfig,
    /// Secrets with the documents, and the BareMetalHosts' references to them.
    BmhSecret,
    /// NMStateConfig objects of assisted-service.
    NmStateConfig,
    /// Kernel arguments for dracut.
    Kargs,
    /// A cpio archive with the documents, for `nmgen boot`.
    Initrd,
}

impl Pipeline {
    pub(super) fn purpose(self) -> Purpose {
        match self {
            Self::MachineConfig => Purpose::Apply,
            Self::Ignition | Self::BmhSecret | Self::NmStateConfig | Self::Kargs | Self::Initrd => {
                Purpose::Offline
            }
        }
    }

    pub(super) fn stage(self) -> Stage {
        match self {
            Self::MachineConfig => Stage::Node,
            Self::Ignition | Self::BmhSecret | Self::NmStateConfig | Self::Kargs | Self::Initrd => {
                Stage::Early
            }
        }
    }

    /// True where MAC addresses that only the source tells have a place.
    pub(super) fn has_map(self) -> bool {
        match self {
            Self::NmStateConfig | Self::Kargs | Self::Initrd => true,
            Self::Ignition | Self::MachineConfig | Self::BmhSecret => false,
        }
    }

    /// The file, or the object, that is a host's own.
    pub(super) fn destination<'h>(
        self,
        host: &'h Converted,
        options: &'h Options,
    ) -> Option<once::Destination<'h>> {
        let file = |extension: &str| format!("{}.{extension}", name::document_name(host)).into();
        match self {
            Self::Ignition => Some((None, file("ign"))),
            Self::Kargs => Some((None, file("kargs"))),
            Self::Initrd => Some((None, file("yml"))),
            Self::MachineConfig => {
                Some((host.host.role.as_deref().or(options.role.as_deref()), file("yml")))
            }
            Self::BmhSecret | Self::NmStateConfig => {
                let name = name::own_name(host).filter(|name| *name != CLUSTER)?;
                Some((None, name.into()))
            }
        }
    }

    pub(super) fn render(
        self,
        hosts: &[Converted],
        options: &Options,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Result<Output, Error> {
        match self {
            Self::Ignition => ignition::render(hosts, options.ignition_version),
            Self::MachineConfig => machine_config::render(hosts, options, diagnostics),
            Self::BmhSecret => bmh_secret::render(hosts, options, diagnostics).map(Output::File),
            Self::NmStateConfig => {
                nmstateconfig::render(hosts, options, diagnostics).map(Output::File)
            }
            Self::Kargs => kargs::render(hosts, diagnostics),
            Self::Initrd => Ok(Output::File(initrd::render(hosts))),
        }
    }
}
