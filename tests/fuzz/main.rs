//! libFuzzer with one target, which `FUZZ_TARGET` names: the arguments are libFuzzer's. `run`, beside this file, is its caller.

#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;

static TARGET: OnceLock<fn(&[u8])> = OnceLock::new();

fuzz_target!(|input: &[u8]| TARGET.get_or_init(target)(input));

fn target() -> fn(&[u8]) {
    let name = std::env::var("FUZZ_TARGET").unwrap_or_default();
    let mut all = tests::fuzz::TARGETS.into_iter().chain(dayone::fuzzing::TARGETS);
    let Some((_, target)) = all.find(|(known, _)| *known == name) else {
        unreachable!("no target FUZZ_TARGET={name}")
    };
    target
}
