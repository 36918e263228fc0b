//! The checks: one file a topic, one rule a fault. They see the document with its positions; whether
//! it is NMState at all is nmstate's decision ([`schema`]).

mod absent;
mod address;
mod bond;
mod controller;
mod dns;
pub(crate) mod fleet;
mod interface;
pub(crate) mod mac;
mod mtu;
pub(crate) mod name;
mod offline;
mod ovs;
mod route;
mod schema;
mod subject;
mod text;
mod vlan;

use self::subject::{Report, Subject};
use crate::diagnostic::{Diagnostic, Rule};
use crate::document::Document;
use crate::state::State;

pub(crate) use self::schema::refusal;

/// What the document is checked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To become connection profiles without a look at the node: what cannot be carried is said.
    Offline,
    /// To be applied on the node itself.
    Apply,
}

type Check = fn(&Subject<'_>, &mut Report<'_>);

/// Every topic: its rules and what finds them.
const TOPICS: &[(&[Rule], Check)] = &[
    (name::RULES, name::check),
    (interface::RULES, interface::check),
    (text::RULES, text::check),
    (mac::RULES, mac::check),
    (mtu::RULES, mtu::check),
    (vlan::RULES, vlan::check),
    (address::RULES, address::check),
    (controller::RULES, controller::check),
    (bond::RULES, bond::check),
    (ovs::RULES, ovs::check),
    (route::RULES, route::check),
    (dns::RULES, dns::check),
    (absent::RULES, absent::check),
    (offline::RULES, offline::check),
];

/// Every rule of every stage, each once.
pub fn rules() -> Vec<Rule> {
    let stages = [
        crate::source::rules(),
        crate::document::RULES.to_vec(),
        schema::RULES.to_vec(),
        TOPICS.iter().flat_map(|(rules, _)| rules.iter().copied()).collect(),
        fleet::rules(),
        crate::profile::RULES.to_vec(),
        crate::target::rules(),
    ];
    stages.concat()
}

/// Runs every check on one document. The state is `None` when nmstate refuses the document.
pub(crate) fn document(
    document: &Document<'_>,
    purpose: Purpose,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<State> {
    let subject = Subject::new(document, purpose);
    let mut report = Report::new(document, diagnostics);
    for (_, check) in TOPICS {
        check(&subject, &mut report);
    }
    let faults = report.into_faults();
    schema::parse(document, faults, diagnostics)
}
