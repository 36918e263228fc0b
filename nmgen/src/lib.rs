//! From NMState documents to safe NetworkManager connection profiles, and to everything that ships them.
//!
//! ```
//! use nmgen::diagnostic::{Style, render};
//! use nmgen::output::{Form, Options, Output};
//!
//! # fn main() -> Result<(), nmgen::Error> {
//! # let directory = std::env::temp_dir().join(format!("nmgen-example-{}", std::process::id()));
//! # std::fs::create_dir_all(&directory).unwrap();
//! # let path = directory.join("worker-0.yml");
//! # let text = "interfaces: [{name: eno1, type: ethernet, state: up, ipv4: {enabled: true, dhcp: true}}]";
//! # std::fs::write(&path, text).unwrap();
//! # let path = path.display().to_string();
//! // A document, a hosts directory, an install-config.yaml, manifests: the content tells.
//! let hosts = nmgen::source::load(&[&path])?;
//! let outcome = Form::Gc.convert(hosts);
//! let (output, losses) = Form::Gc.render(outcome.hosts, &Options::default())?;
//! let mut diagnostics = outcome.diagnostics;
//! diagnostics.merge(losses);
//! for diagnostic in &diagnostics {
//!     eprint!("{}", render(diagnostic, Style::Plain));
//! }
//! if let (false, Output::File(yaml)) = (diagnostics.has_errors(), output) {
//!     assert!(yaml.starts_with(b"NetworkManager:\n- - eno1.nmconnection\n"));
//! }
//! # std::fs::remove_dir_all(&directory).unwrap();
//! # Ok(())
//! # }
//! ```
//!
//! The stages: `nmgen_fleet::source` (reads descriptions of hosts) -> `nmgen_document` (a tree with
//! positions) -> `nmgen_core::check` (diagnostics) -> `nmgen_core::profile` (conversion by nmstate, verified) ->
//! `nmgen_fleet::convert` (over all hosts) -> `nmgen_fleet::output` (keyfiles and the other forms). Between reading sources and
//! writing output, everything is a pure function of text. This crate has the program, and what callers of all of it use.

#![cfg_attr(not(test), warn(unused_crate_dependencies))]

#[doc(hidden)]
pub mod cli;

// The program's, not the library's.
use mimalloc as _;
pub use nmgen_core::{Reading, node, profile};
pub use nmgen_document::diagnostic;
pub use nmgen_document::error::Error;
pub use nmgen_document::format::chain;
pub use nmgen_document::mac::Mac;
pub use nmgen_document::text::Position;
pub use nmgen_document::text::secret::without_secrets;
pub use nmgen_fleet::{Converted, Outcome, check, convert, diagnose, rules};

/// Sources of documents: hosts, and what describes them.
pub mod source {
    pub use nmgen_core::node::CLUSTER;
    pub use nmgen_core::source::{Host, Nic, Stage};
    pub use nmgen_document::size::{MAX_DOCUMENT_BYTES, MAX_FLEET_BYTES, MAX_HOSTS};
    pub use nmgen_document::text::{Source, Text};
    pub use nmgen_fleet::source::{
        Cluster, ClusterAddress, ClusterNetwork, Hosts, Plugin, Replicas, load,
    };
}

/// The forms of output.
pub mod output {
    pub use nmgen_core::write::File;
    pub use nmgen_fleet::output::{Agent, Form, IgnitionVersion, Layout, Options, Output, Program};
}
