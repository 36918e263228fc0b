//! The forms of output: one file per form.

mod delivery;
mod form;
pub mod kubernetes_name;
mod loss;
mod once;
mod one_host;
mod options;
mod per_cluster;
mod rendered;
mod to_hosts;

pub use nmgen_core::write::File;
use nmgen_document::diagnostic::Rule;

pub use self::form::Form;
pub use self::one_host::Selection;
pub use self::options::{Agent, IgnitionVersion, Image, Layout, Options, Program};
pub use self::rendered::Output;

/// Faults of forms that cannot carry a value.
pub(crate) fn rules() -> Vec<Rule> {
    [
        &nmgen_core::output::rules(),
        one_host::RULES,
        once::RULES,
        per_cluster::RULES,
        &delivery::rules(),
    ]
    .concat()
}
