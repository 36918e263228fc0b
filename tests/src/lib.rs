//! Shared code of the suites.

pub use case::case;

pub mod crash;
pub mod dayone;
pub mod derived;
pub mod documents;
pub mod examples;
pub mod fleet;
pub mod fuzz;
pub mod guide;
pub mod help;
pub mod keyfile;
pub mod lab;
pub mod machine;
pub mod measure;
pub mod mistakes;
pub mod mutation;
pub mod outage;
pub mod packages;
pub mod profile;
pub mod program;
pub mod schema;
pub mod shapes;
pub mod skip;
pub mod soak;
pub mod suite;
pub mod tidy;
pub mod tree;
pub mod two_stage;
pub mod verdicts;
pub mod wire;
pub mod yaml;
