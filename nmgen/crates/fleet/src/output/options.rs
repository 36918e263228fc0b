//! Options of the forms.

use std::str::FromStr;

/// Each form reads the options that concern it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// The specification that an Ignition config follows.
    pub ignition_version: IgnitionVersion,
    /// The machine config pool of hosts whose source gives none.
    pub role: Option<String>,
    /// The MachineConfigs' names without the role.
    pub name: Option<String>,
    /// Settings that kernel arguments cannot express are a warning.
    pub allow_loss: bool,
    /// Makes the MachineConfig enable the agent's units.
    pub agent: Option<Agent>,
    /// The namespace of Kubernetes objects.
    pub namespace: Option<String>,
    /// Labels of NMStateConfigs, by which an InfraEnv selects them.
    pub labels: Vec<(String, String)>,
    /// The program in an archive for an initramfs.
    pub program: Option<Program>,
}

/// The program in an archive for an initramfs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Program {
    /// Its path, for messages.
    pub path: String,
    /// The static program.
    pub content: Vec<u8>,
    /// The archives.
    pub layout: Layout,
}

/// How documents and program are delivered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Layout {
    /// In one archive.
    #[default]
    One,
    /// Two images, for a minimal ISO of assisted-image-service
    Assisted,
}

/// The agent in a MachineConfig.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Agent {
    /// The text of `/etc/dayone/dayone.toml`; `None` for the agent's defaults.
    pub configuration: Option<String>,
    /// The image that nodes take the agent from; `None` if their operating system has it.
    pub install: Option<Image>,
}

/// A container image by its digest, which never becomes another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image(String);

impl FromStr for Image {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, digest) = text.split_once("@sha256:").ok_or("it is IMAGE@sha256:DIGEST")?;
        let is_name =
            |character: char| character.is_ascii_alphanumeric() || "./:_-".contains(character);
        let is_digest = |character: char| matches!(character, '0'..='9' | 'a'..='f');
        if !name.contains('/')
            || !name.starts_with(|character: char| character.is_ascii_alphanumeric())
            || !name.chars().all(is_name)
        {
            return Err(
                "the image has a registry's name, as in registry.example.org/dayone@sha256:DIGEST",
            );
        }
        if digest.len() != 64 || !digest.chars().all(is_digest) {
            return Err("a digest has 64 hexadecimal digits");
        }
        Ok(Self(text.to_owned()))
    }
}

impl Image {
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// Enough of the digest to tell versions apart.
    pub(super) fn short_digest(&self) -> &str {
        let digest = self.0.rsplit(':').next().unwrap_or_default();
        digest.get(..12).unwrap_or(digest)
    }
}

/// A version of Ignition's specification.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum IgnitionVersion {
    /// Read by every release of OpenShift since 4.6.
    #[default]
    #[value(name = "3.2.0")]
    V3_2,
    /// Since OpenShift 4.9.
    #[value(name = "3.3.0")]
    V3_3,
    /// Since OpenShift 4.12.
    #[value(name = "3.4.0")]
    V3_4,
}
