//! Removes reported values from a document, so that nmstate judges the rest.

use nmgen_document::{Node, Path, Step};

use super::locate::{Judge, reason, remove};
use crate::state::Refusal;

/// Removing a required field also removes the part that requires it, which may be required again;
/// NMState nests no deeper.
const MAX_ROUNDS: usize = 5;

/// nmstate's verdict on the document without the values at these paths. They are removed at once,
/// since each verdict costs a pass over the whole document. `removed` gets the paths as
/// [`super::original`] needs them; their paths in the document are returned beside the verdict.
pub(super) fn take_out(
    value: &mut Node<'_>,
    known: Vec<Path>,
    judge: Judge,
    removed: &mut Vec<Path>,
) -> (Vec<Path>, Result<(), Refusal>) {
    let mut taken: Vec<Path> = Vec::new();
    let mut next = known;
    let mut verdict = Ok(());
    for _ in 0..MAX_ROUNDS {
        let before = removed.len();
        for path in last_first(next) {
            if let Some(now) = current(&path, removed) {
                remove(value, &now);
                removed.push(now);
                taken.push(path);
            }
        }
        if removed.len() == before {
            break;
        }
        verdict = judge(value);
        let Err(refusal) = &verdict else { break };
        let reason = reason(refusal);
        let Some(missing) = missing_field(&reason) else { break };
        let parents = taken.iter().filter_map(|path| match path.split_last() {
            Some((Step::Key(key), parent)) if **key == *missing => Some(parent),
            _ => None,
        });
        next = parents.filter(|parent| !parent.steps().is_empty()).collect();
    }
    (taken, verdict)
}

/// The field in serde's "missing field `a`".
pub(super) fn missing_field(reason: &str) -> Option<&str> {
    let (field, _) = reason.split_once("missing field `")?.1.split_once('`')?;
    Some(field)
}

/// From the end of the document to its start.
fn last_first(mut paths: Vec<Path>) -> Vec<Path> {
    paths.sort_unstable_by(|a, b| b.cmp(a));
    paths.dedup();
    paths
}

/// The path of a part after the removals; `None` if it is removed.
fn current(path: &Path, removed: &[Path]) -> Option<Path> {
    let mut path = path.clone();
    for gone in removed {
        if path.starts_with(gone) {
            return None;
        }
        let Some((Step::Index(index), list)) = gone.split_last() else { continue };
        let depth = list.steps().len();
        if !path.starts_with(&list)
            || !matches!(path.steps().get(depth), Some(Step::Index(i)) if i > index)
        {
            continue;
        }
        let steps = path.steps().iter().enumerate().map(|(position, step)| match step {
            Step::Index(i) if position == depth => Step::Index(i - 1),
            Step::Index(_) | Step::Key(_) => step.clone(),
        });
        path = steps.fold(Path::default(), |path, step| path.join(step));
    }
    Some(path)
}
