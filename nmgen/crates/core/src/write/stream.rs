//! Paths that are written into and never replaced: a device, a FIFO, an open descriptor.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use nmgen_document::error::Error;

/// The most links on the way to a file, as the kernel has it.
const MOST_LINKS: usize = 40;

/// True for what is written into and never replaced: a device, a FIFO; and an open descriptor, such as /dev/stdout, even
/// with a file behind it.
pub fn is_stream(path: &Path) -> bool {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => false,
        Ok(metadata) if !metadata.is_file() => true,
        // Nothing is behind a closed descriptor.
        Ok(_) | Err(_) => is_descriptor(path, MOST_LINKS),
    }
}

/// True for an open descriptor of a process (`/proc/PID/fd`), and for a link to one.
fn is_descriptor(path: &Path, links: usize) -> bool {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return false };
    let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
    let Ok(parent) = parent.canonicalize() else { return false };
    if parent.starts_with("/proc") && parent.ends_with("fd") {
        return true;
    }
    let next = fs::read_link(parent.join(name)).ok().filter(|_| links > 0);
    next.is_some_and(|next| is_descriptor(&parent.join(next), links - 1))
}

/// True for a path of this process's own standard output, whose place in a file would be lost if it were opened again.
pub fn is_standard_output(path: &Path) -> bool {
    let id = |path: &Path| fs::metadata(path).ok().map(|metadata| (metadata.dev(), metadata.ino()));
    id(path).is_some_and(|identity| Some(identity) == id(Path::new("/proc/self/fd/1")))
}

/// Writes into a stream as a shell's redirection does: nothing is created or cut.
pub fn pour(path: &Path, content: &[u8]) -> Result<(), Error> {
    let failed = |source| Error::WriteFile { path: path.display().to_string(), source };
    // A file behind a descriptor may have text already.
    let mut options = OpenOptions::new();
    let opened = options.write(true).append(path.is_file()).open(path);
    opened.and_then(|mut stream| stream.write_all(content)).map_err(failed)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{FileTypeExt, symlink};

    use nix::sys::stat::{Mode, SFlag, makedev, mknod};

    use super::{Path, fs, is_stream};
    use crate::write::write_given;

    #[test]
    fn a_path_of_no_regular_file_is_written_into() -> Result<(), Box<dyn std::error::Error>> {
        let place = tempfile::tempdir()?;
        let at = |name: &str| place.path().join(name);
        symlink("/dev/null", at("link"))?;
        symlink(at("link"), at("second"))?;
        symlink("/proc/self/fd/1", at("stdout"))?;
        for path in ["/dev/null", "/dev/zero", "/proc/self/fd/2"] {
            assert!(is_stream(Path::new(path)), "{path}");
        }
        for name in ["link", "second", "stdout"] {
            assert!(is_stream(&at(name)), "{name}");
        }
        fs::write(at("file"), "")?;
        symlink(at("file"), at("to_file"))?;
        for name in ["file", "to_file", "none", "."] {
            assert!(!is_stream(&at(name)), "{name}");
        }
        write_given(&at("second"), b"a".to_vec())?;
        assert!(fs::metadata("/dev/null")?.file_type().is_char_device());
        assert!(fs::symlink_metadata(at("second"))?.is_symlink());
        // Root alone makes a device.
        let device = at("device");
        if mknod(&device, SFlag::S_IFCHR, Mode::S_IRWXU, makedev(1, 3)).is_ok() {
            write_given(&device, b"a".to_vec())?;
            assert!(fs::metadata(&device)?.file_type().is_char_device());
        }
        write_given(&at("file"), b"b".to_vec())?;
        assert_eq!(fs::read(at("file"))?, b"b");
        Ok(())
    }
}
