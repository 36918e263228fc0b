//! State that survives a power cut: the open transaction and the record, which has the last good document.

pub(crate) mod adopted;
pub(crate) mod automatic;
mod boot;
pub(crate) mod commit;
mod copies;
mod file;
pub(crate) mod from_0_2;
pub(crate) mod journal;
mod label;
pub(crate) mod machine;
mod omit;
pub(crate) mod owner;
pub(crate) mod pins;
mod place;
mod protected;
pub(crate) mod record;
pub(crate) mod record_file;
pub(crate) mod set_aside;
mod sync_others;

pub(crate) use self::boot::boot_id;
pub(crate) use self::file::{
    FileError, read, read_json_or_set_aside, remove, rename, sync_dir, write, write_json,
};

#[cfg(test)]
mod tests {
    mod golden;
}
