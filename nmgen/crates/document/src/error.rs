//! Failures of this machine, as opposed to faults of the input.

use std::io;

/// One variant for each operation. Faults of a document are
/// [`Diagnostic`](crate::diagnostic::Diagnostic)s.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Opening or reading a document failed.
    #[error("cannot read {path}")]
    ReadFile {
        /// As the caller wrote it.
        path: String,
        /// The operating system's answer.
        source: io::Error,
    },
    /// Listing a hosts directory failed.
    #[error("cannot list the directory {path}")]
    ReadDirectory {
        /// As the caller wrote it.
        path: String,
        /// The operating system's answer.
        source: io::Error,
    },
    /// Creating an output directory failed.
    #[error("cannot create the directory {path}")]
    CreateDirectory {
        /// The directory.
        path: String,
        /// The operating system's answer.
        source: io::Error,
    },
    /// A part of the output path is a symbolic link or not a directory.
    #[error("{path} is not a directory (symbolic links in a target are not followed)")]
    TargetNotDirectory {
        /// The part of the path.
        path: String,
        /// The operating system's answer.
        source: io::Error,
    },
    /// Writing an output file failed; the previous file is unchanged.
    #[error("cannot write {path}")]
    WriteFile {
        /// The file.
        path: String,
        /// The operating system's answer.
        source: io::Error,
    },
    /// Writing the output's YAML failed.
    #[error("cannot write the output as YAML")]
    RenderYaml {
        /// The YAML writer's answer.
        source: serde_yaml::Error,
    },
    /// Writing the output's JSON failed.
    #[error("cannot write the output as JSON")]
    RenderJson {
        /// The JSON writer's answer.
        source: serde_json::Error,
    },
    /// Compressing a part of the output failed.
    #[error("cannot compress the output")]
    Compress {
        /// The compressor's answer.
        source: io::Error,
    },
    /// Writing to standard output failed.
    #[error("cannot write to standard output")]
    WriteOutput {
        /// The operating system's answer.
        source: io::Error,
    },
}
