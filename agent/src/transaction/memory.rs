//! The file of what this node's network had in this boot: in /run, so that a restarted agent has it.

use nmgen::chain;

use crate::{durable, model::memory::Memory, paths::Paths, status::create_runtime_dir};

/// Returns what this node's network had in this boot. A file that cannot be read is none, with a warning.
pub(crate) fn load(paths: &Paths) -> Memory {
    let read = durable::read_json_or_set_aside(&paths.memory());
    let read = read.inspect_err(|error| tracing::warn!("{}", chain(error)));
    read.ok().flatten().unwrap_or_default()
}

/// Changes what is remembered.
pub(crate) fn update<T>(paths: &Paths, change: impl FnOnce(&mut Memory) -> T) -> T {
    let mut memory = load(paths);
    let before = memory.clone();
    let done = change(&mut memory);
    if memory != before {
        save(paths, &memory);
    }
    done
}

/// Writes it. A failure is a warning: the run itself goes on.
fn save(paths: &Paths, memory: &Memory) {
    let path = paths.memory();
    let written = path
        .parent()
        .map_or(Ok(()), create_runtime_dir)
        .and_then(|()| durable::write_json(&path, memory, 0o644));
    if let Err(error) = written {
        tracing::warn!("what this network had is not remembered: {}", chain(&error));
    }
}
