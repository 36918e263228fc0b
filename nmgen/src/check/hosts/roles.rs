//! Differences within a role, whose hosts are usually built alike.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::Hash;

use super::member::Member;
use crate::diagnostic::{Diagnostic, Diagnostics, Place, rules};
use crate::source::Stage;

rules! {
    warning VLAN_DIFFERS_IN_ROLE = "vlan-differs-in-role";
    warning MTU_DIFFERS_IN_ROLE = "mtu-differs-in-role";
}

const HELP: &str = "if this host is meant to differ, there is nothing to do";

pub(super) fn check(members: &[Member<'_>], diagnostics: &mut Diagnostics) {
    // One source may give the role and another the document.
    let known: HashMap<&str, &str> = members
        .iter()
        .filter_map(|member| Some((member.name()?, member.host.role.as_deref()?)))
        .collect();
    let mut groups: BTreeMap<(&str, Stage), Vec<&Member<'_>>> = BTreeMap::new();
    for member in members.iter().filter(|member| member.host.document.is_some()) {
        let told = || member.name().and_then(|name| known.get(name).copied());
        if let Some(role) = member.host.role.as_deref().or_else(told) {
            groups.entry((role, member.host.stage)).or_default().push(member);
        }
    }
    for ((role, _), group) in groups {
        vlans(role, &group, diagnostics);
        mtus(role, &group, diagnostics);
    }
}

fn vlans(role: &str, group: &[&Member<'_>], diagnostics: &mut Diagnostics) {
    let values: Vec<&BTreeSet<u64>> = group.iter().map(|member| &member.facts.vlans).collect();
    let listed = |vlans: &BTreeSet<u64>| match vlans.is_empty() {
        true => "no VLAN".to_owned(),
        false => {
            let ids: Vec<String> = vlans.iter().map(u64::to_string).collect();
            format!("VLAN {}", ids.join(", "))
        }
    };
    for Odd { index, value, others, count } in odd(&values) {
        let all = values.len();
        let message = format!(
            "{} here; {count} of {all} hosts of role {role} have {}",
            listed(value),
            listed(others)
        );
        let Member { host, facts } = group[index];
        let own = value.difference(others).next();
        let place = own.and_then(|id| facts.vlan_places.get(id)).unwrap_or(&host.place);
        diagnostics.push(Diagnostic::new(VLAN_DIFFERS_IN_ROLE, message, place.clone()).help(HELP));
    }
}

fn mtus(role: &str, group: &[&Member<'_>], diagnostics: &mut Diagnostics) {
    let names: BTreeSet<&String> =
        group.iter().flat_map(|member| member.facts.mtus.keys()).collect();
    for name in names {
        let of_name = group.iter().filter_map(|member| member.facts.mtus.get(name));
        let (values, places): (Vec<Option<u64>>, Vec<&Place>) =
            of_name.map(|(mtu, place)| (*mtu, place)).unzip();
        let shown = |mtu: Option<u64>| mtu.map_or("none".to_owned(), |mtu| mtu.to_string());
        for Odd { index, value, others, count } in odd(&values) {
            let own = value.map_or("no MTU".to_owned(), |mtu| format!("MTU {mtu}"));
            let (all, others) = (values.len(), shown(others));
            let message = format!(
                "{name} has {own} here; {count} of {all} hosts of role {role} have {others}"
            );
            let place = places[index].clone();
            diagnostics.push(Diagnostic::new(MTU_DIFFERS_IN_ROLE, message, place).help(HELP));
        }
    }
}

/// A value that differs from the majority's.
struct Odd<V> {
    index: usize,
    value: V,
    others: V,
    /// The number of hosts in the majority.
    count: usize,
}

/// The values that differ; none without a majority of at least two.
fn odd<V: Eq + Hash + Copy>(values: &[V]) -> impl Iterator<Item = Odd<V>> {
    let mut counts: HashMap<V, usize> = HashMap::new();
    for value in values {
        *counts.entry(*value).or_default() += 1;
    }
    let majority = counts
        .into_iter()
        .find(|(_, count)| *count * 2 > values.len() && *count > 1 && *count < values.len());
    values.iter().enumerate().filter_map(move |(index, value)| {
        let (others, count) = majority?;
        (*value != others).then_some(Odd { index, value: *value, others, count })
    })
}
