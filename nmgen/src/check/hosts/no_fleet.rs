//! Takes the place of `fleet` in an initramfs, where no source describes a cluster or gives hosts a role.

use super::facts::Facts;
use super::member::Member;
use crate::diagnostic::{Diagnostics, Rule};
use crate::source::Hosts;

pub(super) fn rules() -> Vec<Rule> {
    Vec::new()
}

pub(super) fn check(_: &Hosts, _: &[Facts<'_>], _: &[Member<'_>], _: &mut Diagnostics) {}
