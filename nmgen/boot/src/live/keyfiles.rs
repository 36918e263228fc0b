//! Ready keyfiles of older versions of assisted-service, written for the names of
//! `mac_interface.ini`: this machine's names take their place.

use std::io;
use std::path::Path;

use nmgen_core::check::name::is_safe_profile_id;
use nmgen_core::profile::Keyfile;
use nmgen_document::spelling::is_among;

use super::ready::Final;
use crate::fault::Fault;
use crate::files;
use crate::kernel_log::{Level, Log};
use crate::names::Names;
use crate::write::others;

const EXTENSION: &str = ".nmconnection";
/// Keys that name an interface, in any section: nm-settings-keyfile(5). NetworkManager takes a list in
/// some of them.
const INTERFACES: &str =
    "interface-name controller master parent peer port1 port2 interlink primary active_slave";

/// The directory's profiles with this machine's names; `names` gets those of VLANs too.
pub(super) fn read(directory: &Path, names: &mut Names, log: &Log) -> Result<Vec<Final>, Fault> {
    let mut keyfiles = Vec::new();
    let files = others::files(directory)
        .map_err(|source| Fault::ReadProfiles { path: directory.to_owned(), source })?;
    for path in files {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let Some(stem) = name.strip_suffix(EXTENSION) else { continue };
        let text = text(&path).map_err(|source| Fault::ReadFile { path: path.clone(), source })?;
        let keyfile = Keyfile::parse_leniently(&text);
        match keyfile.section("connection") {
            Some(_) => keyfiles.push((stem.to_owned(), keyfile)),
            None => {
                let text = format!("{} has no [connection]: it is left out", path.display());
                log.say(Level::Warning, &text);
            }
        }
    }
    names.follow_all(|| {
        keyfiles.iter().filter_map(|(_, keyfile)| {
            let parent = keyfile.sections.iter().find_map(|section| section.get("parent"))?;
            Some((keyfile.get("connection", "interface-name")?, parent))
        })
    });
    let profiles = keyfiles.into_iter().map(|(stem, keyfile)| profile(&stem, keyfile, names));
    let profiles: Vec<Final> = profiles.collect();
    for (index, profile) in profiles.iter().enumerate() {
        if profiles[..index].iter().any(|known| known.file_name == profile.file_name) {
            let (path, file_name) = (directory.to_owned(), profile.file_name.clone());
            return Err(Fault::ProfileTwice { path, file_name });
        }
    }
    Ok(profiles)
}

fn profile(stem: &str, mut keyfile: Keyfile, names: &Names) -> Final {
    for section in &mut keyfile.sections {
        for (key, value) in &mut section.entries {
            if is_among(key, INTERFACES) {
                let here: Vec<&str> = value.split(';').map(|name| names.here(name)).collect();
                *value = here.join(";").into();
            }
        }
    }
    // Callers activate a profile by its file's name (`nmcli connection up`): both follow the interface.
    let id = names.here(keyfile.get("connection", "id").unwrap_or(stem)).to_owned();
    keyfile.set("connection", "id", &id);
    let stem = names.here(stem);
    let stem = if is_safe_profile_id(stem) { stem } else { "profile" };
    Final { file_name: format!("{stem}{EXTENSION}"), text: keyfile.render_as_read(), keyfile }
}

fn text(path: &Path) -> io::Result<String> {
    String::from_utf8(files::read(path)?).map_err(|_| io::ErrorKind::InvalidData.into())
}
