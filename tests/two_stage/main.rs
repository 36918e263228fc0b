//! The two-stage boot in a virtual machine: nmgen in the initramfs, real Ignition, the pivot, the agent.

mod bond;
mod bootstrap;
mod broken;
mod fallback;
mod late;
mod silent;

/// The cases' own expectations fail by panics, the lab's by its errors.
type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;
