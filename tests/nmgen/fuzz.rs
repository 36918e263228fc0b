//! Inputs that fuzzing found, and those that it begins with: none breaks an invariant any more. Those of the agent's targets run in
//! its own tests.

use std::panic::catch_unwind;

use tests::fuzz::{TARGETS, fixtures};

#[tests::case]
fn the_fixtures_of_each_target_break_no_invariant() {
    for (name, target) in TARGETS {
        let fixtures = fixtures(name).unwrap();
        assert!(!fixtures.is_empty(), "{name}");
        for (path, input) in fixtures {
            assert!(catch_unwind(|| target(&input)).is_ok(), "{}", path.display());
        }
    }
}
