//! A file's SELinux label. A new file gets that of its directory's files, which is wrong for one with a type of its own.

use std::{io, path::Path};

use rustix::{
    fs::{XattrFlags, lgetxattr, lsetxattr},
    io::Errno,
};

const ATTRIBUTE: &str = "security.selinux";
/// Longer than the kernel's own bound on a label's names and categories in use; a longer one is told as an error.
const LONGEST: usize = 1024;

/// The label, `None` on a file system without any.
pub(super) fn read(path: &Path) -> io::Result<Option<String>> {
    let mut bytes = [0; LONGEST];
    match lgetxattr(path, ATTRIBUTE, &mut bytes[..]) {
        Ok(length) => {
            let text = String::from_utf8_lossy(&bytes[..length.min(LONGEST)]);
            Ok(Some(text.trim_end_matches('\0').to_owned()))
        }
        Err(Errno::NODATA | Errno::OPNOTSUPP) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Gives a file the label.
pub(super) fn write(path: &Path, label: &str) -> io::Result<()> {
    Ok(lsetxattr(path, ATTRIBUTE, format!("{label}\0").as_bytes(), XattrFlags::empty())?)
}
