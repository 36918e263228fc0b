//! Forms that other programs deliver to the nodes.

mod agent;
mod cards;
mod compress;
mod cpio;
pub(super) mod host_name;
mod initrd_loss;
mod kargs_loss;
mod kubernetes_object;
mod secrets;
pub(super) mod to_bmh_secret;
pub(super) mod to_ignition;
pub(super) mod to_initrd;
pub(super) mod to_kargs;
pub(super) mod to_machine_config;
pub(super) mod to_nmstateconfig;
pub(super) mod to_nodepool_config;
pub(super) mod to_policy;

use nmgen_document::diagnostic::Rule;

/// The rules of these forms.
pub(super) fn rules() -> Vec<Rule> {
    [
        host_name::RULES,
        kubernetes_object::RULES,
        to_machine_config::RULES,
        to_nmstateconfig::RULES,
        kargs_loss::RULES,
        &to_initrd::rules(),
        initrd_loss::RULES,
        secrets::RULES,
    ]
    .concat()
}
