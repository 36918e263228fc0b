//! A second crash, while the agent recovers from the first.

use std::path::Path;

use tests::{
    crash::{
        Fault,
        campaign::{self, Judge, Report, Shared},
        operations::Recording,
        states::{State, States},
        trace::Trace,
        tree::Tree,
    },
    lab::Error,
};

use super::{
    agent,
    node::Named,
    recorded::faulty,
    recovery::{self, Expected, PLACES, Recovery},
};

/// First crashes of each transaction, spread evenly over it.
const CRASHES: usize = 6;

/// Recovers from some crashes of each transaction, with a second crash at every operation of the recovery. Returns the number of
/// states that the second crashes left.
pub(super) fn hold(recordings: &[Named]) -> Result<usize, Error> {
    let mut states = 0;
    for (name, expected, recording) in recordings {
        let simple = States::new(recording).all(0);
        for first in simple.iter().step_by(simple.len().div_ceil(CRASHES)) {
            let report = second_crash(expected, first).map_err(|fault| faulty(&fault))?;
            let violations = report.text();
            let at = first.at;
            assert!(violations.is_empty(), "{name}, recovery after operation {at}:\n{violations}");
            states += report.states;
        }
    }
    Ok(states)
}

/// The recovery after `first` is recorded; a further one has to complete what a crash leaves of it.
fn second_crash(expected: &Expected, first: &State) -> Result<Report, Fault> {
    let mut recovery = Recovery::new(expected)?;
    recovery.put(&first.tree)?;
    recovery.reboot()?;
    let root = recovery.root().to_string_lossy().into_owned();
    let places: Vec<_> = PLACES.iter().map(|place| format!("{root}{place}")).collect();
    let places: Vec<_> = places.iter().map(String::as_str).collect();
    let failed = |source| Fault::File { path: root.clone().into(), source };
    let start = Tree::read(Path::new("/"), &places).map_err(failed)?;
    let command = agent::command(&["recover"], recovery.root());
    let (code, calls) = Trace::attach(&command, &[])?.finish()?;
    assert_eq!(code, Some(0));
    let recording = Recording::new(start, &places, &calls)?;
    let end = Tree::read(Path::new("/"), &places).map_err(failed)?;
    assert_eq!(end.difference(&recording.end()), None, "the recording misses a call");
    let end = recovery::without_history(&end.below(&root));
    let judge = || Ok(Again { root: &root, end: &end, recovery: Recovery::new(expected)? });
    match recording.length() {
        // Nothing was in doubt.
        0 => Ok(Report::default()),
        _ => campaign::run(&recording, 0, judge),
    }
}

/// The recovery after the second crash, elsewhere.
struct Again<'e> {
    /// The recorded recovery's directory.
    root: &'e str,
    /// The files that it left without a crash.
    end: &'e Tree,
    recovery: Recovery<'e>,
}

impl Judge for Again<'_> {
    fn judge(&mut self, state: &State, _: &Shared) -> Result<Option<String>, Fault> {
        self.recovery.put(&state.tree.below(self.root))?;
        Ok(match self.recovery.recover()? {
            Ok(after) => recovery::without_history(&after).difference(self.end),
            Err(rule) => Some(rule),
        })
    }
}
