//! A node in one file: `dayone collect` writes it, and commands answer from it elsewhere as on the node (`--from`).

mod files;
mod form;
mod journals;
mod redact;
mod role;
mod tokens;
mod unpack;

use std::{
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use nmgen::source::bounded;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use self::form::BundleForm;
pub(crate) use self::{
    files::{Card, File, cards, files, short},
    journals::Journals,
    redact::Redactor,
    role::role,
    tokens::replace,
    unpack::unpack,
};
use crate::model::facts::{Facts, SourceAnswer};

/// The version of the form.
pub(crate) const SCHEMA: u32 = 1;

/// The largest file that is read, and what it may unpack to. Collected ones have at most half of it.
const LIMIT: usize = 64 << 20;

/// The most values of a file that is read: five thousand devices have a fifth of it.
const VALUES: usize = 2_000_000;

/// Why a file is not a collected node.
#[derive(Debug, Error)]
pub(crate) enum BundleError {
    #[error("cannot read {path}")]
    Read { path: PathBuf, source: io::Error },
    #[error("{path} is larger than {limit} bytes")]
    TooLarge { path: PathBuf, limit: usize },
    #[error("{path} is not a file of `dayone collect`")]
    Decode { path: PathBuf, source: serde_json::Error },
    #[error("{path} is of a newer version of dayone (form {schema}; this one reads {SCHEMA})")]
    Newer { path: PathBuf, schema: u64 },
    #[error("{path} has the path {found}, which is no path of a node's file")]
    Outside { path: PathBuf, found: String },
    #[error("{path} has more than {limit} files and directories, or deeper ones than a node")]
    TooMany { path: PathBuf, limit: usize },
    #[error("{path} has more than {limit} values")]
    TooManyValues { path: PathBuf, limit: usize },
    #[error("{path} cannot be unpacked")]
    Unpack { path: PathBuf, source: io::Error },
    #[error("the system gives no random bytes")]
    Random { source: io::Error },
    #[error("it cannot be written as JSON")]
    Encode { source: serde_json::Error },
    #[error("it cannot be compressed")]
    Compress { source: io::Error },
}

/// The content; `doc/collect.schema.json` describes it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Bundle {
    pub(crate) schema: u32,
    pub(crate) hostname: String,
    /// Seconds since 1970.
    pub(crate) collected: u64,
    /// How long it took.
    pub(crate) milliseconds: u64,
    /// The pool of machines, by the configuration that the machine-config-operator has put in place.
    pub(crate) role: Option<String>,
    pub(crate) versions: Versions,
    /// `dayone status --json`, for readers of the file: from afar it is made anew.
    #[serde(skip_deserializing, default = "unread")]
    pub(crate) status: SourceAnswer<serde_json::Value>,
    pub(crate) cards: Vec<Card>,
    pub(crate) facts: Facts,
    pub(crate) journals: Journals,
    pub(crate) files: Vec<File>,
    /// Places that are left out, as they are beyond a bound or no files of the agent's.
    pub(crate) left_out: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Versions {
    pub(crate) dayone: String,
    pub(crate) network_manager: SourceAnswer<String>,
    /// `/proc/version`.
    pub(crate) kernel: SourceAnswer<String>,
    /// `PRETTY_NAME` of os-release(5).
    pub(crate) system: SourceAnswer<String>,
}

/// Reads a file, `-` from standard input.
pub(crate) fn read(path: &Path) -> Result<Bundle, BundleError> {
    let own = || path.to_path_buf();
    let failed = |source: io::Error| match source.kind() == io::ErrorKind::FileTooLarge {
        true => BundleError::TooLarge { path: own(), limit: LIMIT },
        false => BundleError::Read { path: own(), source },
    };
    let bytes = match path == Path::new("-") {
        true => bounded::read_from(io::stdin().lock(), LIMIT),
        false => bounded::read(path, LIMIT),
    };
    let bytes = bytes.map_err(failed)?;
    let text = match bytes.starts_with(&[0x1f, 0x8b]) {
        true => bounded::read_from(GzDecoder::new(bytes.as_slice()), LIMIT).map_err(failed)?,
        false => bytes,
    };
    let decode = |source| BundleError::Decode { path: own(), source };
    let BundleForm { schema, values } = serde_json::from_slice(&text).map_err(decode)?;
    if schema > u64::from(SCHEMA) {
        return Err(BundleError::Newer { path: own(), schema });
    }
    if values > VALUES {
        return Err(BundleError::TooManyValues { path: own(), limit: VALUES });
    }
    serde_json::from_slice(&text).map_err(decode)
}

fn unread() -> SourceAnswer<serde_json::Value> {
    SourceAnswer::Error("it was not read".to_owned())
}

/// The bytes of a value, compressed for a name that ends in `.gz`.
pub(crate) fn encode(value: &serde_json::Value, path: &Path) -> Result<Vec<u8>, BundleError> {
    let text =
        serde_json::to_string_pretty(value).map_err(|source| BundleError::Encode { source })?;
    let text = nmgen::printable_json(text) + "\n";
    if path.extension().is_none_or(|extension| extension != "gz") {
        return Ok(text.into_bytes());
    }
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    let written = encoder.write_all(text.as_bytes()).and_then(|()| encoder.finish());
    written.map_err(|source| BundleError::Compress { source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strangers_file_is_refused_by_its_version_and_its_size()
    -> Result<(), Box<dyn std::error::Error>> {
        let place = tempfile::tempdir()?;
        let told = |text: &str| {
            let path = place.path().join("node.json.gz");
            let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(text.as_bytes())?;
            std::fs::write(&path, encoder.finish()?)?;
            Ok::<_, io::Error>(read(&path).err().map(|error| error.to_string()).unwrap_or_default())
        };
        assert!(told("{\"schema\": 2, \"new\": []}")?.contains("form 2"));
        assert!(told("{\"schema\": 1}")?.contains("not a file of"));
        let many = format!("{{\"schema\": 1, \"x\": [{}0]}}", "0,".repeat(VALUES));
        assert!(told(&many)?.contains("more than 2000000 values"), "{}", told(&many)?);
        Ok(())
    }
}
