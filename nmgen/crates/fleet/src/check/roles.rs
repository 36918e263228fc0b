//! Differences within a role, whose hosts are usually built alike.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use nmgen_document::diagnostic::{Diagnostic, Diagnostics, rules};

use super::majority::{Odd, odd};
use super::member::Member;

rules! {
    warning VLAN_DIFFERS_IN_ROLE = "vlan-differs-in-role";
    warning MTU_DIFFERS_IN_ROLE = "mtu-differs-in-role";
}

pub(super) const HELP: &str = "if this host is meant to differ, there is nothing to do";

/// A role's hosts in one stage.
pub(super) type Group<'m, 'h> = (&'h str, Vec<&'m Member<'h>>);

pub(super) fn check(members: &[Member<'_>], diagnostics: &mut Diagnostics) {
    for (role, group) in groups(members) {
        vlans(role, &group, diagnostics);
        mtus(role, &group, diagnostics);
    }
}

/// The hosts with a document, of each role and stage. A host's several policies have only parts of its network each, so
/// that they are not compared.
pub(super) fn groups<'m, 'h>(members: &'m [Member<'h>]) -> Vec<Group<'m, 'h>> {
    // One source may give the role and another the document.
    let mut known: HashMap<&str, &str> = HashMap::new();
    let mut policies: HashMap<&str, usize> = HashMap::new();
    for member in members {
        let Some(name) = member.name() else { continue };
        if let Some(role) = member.host.role.as_deref() {
            known.insert(name, role);
        }
        if member.host.policy.is_some() {
            *policies.entry(name).or_default() += 1;
        }
    }
    let mut groups: BTreeMap<_, Vec<&Member<'_>>> = BTreeMap::new();
    for member in members.iter().filter(|member| member.host.document().is_some()) {
        let told = || member.name().and_then(|name| known.get(name).copied());
        let own = member.host.role.as_deref();
        let is_part = member.host.policy.is_some()
            && member.name().and_then(|name| policies.get(name)).is_some_and(|count| *count > 1);
        if let Some(role) = own.or_else(told)
            && !is_part
        {
            groups.entry((role, member.host.stage)).or_default().push(member);
        }
    }
    groups.into_iter().map(|((role, _), group)| (role, group)).collect()
}

fn vlans(role: &str, group: &[&Member<'_>], diagnostics: &mut Diagnostics) {
    let ids = |member: &&Member<'_>| member.facts.vlans.iter().map(|(id, _)| *id).collect();
    let values: Vec<BTreeSet<u64>> = group.iter().map(ids).collect();
    let values: Vec<&BTreeSet<u64>> = values.iter().collect();
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
        let Member { host, facts, .. } = group[index];
        let own = value.difference(others).next();
        let at = own.and_then(|own| facts.vlans.iter().rfind(|(id, _)| id == own));
        let place = at.map_or_else(|| host.place.clone(), |(_, at)| facts.place(*at));
        diagnostics.push(Diagnostic::new(VLAN_DIFFERS_IN_ROLE, message, place).help(HELP));
    }
}

fn mtus(role: &str, group: &[&Member<'_>], diagnostics: &mut Diagnostics) {
    let names: BTreeSet<&str> =
        group.iter().flat_map(|member| member.facts.mtus.iter().map(|(name, _)| *name)).collect();
    for name in names {
        let of_name = group.iter().filter_map(|it| Some((it.facts, it.facts.mtu(name)?)));
        let (values, places): (Vec<Option<u64>>, Vec<_>) =
            of_name.map(|(facts, (mtu, at))| (mtu, (facts, at))).unzip();
        let shown = |mtu: Option<u64>| mtu.map_or("none".to_owned(), |mtu| mtu.to_string());
        for Odd { index, value, others, count } in odd(&values) {
            let own = value.map_or("no MTU".to_owned(), |mtu| format!("MTU {mtu}"));
            let (all, others) = (values.len(), shown(others));
            let message = format!(
                "{name} has {own} here; {count} of {all} hosts of role {role} have {others}"
            );
            let (facts, at) = places[index];
            let place = facts.place(at);
            diagnostics.push(Diagnostic::new(MTU_DIFFERS_IN_ROLE, message, place).help(HELP));
        }
    }
}
