//! The hosts of a role, which are usually built alike.

use std::collections::{BTreeMap, HashMap};

use super::member::Member;

/// A role's hosts in one stage.
pub(super) type Group<'m, 'h> = (&'h str, Vec<&'m Member<'h>>);

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
