//! Hosts of a role are built alike: the one that is not is probably a slip.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::Hash;

use super::Member;
use crate::diagnostic::{Diagnostic, Place, Rule};
use crate::source::Stage;

const VLAN_DIFFERS_IN_ROLE: Rule = Rule::warning("vlan-differs-in-role");
const MTU_DIFFERS_IN_ROLE: Rule = Rule::warning("mtu-differs-in-role");

pub(super) const RULES: &[Rule] = &[VLAN_DIFFERS_IN_ROLE, MTU_DIFFERS_IN_ROLE];

const HELP: &str = "if this host is meant to differ, there is nothing to do";

pub(super) fn check(members: &[Member<'_>], diagnostics: &mut Vec<Diagnostic>) {
    let mut groups: BTreeMap<(&str, Stage), Vec<&Member<'_>>> = BTreeMap::new();
    for member in members.iter().filter(|member| member.host.document.is_some()) {
        if let Some(role) = member.host.role.as_deref() {
            groups.entry((role, member.host.stage)).or_default().push(member);
        }
    }
    for ((role, _), group) in groups {
        vlans(role, &group, diagnostics);
        mtus(role, &group, diagnostics);
    }
}

fn vlans(role: &str, group: &[&Member<'_>], diagnostics: &mut Vec<Diagnostic>) {
    let values: Vec<(&BTreeSet<u64>, &Place)> =
        group.iter().map(|member| (&member.facts.vlans, &member.host.place)).collect();
    let listed = |vlans: &BTreeSet<u64>| match vlans.is_empty() {
        true => "no VLAN".to_owned(),
        false => {
            let ids: Vec<String> = vlans.iter().map(u64::to_string).collect();
            format!("VLAN {}", ids.join(", "))
        }
    };
    odd(&values, |own, others, count| {
        let (own, others, all) = (listed(own), listed(others), values.len());
        format!("{own} here; {count} of {all} hosts of role {role} have {others}")
    })
    .for_each(|(message, place)| {
        diagnostics.push(Diagnostic::new(VLAN_DIFFERS_IN_ROLE, message, place).help(HELP));
    });
}

fn mtus(role: &str, group: &[&Member<'_>], diagnostics: &mut Vec<Diagnostic>) {
    let names: BTreeSet<&String> =
        group.iter().flat_map(|member| member.facts.mtus.keys()).collect();
    for name in names {
        let values: Vec<(u64, &Place)> = group
            .iter()
            .filter_map(|member| member.facts.mtus.get(name))
            .map(|(mtu, place)| (*mtu, place))
            .collect();
        odd(&values, |own, others, count| {
            let all = values.len();
            format!(
                "{name} has MTU {own} here; {count} of {all} hosts of role {role} have {others}"
            )
        })
        .for_each(|(message, place)| {
            diagnostics.push(Diagnostic::new(MTU_DIFFERS_IN_ROLE, message, place).help(HELP));
        });
    }
}

/// Those that are not as the majority is: a message each, made of the own value, the majority's and how
/// many have that. None where there is no majority of at least two.
fn odd<'v, V: Eq + Hash + Copy>(
    values: &'v [(V, &'v Place)],
    message: impl Fn(V, V, usize) -> String + 'v,
) -> impl Iterator<Item = (String, Place)> + 'v {
    let mut counts: HashMap<V, usize> = HashMap::new();
    for (value, _) in values {
        *counts.entry(*value).or_default() += 1;
    }
    let majority = counts
        .into_iter()
        .find(|(_, count)| *count * 2 > values.len() && *count > 1 && *count < values.len());
    values.iter().filter_map(move |(value, place)| {
        let (others, count) = majority?;
        (*value != others).then(|| (message(*value, others, count), (*place).clone()))
    })
}
