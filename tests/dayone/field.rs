//! Nodes of the field, release by release.

mod beside;
mod disabled;
mod document;
mod existing;
mod graph;
mod installed;
mod lifecycle_agent;
mod no_document;
mod peers;
mod restarted;

use tests::{
    dayone::MAC,
    lab::{Field, Nic, Node},
};

/// `worker-0` of this release and cluster, with OVN-Kubernetes.
fn node(field: impl Into<Field>) -> Node {
    Node::new("worker-0").nic(Nic::new("eno1", MAC)).field(field).ovn_remains()
}

/// Declares one test for each named node of the field, from a function that takes a [`Field`]. A case names the releases in which
/// what it is about differs: nodes are booted for differences alone.
macro_rules! each_release {
    ($case:ident: $($node:ident),+) => {
        mod $case {
            $(
                #[tests::case]
                fn $node() -> Result<(), tests::lab::Error> {
                    super::$case(tests::lab::Field::$node())
                }
            )+
        }
    };
}
use each_release;
