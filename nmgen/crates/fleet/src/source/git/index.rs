//! git's index, versions 2 to 4 (gitformat-index(5)): the names of its files alone.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use crate::source::directory;

/// The bytes of a name's checksum: SHA-1, SHA-256.
const CHECKSUMS: [usize; 2] = [20, 32];
/// Times, device, inode, mode, owner and size.
const FACTS: usize = 40;
/// The flags say so if two bytes more follow.
const IS_EXTENDED: u16 = 0x4000;
/// The bits of the name's length.
const LENGTH: u16 = 0x0fff;

/// The paths of the YAML files; `None` for an index of another form.
pub(super) fn yaml_files(index: &[u8]) -> Option<Vec<PathBuf>> {
    let names = CHECKSUMS.iter().find_map(|checksum| names(index, *checksum))?;
    let path = |name: &Vec<u8>| PathBuf::from(OsStr::from_bytes(name));
    let is_wanted = |path: &PathBuf| {
        let is_yaml = path.file_name().is_some_and(|it| directory::is_yaml(&it.to_string_lossy()));
        is_yaml && is_plain(path)
    };
    Some(names.iter().map(path).filter(is_wanted).collect())
}

/// True for a path that leads nowhere else.
fn is_plain(path: &Path) -> bool {
    path.components().all(|it| matches!(it, Component::Normal(_)))
}

fn names(index: &[u8], checksum: usize) -> Option<Vec<Vec<u8>>> {
    let (header, mut rest) = index.split_at_checked(12)?;
    let version = number(header.get(4..8)?)?;
    if !header.starts_with(b"DIRC") || !(2..=4).contains(&version) {
        return None;
    }
    let mut names: Vec<Vec<u8>> = Vec::new();
    for _ in 0..number(header.get(8..12)?)? {
        let flags = rest.get(FACTS + checksum..FACTS + checksum + 2)?;
        let flags = u16::from_be_bytes(flags.try_into().ok()?);
        let more = if flags & IS_EXTENDED == 0 { 0 } else { 2 };
        let start = FACTS + checksum + 2 + more;
        let (mut name, start) = match version {
            4 => {
                let (dropped, bytes) = offset(rest.get(start..)?)?;
                let last = names.last().map(Vec::as_slice).unwrap_or_default();
                (last.get(..last.len().checked_sub(dropped)?)?.to_vec(), start + bytes)
            }
            _ => (Vec::new(), start),
        };
        let end = start + rest.get(start..)?.iter().position(|byte| *byte == 0)?;
        name.extend(rest.get(start..end)?);
        if usize::from(flags & LENGTH) != name.len().min(usize::from(LENGTH)) {
            return None;
        }
        // Zeros fill an entry up to eight bytes.
        let next = if version == 4 { end + 1 } else { (end + 8) & !7 };
        rest = rest.get(next..)?;
        names.push(name);
    }
    (!is_split(rest, checksum)?).then_some(names)
}

/// Whether most of the entries are in another file, by the extensions behind the entries.
fn is_split(mut rest: &[u8], checksum: usize) -> Option<bool> {
    while rest.len() > checksum {
        let length = number(rest.get(4..8)?)? as usize;
        if rest.starts_with(b"link") {
            return Some(true);
        }
        rest = rest.get(8_usize.checked_add(length)?..)?;
    }
    Some(false)
}

fn number(bytes: &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.try_into().ok()?))
}

/// A number of any length, as a pack's offsets are written, and the number of its bytes.
fn offset(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut value: usize = 0;
    for (at, byte) in bytes.iter().enumerate() {
        value = value.checked_mul(128)?.checked_add(usize::from(byte & 127))?;
        if byte & 128 == 0 {
            return Some((value, at + 1));
        }
        value = value.checked_add(1)?;
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{offset, yaml_files};

    #[test]
    fn an_offset_is_of_any_length() {
        for (bytes, value) in [
            (&[5][..], Some((5, 1))),
            (&[0x80, 0x00], Some((128, 2))),
            (&[0x80, 0x7f, 9], Some((255, 2))),
            (&[0x81, 0x00], Some((256, 2))),
            (&[0x80], None),
            (&[0xff; 20], None),
        ] {
            assert_eq!(offset(bytes), value, "{bytes:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn any_bytes_are_read_or_refused(
            version in 1..6_u32,
            count in prop_oneof![0..4_u32, any::<u32>()],
            rest in proptest::collection::vec(prop_oneof![Just(0), Just(b'a'), any::<u8>()], 0..400),
        ) {
            let header = [&b"DIRC"[..], &version.to_be_bytes(), &count.to_be_bytes()].concat();
            let _ = yaml_files(&[header, rest].concat());
        }
    }
}
