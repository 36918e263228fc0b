//! Files that a killed call has left beside their places.

use std::fs::{self, File};
use std::path::Path;

use nix::unistd::{UnlinkatFlags, unlinkat};

/// The end of the name of a file that is not in its place yet.
const END: &str = ".nmgen";

/// The name of a file of this process until it is in its place.
pub(super) fn temporary(name: &str) -> String {
    format!(".{name}.{}{END}", std::process::id())
}

/// Removes such files of processes that are no more. What cannot be removed stays: the call that follows has its own error.
pub(super) fn remove(path: &Path, directory: &File) {
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if name.to_str().and_then(process).is_some_and(|id| !is_running(id)) {
            let _ = unlinkat(directory, name.as_os_str(), UnlinkatFlags::NoRemoveDir);
        }
    }
}

/// The process that a temporary file's name has.
fn process(name: &str) -> Option<u32> {
    let (of, id) = name.strip_suffix(END)?.rsplit_once('.')?;
    (of.len() > 1 && of.starts_with('.')).then(|| id.parse().ok()).flatten()
}

/// Returns whether a process has this id; without /proc nobody can tell.
fn is_running(id: u32) -> bool {
    let proc = Path::new("/proc");
    proc.join(id.to_string()).exists() || !proc.join("self").exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_processes_that_are_no_more_are_removed() -> std::io::Result<()> {
        let place = tempfile::tempdir()?;
        let mut child = std::process::Command::new("true").spawn()?;
        let gone = child.id();
        child.wait()?;
        let own = temporary("a.nmconnection");
        let others = [
            own.as_str(),
            ".a.nmconnection",
            "a.1.nmgen",
            ".a.x.nmgen",
            ".1.nmgen",
            ".a.1.nmgen",
            "b",
        ];
        let of_gone = [format!(".a.nmconnection.{gone}.nmgen"), format!(".b.ign.{gone}.nmgen")];
        for name in others.iter().copied().chain(of_gone.iter().map(String::as_str)) {
            fs::write(place.path().join(name), "")?;
        }
        remove(place.path(), &File::open(place.path())?);
        let mut left: Vec<String> = fs::read_dir(place.path())?
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        let mut expected = others.map(str::to_owned).to_vec();
        left.sort();
        expected.sort();
        assert_eq!(left, expected);
        Ok(())
    }
}
