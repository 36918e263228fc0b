//! From NMState documents to safe NetworkManager connection profiles, and to everything that ships them.
//!
//! ```
//! use nmgen::diagnostic::{Style, render};
//! use nmgen::output::{Form, Output};
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
//! let mut outcome = Form::Gc.convert(hosts);
//! let output = Form::Gc.render(&mut outcome)?;
//! for diagnostic in &outcome.diagnostics {
//!     eprint!("{}", render(diagnostic, Style::Plain));
//! }
//! if let (false, Output::File(yaml)) = (outcome.has_errors(), output) {
//!     assert!(yaml.starts_with(b"NetworkManager:\n- - eno1.nmconnection\n"));
//! }
//! # std::fs::remove_dir_all(&directory).unwrap();
//! # Ok(())
//! # }
//! ```
//!
//! The stages, each a module: `source` (reads descriptions of hosts) -> `document` (a tree with
//! positions) -> `check` (diagnostics) -> `profile` (conversion by nmstate, verified) -> `convert`
//! (over all hosts) -> `output` (keyfiles and the other forms). Between reading sources and writing
//! output, everything is a pure function of text.

#![cfg_attr(not(test), warn(unused_crate_dependencies))]

mod boot;
#[cfg(feature = "pipelines")]
mod changes;
mod check;
#[doc(hidden)]
pub mod cli;
mod convert;
#[cfg(feature = "pipelines")]
mod derive;
pub mod diagnostic;
#[cfg(feature = "pipelines")]
mod difference;
mod document;
mod error;
mod format;
mod mac;
pub mod node;
pub mod output;
#[cfg(feature = "pipelines")]
mod parallel;
#[cfg(not(feature = "pipelines"))]
#[path = "no_parallel.rs"]
mod parallel;
mod pattern;
#[cfg(feature = "pipelines")]
mod picture;
pub mod profile;
mod reading;
mod rules;
mod show;
pub mod source;
mod spelling;
mod stack;
mod state;
mod text;
mod write;

// The program's, not the library's.
#[cfg(feature = "pipelines")]
use mimalloc as _;

pub use self::convert::{Converted, Outcome, check, convert, diagnose};
pub use self::error::Error;
pub use self::format::chain;
pub use self::mac::Mac;
pub use self::reading::Reading;
pub use self::rules::rules;
pub use self::text::Position;
