//! The file of what this node's network had in this boot: in /run, so that a restarted agent has it.

use crate::{
    durable, model::memory::Memory, paths::Paths, status::write_in_runtime, warn::OrWarn as _,
};

/// Returns what this node's network had in this boot. A file that cannot be read is none, with a warning.
pub(crate) fn load(paths: &Paths) -> Memory {
    durable::read_json_or_set_aside(&paths.memory()).or_warn().flatten().unwrap_or_default()
}

/// Changes what is remembered. A failure to write it is a warning: the run itself goes on.
pub(crate) fn update<T>(paths: &Paths, change: impl FnOnce(&mut Memory) -> T) -> T {
    let mut memory = load(paths);
    let before = memory.clone();
    let done = change(&mut memory);
    if memory != before {
        let written = write_in_runtime(&paths.memory(), &memory);
        written.or_warn_of("what this network had is not remembered");
    }
    done
}
