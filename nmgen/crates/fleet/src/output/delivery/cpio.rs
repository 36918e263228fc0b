//! The `newc` format: the kernel's Documentation/driver-api/early-userspace/buffer-format.rst.

use std::io::Write;

const DIRECTORY: u32 = 0o040_755;
const FILE: u32 = 0o100_000;
const LINK: u32 = 0o120_777;
/// The alignment of cpio(1), so that another archive can follow.
const BLOCK: usize = 512;

/// A reproducible archive: times and owners are zero, and inode numbers are sequential.
#[derive(Debug, Default)]
pub(super) struct Archive {
    bytes: Vec<u8>,
    entries: u32,
}

impl Archive {
    pub(super) fn directory(&mut self, path: &str) {
        self.entries += 1;
        self.entry(path, self.entries, DIRECTORY, 2, &[]);
    }

    pub(super) fn file(&mut self, path: &str, permissions: u32, content: &[u8]) {
        self.entries += 1;
        self.entry(path, self.entries, FILE | permissions, 1, content);
    }

    /// A symbolic link; the target is its content.
    pub(super) fn link(&mut self, path: &str, to: &str) {
        self.entries += 1;
        self.entry(path, self.entries, LINK, 1, to.as_bytes());
    }

    pub(super) fn finish(mut self) -> Vec<u8> {
        self.entry("TRAILER!!!", 0, 0, 1, &[]);
        self.align(BLOCK);
        self.bytes
    }

    fn entry(&mut self, path: &str, inode: u32, mode: u32, links: u32, content: &[u8]) {
        // Documents and programs are far smaller than 4 GiB.
        let (size, name_size) = (content.len() as u32, path.len() as u32 + 1);
        let (owner, group, time, major, minor, check) = (0, 0, 0, 0, 0, 0);
        let fields = [
            inode, mode, owner, group, links, time, size, major, minor, major, minor, name_size,
            check,
        ];
        self.bytes.extend_from_slice(b"070701");
        for field in fields {
            // Writing to a vector cannot fail.
            let _ = write!(self.bytes, "{field:08X}");
        }
        self.bytes.extend_from_slice(path.as_bytes());
        self.bytes.push(0);
        self.align(4);
        self.bytes.extend_from_slice(content);
        self.align(4);
    }

    fn align(&mut self, to: usize) {
        let length = self.bytes.len().next_multiple_of(to);
        self.bytes.resize(length, 0);
    }
}
