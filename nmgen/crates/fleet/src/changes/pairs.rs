//! Finds each host of the old sources in the new ones.

use std::collections::HashMap;

use nmgen_core::source::Host;

/// A host in both sets of sources, or in one of them.
pub(super) struct Pair<'h> {
    pub(super) before: Option<&'h Host>,
    pub(super) after: Option<&'h Host>,
    /// A set of sources has several documents of this host.
    pub(super) has_others: bool,
}

/// The old hosts in their order, then the added ones. Of several documents of a host, those of the same role, stage and policy
/// belong together, then those of the same stage and policy, since sources differ in giving roles; one that is left on each side
/// may have moved to another kind of source.
pub(super) fn pairs<'h>(old: &'h [Host], new: &'h [Host], has_clusters: bool) -> Vec<Pair<'h>> {
    let of_both = (!has_clusters).then_some(None);
    let id = |host: &'h Host| -> Id<'h> {
        (of_both.unwrap_or(host.cluster.as_deref()), host.short_name())
    };
    let (of_old, of_new) = (by_name(old, id), by_name(new, id));
    let mut counterparts: Vec<Option<usize>> = vec![None; old.len()];
    let mut is_taken = vec![false; new.len()];
    for (name, group) in &of_old {
        let others = of_new.get(name).map(Vec::as_slice).unwrap_or_default();
        for is_same in SAME {
            for index in group {
                if counterparts[*index].is_some() {
                    continue;
                }
                let fits =
                    |other: &&usize| !is_taken[**other] && is_same(&old[*index], &new[**other]);
                if let Some(other) = others.iter().find(fits) {
                    counterparts[*index] = Some(*other);
                    is_taken[*other] = true;
                }
            }
        }
        let mut left = group.iter().filter(|index| counterparts[**index].is_none());
        let mut free = others.iter().filter(|other| !is_taken[**other]);
        if let (Some(index), None, Some(other), None) =
            (left.next(), left.next(), free.next(), free.next())
            && !are_two_policies(&old[*index], &new[*other])
        {
            counterparts[*index] = Some(*other);
            is_taken[*other] = true;
        }
    }
    let has_others = |host: &'h Host| {
        let is_several = |group: Option<&Vec<usize>>| group.is_some_and(|group| group.len() > 1);
        is_several(of_old.get(&id(host))) || is_several(of_new.get(&id(host)))
    };
    let known = old.iter().zip(&counterparts).map(|(before, other)| Pair {
        before: Some(before),
        after: other.map(|other| &new[other]),
        has_others: has_others(before),
    });
    let added = new.iter().zip(&is_taken).filter(|(_, is_taken)| !**is_taken);
    let added = added.map(|(after, _)| Pair {
        before: None,
        after: Some(after),
        has_others: has_others(after),
    });
    known.chain(added).collect()
}

/// Features that two documents of one host share, the best first.
const SAME: &[fn(&Host, &Host) -> bool] = &[
    |one, other| one.role == other.role && one.stage == other.stage && one.policy == other.policy,
    |one, other| {
        let is_same_role = one.role.is_none() || other.role.is_none() || one.role == other.role;
        is_same_role && one.stage == other.stage && one.policy == other.policy
    },
];

fn are_two_policies(one: &Host, other: &Host) -> bool {
    one.policy.is_some() && other.policy.is_some() && one.policy != other.policy
}

/// A host's cluster, where the sources have several, and its name.
type Id<'h> = (Option<&'h str>, Option<&'h str>);

/// Sources differ in giving the domain.
fn by_name<'h>(hosts: &'h [Host], id: impl Fn(&'h Host) -> Id<'h>) -> HashMap<Id<'h>, Vec<usize>> {
    let mut groups: HashMap<Id<'h>, Vec<usize>> = HashMap::with_capacity(hosts.len());
    for (index, host) in hosts.iter().enumerate() {
        groups.entry(id(host)).or_default().push(index);
    }
    groups
}
