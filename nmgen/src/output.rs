//! The forms of output: one file per form.

#[cfg(feature = "pipelines")]
mod delivery;
#[cfg(not(feature = "pipelines"))]
#[path = "output/no_delivery.rs"]
mod delivery;
mod file_name;
mod form;
mod loss;
mod nic_map;
mod once;
pub(crate) mod one_host;
mod options;
mod rendered;
mod to_gc;
mod to_hosts;
mod to_keyfiles;

pub use self::delivery::Delivery;
pub use self::form::Form;
pub use self::options::{Agent, IgnitionVersion, Layout, Options, Program};
pub use self::rendered::Output;
use crate::diagnostic::Rule;
pub use crate::write::File;

/// Faults of forms that cannot carry a value.
pub(crate) fn rules() -> Vec<Rule> {
    [loss::RULES, one_host::RULES, once::RULES, &delivery::rules()].concat()
}
