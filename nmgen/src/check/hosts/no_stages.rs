//! Takes the place of `stages` in an initramfs, where no source is for one stage alone.

use super::member::Member;
use crate::diagnostic::{Diagnostics, Rule};
use crate::source::Cluster;

pub(super) const RULES: &[Rule] = &[];

pub(super) fn check(_: &[Member<'_>], _: &Cluster, _: &mut Diagnostics) {}
