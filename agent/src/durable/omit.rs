//! For the crash tests: steps that a faulty agent leaves out, by the variable `DAYONE_OMIT`, in debug
//! builds alone.

#[cfg(debug_assertions)]
pub(super) fn is_omitted(step: &str) -> bool {
    std::env::var_os("DAYONE_OMIT").is_some_and(|omitted| omitted == step)
}

#[cfg(not(debug_assertions))]
pub(super) fn is_omitted(_: &str) -> bool {
    false
}
