//! The checks: one file per topic, one rule per fault. They read the document with its positions;
//! nmstate alone decides whether it is valid NMState ([`schema`]).

mod absent;
mod address;
mod bond;
mod cluster;
mod controller;
mod dns_resolver;
mod dropped;
mod facts;
mod keyfile_text;
mod mac_address;
mod mtu;
pub mod name;
mod offline;
mod ovs;
mod policy;
mod purpose;
mod route;
mod schema;
mod subject;
mod vlan;
mod whole_interface;

use nmgen_document::Document;
use nmgen_document::diagnostic::{Diagnostics, Rule};

pub use self::address::is_within;
pub use self::bond::{has_option as bond_has_option, mode as bond_mode};
pub use self::cluster::{CLUSTER_STATIC_ADDRESS, check as cluster};
pub use self::facts::{Address, At, Facts, Mtu, facts, is_of_each_host};
pub use self::policy::reference;
pub use self::purpose::Purpose;
pub use self::schema::{is_policy, refusal};
use self::subject::{Report, Subject};
use crate::state::State;

type Check = fn(&Subject<'_>, &mut Report<'_>);

/// Every topic: its rules and the function that checks them.
const TOPICS: &[(&[Rule], Check)] = &[
    (name::RULES, name::check),
    (whole_interface::RULES, whole_interface::check),
    (keyfile_text::RULES, keyfile_text::check),
    (mac_address::RULES, mac_address::check),
    (mtu::RULES, mtu::check),
    (vlan::RULES, vlan::check),
    (address::RULES, address::check),
    (controller::RULES, controller::check),
    (bond::RULES, bond::check),
    (ovs::RULES, ovs::check),
    (route::RULES, route::check),
    (dns_resolver::RULES, dns_resolver::check),
    (dropped::RULES, dropped::check),
    (absent::RULES, absent::check),
    (offline::RULES, offline::check),
];

/// Rules that conclude from something absent.
const FROM_ABSENCE: &[Rule] = &[
    bond::BOND_WITHOUT_MODE,
    bond::BOND_WITHOUT_PORTS,
    dns_resolver::DNS_WITHOUT_INTERFACE,
    mac_address::MAC_NOT_FIXED,
    ovs::OVS_BRIDGE_WITHOUT_INTERFACE,
    ovs::OVS_INTERFACE_WITHOUT_BRIDGE,
    route::ROUTE_WITHOUT_INTERFACE,
    route::ROUTE_INTERFACE_UNDECLARED,
    route::ROUTE_METRIC_LEFT_OUT,
];

/// Rules that conclude from something that a part of a node's network lacks: a policy is applied to a node that has the rest.
const OF_WHOLE: &[Rule] = &[
    controller::BASE_UNDECLARED,
    controller::PORT_UNDECLARED,
    dns_resolver::DNS_WITHOUT_INTERFACE,
    mac_address::MAC_NOT_FIXED,
    ovs::OVS_BRIDGE_WITHOUT_INTERFACE,
    ovs::OVS_INTERFACE_WITHOUT_BRIDGE,
    route::ROUTE_INTERFACE_UNDECLARED,
    route::ROUTE_METRIC_LEFT_OUT,
    route::ROUTE_WITHOUT_INTERFACE,
];

/// Every rule that concerns one document.
pub fn rules() -> Vec<Rule> {
    let topics = TOPICS.iter().flat_map(|(rules, _)| rules.iter().copied());
    let others = [schema::RULES, cluster::RULES, policy::RULES];
    topics.chain(others.into_iter().flatten().copied()).collect()
}

/// Leaves out what does not hold for a part of a node's network.
pub fn of_part(diagnostics: &mut Diagnostics) {
    let is_of_whole = |found: &Rule| OF_WHOLE.iter().any(|rule| rule.name == found.name);
    diagnostics.retain(|found| found.is_error() || !is_of_whole(&found.rule));
}

/// Runs every check on one document; `cards` are those that its source lists beside it. The state is `None` when nmstate refuses
/// the document, and for a NetworkPolicy that a node is to apply.
pub fn document(
    document: &Document<'_>,
    cards: &[&str],
    purpose: Purpose,
    diagnostics: &mut Diagnostics,
) -> Option<State> {
    if purpose == Purpose::Apply && is_policy(document) {
        policy::check(document, cards, diagnostics);
        return None;
    }
    let subject = Subject::new(document, cards, purpose);
    let mut found = Diagnostics::default();
    let mut report = Report::new(document, &mut found);
    for (_, check) in TOPICS {
        check(&subject, &mut report);
    }
    let faults = report.faults;
    let mut refused = Diagnostics::default();
    let state = schema::parse(document, faults, &mut refused);
    // A misplaced or misspelt key is told by itself, not also by what is absent because of it.
    if refused.has_errors() {
        found.retain(|diagnostic| !FROM_ABSENCE.contains(&diagnostic.rule));
    }
    // Elsewhere the conversion tells them.
    if purpose == Purpose::Apply && state.is_some() && !found.has_errors() {
        refused.extend(schema::contradictions(document));
    }
    diagnostics.extend(found);
    diagnostics.extend(refused);
    state
}
