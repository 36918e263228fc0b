//! The agent's memory across power cuts: the open transaction, the record, the last good document.

pub(crate) mod commit;
mod copies;
mod file;
pub(crate) mod journal;
pub(crate) mod record;

pub(crate) use self::file::{FileError, read, read_json, remove, write, write_json};
