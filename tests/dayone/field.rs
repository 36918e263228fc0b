//! Nodes of the field, release by release.

mod beside;
mod disabled;
mod document;
mod existing;
mod graph;
mod no_document;
mod peers;

use tests::{
    dayone::MAC,
    lab::{Nic, Node, Release},
};

/// `worker-0` of this release, with OVN-Kubernetes.
fn node(release: Release) -> Node {
    Node::new("worker-0").nic(Nic::new("eno1", MAC)).field(release).ovn_remains()
}

/// Declares one test for each release from a function that takes a release.
macro_rules! each_release {
    ($case:ident) => {
        mod $case {
            use tests::lab::{Error, Release};

            #[tests::case]
            fn release_4_16() -> Result<(), Error> {
                super::$case(Release::V4_16)
            }

            #[tests::case]
            fn release_4_19() -> Result<(), Error> {
                super::$case(Release::V4_19)
            }

            #[tests::case]
            fn release_4_20() -> Result<(), Error> {
                super::$case(Release::V4_20)
            }

            #[tests::case]
            fn release_4_22() -> Result<(), Error> {
                super::$case(Release::V4_22)
            }
        }
    };
}
use each_release;
