//! Every state that a crash can leave a disk in, from the recorded file operations of a program.
//!
//! The operations of a run are recorded as system calls ([`trace`], [`calls`]) and become changes of inodes ([`operations`],
//! [`disk`]). A crash may follow any of them. What had reached the disk by then is bounded only by these rules ([`states`]):
//!
//! - fsync of a file makes its data and its mode durable, fsync of a directory its names. Nothing else does.
//! - The names of one directory change on the disk in their order. Those of different directories come in any order; a rename
//!   from one to another is in both or in none.
//! - Data that was not synced is complete, short, zero-filled, absent or as an earlier write left it, however long ago its name
//!   came: a rename orders nothing.
//! - `/run` is gone.
//!
//! These are weaker than the rules of any one file system. ext4 and xfs keep a single log of names for a whole file system, so
//! that two directories are out of order only where `/var` is a file system of its own; an agent that relies on no more than the
//! above is right on both, on one partition and on several. Both allocate blocks after the name (delayed allocation): the kernel's
//! `Documentation/admin-guide/ext4.rst` has under `auto_da_alloc` the zero-length files of a rename without fsync, and the two
//! patterns that ext4 then flushes by itself (replace by rename, replace by truncation). A new name is not among them, and xfs
//! flushes after a truncation only; its commit ba87ea699ebd describes the files of zeros and of no length. The order of names and
//! the way of the test are those of "All File Systems Are Not Created Equal" (Pillai and others, OSDI 2014), whose tool ALICE
//! found such faults in databases.

mod calls;
pub mod campaign;
mod disk;
pub mod operations;
pub mod states;
pub mod trace;
pub mod tree;

use std::{io, path::PathBuf};

use thiserror::Error;

/// Why operations cannot be recorded or states not tried.
#[derive(Debug, Error)]
pub enum Fault {
    /// A line that is not strace's.
    #[error("strace: {0}")]
    Trace(String),
    /// A call whose effect the model does not know.
    #[error("the model of the disk does not know this call: {0}")]
    Call(String),
    /// strace ended or said something else.
    #[error("strace did not attach: {0}")]
    Attach(String),
    /// A file of the test.
    #[error("{path}: {source}")]
    File {
        /// Its path.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A program that could not be started or waited for.
    #[error("{program}: {source}")]
    Run {
        /// Its name.
        program: String,
        /// The cause.
        source: io::Error,
    },
}
