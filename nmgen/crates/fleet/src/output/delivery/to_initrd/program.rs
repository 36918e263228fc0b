//! The program and its units in an archive, as dracut's module installs them.

use nmgen_document::diagnostic::{Diagnostic, Place, rules};

use crate::output::delivery::cpio::Archive;
use crate::output::options::Program;

rules! {
    error PROGRAM_NOT_STATIC = "program-not-static";
}

const PROGRAM: &str = "usr/bin/nmgen";
/// `/etc` has precedence over the units of an image.
const UNITS: &str = "etc/systemd/system";
/// The initramfs's target, which dracut's module adds them to.
const WANTED_BY: &str = "initrd.target.wants";
const ALL: [(&str, &str); 2] = [
    (
        "nmgen-persist.service",
        include_str!(
            "../../../../../../../systemd/usr/lib/dracut/modules.d/50nmgen/nmgen-persist.service"
        ),
    ),
    (
        "nmgen.service",
        include_str!("../../../../../../../systemd/usr/lib/dracut/modules.d/50nmgen/nmgen.service"),
    ),
];

/// Adds program, units and links; `etc` is there.
pub(super) fn add(program: &Program, archive: &mut Archive) {
    archive.directory("etc/systemd");
    archive.directory(UNITS);
    for (name, text) in ALL {
        archive.file(&format!("{UNITS}/{name}"), 0o644, text.as_bytes());
    }
    archive.directory(&format!("{UNITS}/{WANTED_BY}"));
    for (name, _) in ALL {
        archive.link(&format!("{UNITS}/{WANTED_BY}/{name}"), &format!("../{name}"));
    }
    archive.directory("usr");
    archive.directory("usr/bin");
    archive.file(PROGRAM, 0o755, &program.content);
}

/// An initramfs may have no dynamic linker, or another C library.
pub(super) fn fault(program: &Program) -> Option<Diagnostic> {
    let message = match is_static(&program.content) {
        Some(true) => return None,
        Some(false) => "the program needs a dynamic linker, which an initramfs may not have",
        None => "this is no program in the format ELF of 64 bits",
    };
    let place = Place::file(program.path.clone());
    let help = "take the static one: `make ramdisk`, or /usr/libexec/nmgen/nmgen";
    Some(Diagnostic::new(PROGRAM_NOT_STATIC, message, place).help(help))
}

/// Whether it has no interpreter (PT_INTERP); `None` for another format: elf(5).
fn is_static(content: &[u8]) -> Option<bool> {
    const INTERPRETER: u64 = 3;
    const CLASS: usize = 4;
    const ORDER: usize = 5;
    if !content.starts_with(b"\x7fELF") || content.get(CLASS) != Some(&2) {
        return None;
    }
    let is_big = content.get(ORDER) == Some(&2);
    let number = |at: usize, length: usize| -> Option<u64> {
        let bytes = content.get(at..at.checked_add(length)?)?;
        let add = |sum: u64, byte: &u8| (sum << 8) | u64::from(*byte);
        Some(if is_big { bytes.iter().fold(0, add) } else { bytes.iter().rev().fold(0, add) })
    };
    let table = usize::try_from(number(32, 8)?).ok()?;
    let (size, count) = (usize::try_from(number(54, 2)?).ok()?, number(56, 2)?);
    for index in 0..usize::try_from(count).ok()? {
        let at = size.checked_mul(index).and_then(|offset| table.checked_add(offset))?;
        if number(at, 4)? == INTERPRETER {
            return Some(false);
        }
    }
    Some(true)
}
