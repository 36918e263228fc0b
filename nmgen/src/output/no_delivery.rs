//! Takes the place of `delivery` in an initramfs, which has no such forms.

use super::once;
use super::options::Options;
use super::rendered::Output;
use crate::check::Purpose;
use crate::convert::Converted;
use crate::diagnostic::{Diagnostics, Rule};
use crate::error::Error;
use crate::source::{Cluster, Stage};

/// No such form exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {}

pub(super) fn rules() -> Vec<Rule> {
    Vec::new()
}

impl Delivery {
    pub(super) fn purpose(self) -> Purpose {
        match self {}
    }

    pub(super) fn stage(self) -> Stage {
        match self {}
    }

    pub(super) fn has_map(self) -> bool {
        match self {}
    }

    pub(super) fn destination<'h>(
        self,
        _: &'h Converted,
        _: &'h Options,
    ) -> Option<once::Destination<'h>> {
        match self {}
    }

    pub(super) fn render(
        self,
        _: &[Converted],
        _: &Options,
        _: &Cluster,
        _: &mut Diagnostics,
    ) -> Result<Output, Error> {
        match self {}
    }
}
