//! From NMState documents to safe NetworkManager connection profiles, and to everything that ships them.
//!
//! ```
//! use nmgen::diagnostic::{Style, render};
//! use nmgen::target::{Output, Target};
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
//! let mut outcome = nmgen::convert_for(hosts, Target::Gc);
//! let output = Target::Gc.render(&mut outcome)?;
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
//! The stages, each a module: `source` (what describes hosts) -> `document` (a tree with positions)
//! -> `check` (diagnostics) -> `profile` (conversion by nmstate, verified) -> `target` (keyfiles and the
//! other forms). Everything between reading sources and writing targets is a pure function of text.

#![cfg_attr(
    not(feature = "pipelines"),
    allow(dead_code, unused_imports, reason = "the pipelines' ends are left out, not the middle")
)]

mod boot;
mod check;
#[doc(hidden)]
pub mod cli;
pub mod diagnostic;
mod diff;
mod document;
mod error;
mod pipeline;
pub mod profile;
mod show;
pub mod source;
mod spelling;
mod stack;
mod state;
pub mod target;
mod write;

pub use self::check::rules;
pub use self::document::Position;
pub use self::error::Error;
pub use self::pipeline::{Converted, Outcome, check, convert, convert_for, diagnose};
