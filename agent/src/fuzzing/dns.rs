//! Answers of name servers and gateways, and lines of `resolv.conf`.

use crate::probe;

pub(super) fn run(input: &[u8]) {
    probe::reads_answers(input);
}
