//! The names of clusters for people: short where that is enough.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::Group;

/// A name for each group; none for a single one that has none.
pub(super) fn names(groups: &[Group], used: &BTreeSet<usize>) -> BTreeMap<usize, Option<Arc<str>>> {
    // From the shortest to the longest.
    let forms: [fn(&Group) -> Option<String>; 3] = [
        |group| group.name.clone().or_else(|| group.directory.clone()),
        |group| match (&group.name, &group.namespace) {
            (Some(name), Some(namespace)) if name != namespace => {
                Some(format!("{namespace}/{name}"))
            }
            (name, _) => name.clone().or_else(|| group.directory.clone()),
        },
        |group| match (&group.name, &group.directory) {
            (Some(name), Some(directory)) => Some(format!("{name} of {directory}")),
            (name, directory) => name.clone().or_else(|| directory.clone()),
        },
    ];
    let mut names: BTreeMap<usize, Option<Arc<str>>> = BTreeMap::new();
    let mut left: Vec<usize> = used.iter().copied().collect();
    if let [only] = left[..]
        && groups[only].name.is_none()
    {
        return BTreeMap::from([(only, None)]);
    }
    let mut taken: BTreeSet<String> = BTreeSet::new();
    for (position, form) in forms.iter().enumerate() {
        let told: Vec<(usize, Option<String>)> =
            left.iter().map(|index| (*index, form(&groups[*index]))).collect();
        let mut counts: HashMap<&Option<String>, usize> = HashMap::new();
        for (_, name) in &told {
            *counts.entry(name).or_default() += 1;
        }
        left.clear();
        for (index, name) in &told {
            let is_free = name.as_ref().is_none_or(|name| !taken.contains(name));
            if counts[name] == 1 && is_free {
                taken.extend(name.clone());
                names.insert(*index, name.as_deref().map(Arc::from));
            } else if position + 1 < forms.len() {
                left.push(*index);
            } else {
                let name = name.clone().unwrap_or_else(|| "cluster".to_owned());
                let numbered = (1..).map(|number| format!("{name} ({number})"));
                let name = numbered
                    .into_iter()
                    .find(|candidate| !taken.contains(candidate))
                    .unwrap_or(name);
                taken.insert(name.clone());
                names.insert(*index, Some(Arc::from(name)));
            }
        }
    }
    names
}
