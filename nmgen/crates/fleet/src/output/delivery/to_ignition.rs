//! Ignition configs: <https://coreos.github.io/ignition/configuration-v3_2/>.

use nmgen_document::error::Error;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use super::host_name::per_host;
use crate::convert::Converted;
use crate::output::options::IgnitionVersion;
use crate::output::rendered::Output;

/// Path and mode of keyfiles, as the image customization controller writes them.
const KEYFILES: &str = "/etc/NetworkManager/system-connections";
pub(super) const SECRET: u32 = 0o600;
pub(super) const PUBLIC: u32 = 0o644;

/// The version as Ignition configs contain it.
pub(super) fn version(version: IgnitionVersion) -> &'static str {
    match version {
        IgnitionVersion::V3_2 => "3.2.0",
        IgnitionVersion::V3_3 => "3.3.0",
        IgnitionVersion::V3_4 => "3.4.0",
    }
}

/// One config, or `<host>.ign` for each of several hosts.
pub(crate) fn render(hosts: &[Converted], specification: IgnitionVersion) -> Result<Output, Error> {
    per_host(hosts, "ign", |host| {
        let config = json!({
            "ignition": { "version": version(specification) },
            "storage": { "files": files(host) },
        });
        let mut text =
            serde_json::to_vec_pretty(&config).map_err(|source| Error::RenderJson { source })?;
        text.push(b'\n');
        Ok(text)
    })
}

fn files(host: &Converted) -> Vec<Value> {
    let profiles = host.configuration.profiles.iter().map(|profile| {
        let path = format!("{KEYFILES}/{}", profile.file_name());
        file(&path, SECRET, &data_url(&profile.keyfile.render()))
    });
    let beside = host.configuration.files.iter();
    let beside =
        beside.map(|other| file(&format!("/{}", other.path), PUBLIC, &data_url(&other.content)));
    profiles.chain(beside).collect()
}

fn file(path: &str, mode: u32, source: &str) -> Value {
    json!({ "path": path, "mode": mode, "overwrite": true, "contents": { "source": source } })
}

/// Unreserved characters of RFC 3986 stay, as in the image customization controller's URLs.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// A `data:` URL (RFC 2397).
fn data_url(text: &str) -> String {
    format!("data:text/plain,{}", utf8_percent_encode(text, ESCAPED))
}
