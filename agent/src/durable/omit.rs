//! For the crash tests: steps that a faulty agent leaves out, by the variable `DAYONE_OMIT`, with the
//! feature `fault-injection` alone.

#[cfg(feature = "fault-injection")]
pub(super) fn is_omitted(step: &str) -> bool {
    std::env::var_os("DAYONE_OMIT").is_some_and(|omitted| omitted == step)
}

#[cfg(not(feature = "fault-injection"))]
pub(super) fn is_omitted(_: &str) -> bool {
    false
}
