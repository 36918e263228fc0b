//! The targets of `make fuzz` in the agent: functions of any bytes that panic where an invariant is broken. Those of nmgen are in
//! `tests/src/fuzz.rs`.

mod dns;
mod netlink;
mod ovsdb;
mod state;

use std::future::Future;

/// A target's name and function.
pub type Target = (&'static str, fn(&[u8]));

/// Every target.
pub const TARGETS: [Target; 4] =
    [("ovsdb", ovsdb::run), ("netlink", netlink::run), ("state", state::run), ("dns", dns::run)];

/// Runs the agent's asynchronous code to its end.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let Ok(runtime) = runtime else { unreachable!("no runtime: {runtime:?}") };
    runtime.block_on(future)
}

#[cfg(test)]
mod tests {
    use super::TARGETS;

    /// Finds that are mended, and seeds.
    #[test]
    fn the_fixtures_of_each_target_break_no_invariant() -> Result<(), Box<dyn std::error::Error>> {
        for (name, target) in TARGETS {
            let fixtures = format!("{}/../tests/fixtures/fuzz/{name}", env!("CARGO_MANIFEST_DIR"));
            let mut count = 0;
            for entry in std::fs::read_dir(&fixtures)? {
                target(&std::fs::read(entry?.path())?);
                count += 1;
            }
            assert!(count > 0, "{fixtures} is empty");
        }
        Ok(())
    }
}
