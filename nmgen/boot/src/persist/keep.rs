//! Profiles that the running system's `/etc` cannot take: they last for this boot.
//!
//! coreos-teardown-initramfs.service would copy those in `/run/NetworkManager` to the same `/etc`, fail, and
//! remove the directory. So they wait elsewhere, and the running system's systemd-tmpfiles puts them there
//! before NetworkManager starts: tmpfiles.d(5).

use nmgen_core::write::{self, File};

use crate::fault::Fault;
use crate::files::readable;
use crate::root::{Paths, RUN_PROFILES};

/// Where the profiles wait for the running system.
const KEPT: &str = "/run/nmgen-profiles";
const PLACES: &str = "/run/tmpfiles.d/nmgen-profiles.conf";

pub(crate) fn keep(paths: &Paths, profiles: &[File]) -> Result<(), Fault> {
    if profiles.is_empty() {
        return Ok(());
    }
    write::write(&paths.under(KEPT), profiles).map_err(Fault::Machine)?;
    let text = text(profiles.iter().map(|file| file.name.as_str()));
    readable(&paths.under(PLACES), text.into_bytes())
}

fn text<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let mut text = format!(
        "# Written by nmgen boot: profiles for this boot.\nd {RUN_PROFILES} 0755 root root -\n"
    );
    for name in names {
        // `%` begins a specifier.
        let plain = name.replace('%', "%%");
        let quoted = format!("{RUN_PROFILES}/{plain}").replace('\\', "\\\\").replace('"', "\\\"");
        text.push_str(&format!("C \"{quoted}\" 0600 root root - {KEPT}/{plain}\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_no_specifiers_and_no_words() {
        let text = text(["a b%h.nmconnection"].into_iter());
        let line = "C \"/run/NetworkManager/system-connections/a b%%h.nmconnection\" 0600 root root - \
                    /run/nmgen-profiles/a b%%h.nmconnection\n";
        assert!(text.ends_with(line), "{text}");
    }
}
