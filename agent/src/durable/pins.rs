//! Pins of cards' names. `nmstatectl persist-nic-names`, which the operator runs before an operating
//! system that names cards otherwise, writes `Name=` to the file in which nmstate's apply keeps
//! alternative names. An apply that takes the last of these away, or the interface, removes the file,
//! and the next boot could have the card under another name.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::file::{self, Result};
use crate::paths::Paths;

const DIRECTORY: &str = "/etc/systemd/network";
/// nmstate's mode.
const MODE: u32 = 0o644;
/// A link file has some lines; others are nobody's pin.
const LIMIT: u64 = 64 << 10;

/// The pins before an apply.
pub(crate) struct Pins(Vec<(PathBuf, String)>);

impl Pins {
    /// Reads them; a link, or a large file, is none of nmstate's.
    pub(crate) fn of(paths: &Paths) -> Self {
        let entries = fs::read_dir(paths.under(DIRECTORY)).into_iter().flatten().flatten();
        let files = entries.map(|entry| entry.path()).filter(|path| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            name.starts_with("98-nmstate-") && name.ends_with(".link")
        });
        let read = files.filter_map(|path| {
            let text = read(&path).inspect_err(|error| {
                tracing::warn!("a card may lose its name: cannot read {}: {error}", path.display());
            });
            Some((path, text.ok()?))
        });
        let is_pin = |text: &str| text.lines().any(|line| line.trim_start().starts_with("Name="));
        Self(read.filter(|(_, text)| is_pin(text)).collect())
    }

    /// Writes each file anew that the apply has removed, without alternative names. Those that are
    /// there have the name: nmstate writes it beside them.
    pub(crate) fn put_back(&self) -> Result {
        let removed = self.0.iter().filter(|(path, _)| {
            fs::symlink_metadata(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
        });
        for (path, before) in removed {
            file::write(path, alone(before).as_bytes(), MODE)?;
        }
        Ok(())
    }
}

fn read(path: &Path) -> io::Result<String> {
    match fs::symlink_metadata(path)? {
        metadata if metadata.is_file() && metadata.len() <= LIMIT => fs::read_to_string(path),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// The pin without alternative names.
fn alone(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.starts_with("AlternativeName="));
    lines.map(|line| format!("{line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::Pins;
    use crate::paths::Paths;

    #[test]
    fn a_pin_that_an_apply_has_removed_is_written_anew() {
        let root = tempfile::tempdir().expect("a directory");
        let paths = Paths::new(root.path());
        let directory = paths.under(super::DIRECTORY);
        fs::create_dir_all(&directory).expect("a directory");
        let write = |name: &str, text: &str| {
            let path = directory.join(name);
            fs::write(&path, text).expect("a file");
            path
        };
        let match_of = |last: char| format!("[Match]\nMACAddress=52:54:00:00:00:0{last}\n[Link]\n");
        let both = format!("{}AlternativeName=lan0\nName=eno1\n", match_of('1'));
        let pinned = write("98-nmstate-eno1.link", &both);
        let named =
            write("98-nmstate-eno2.link", &format!("{}AlternativeName=lan1\n", match_of('2')));
        let kept = write("98-nmstate-eno3.link", &format!("{}Name=eno3\n", match_of('3')));
        let pins = Pins::of(&paths);
        for path in [&pinned, &named] {
            fs::remove_file(path).expect("the file");
        }
        let newer = format!("{}Name=lan3\n", match_of('3'));
        fs::write(&kept, &newer).expect("the file");
        pins.put_back().expect("the pins");
        let text = fs::read_to_string(&pinned).expect("the pin");
        assert_eq!(text, format!("{}Name=eno1\n", match_of('1')));
        assert!(!named.exists(), "nobody has pinned its name");
        assert_eq!(fs::read_to_string(&kept).expect("the file"), newer);
    }
}
