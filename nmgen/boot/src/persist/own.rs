//! The running system's own profiles, as far as they decide whether it gets nmgen's: keyfiles in `/etc` and
//! in the image, and ifcfg files.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use nmgen_core::profile::Keyfile;

use crate::fault::Fault;
use crate::files;
use crate::persist::sysroot::Sysroot;
use crate::root::ETC_PROFILES;
use crate::write::others::{Other, files};
use crate::write::profiles::listed;
use crate::write::way_out::FAMILIES;

const IMAGE_PROFILES: &str = "/usr/lib/NetworkManager/system-connections";
pub(crate) const IFCFG: &str = "/etc/sysconfig/network-scripts";
/// Keys of an ifcfg file for the gateway and for a default route, and the start of the name of its file of routes, by family.
const IFCFG_FAMILIES: [(&str, &str, &str); 2] =
    [("GATEWAY", "DEFROUTE", "route-"), ("IPV6_DEFAULTGW", "IPV6_DEFROUTE", "route6-")];
/// Destinations in a file of routes that are everywhere.
const EVERYWHERE: [&str; 4] = ["default", "0.0.0.0/0", "0/0", "::/0"];
/// Ends of names that NetworkManager passes over (nms-ifcfg-rh-utils.c).
const IFCFG_IGNORED: [&str; 6] = [".bak", "~", ".orig", ".rej", ".rpmnew", ".rpmsave"];

/// Its profiles, those of NetworkManager's directory first.
///
/// # Errors
/// A directory cannot be listed, or a link leads out of the root.
pub(crate) fn list(sysroot: &Sysroot) -> Result<Vec<Other>, Fault> {
    let mut found = listed(sysroot.directory(ETC_PROFILES)?)?;
    found.extend(listed(sysroot.directory(IMAGE_PROFILES)?)?);
    let path = sysroot.directory(IFCFG)?;
    let paths = files(&path).map_err(|source| Fault::ReadProfiles { path, source })?;
    found.extend(paths.into_iter().filter_map(ifcfg));
    Ok(found)
}

/// An ifcfg file as a keyfile of the keys that decide.
fn ifcfg(path: PathBuf) -> Option<Other> {
    let name = path.file_name()?.to_str()?.strip_prefix("ifcfg-")?.to_owned();
    if name == "lo" || IFCFG_IGNORED.iter().any(|end| name.ends_with(end)) {
        return None;
    }
    // An unreadable file is a profile named after its interface.
    let bytes = files::read(&path).unwrap_or_default();
    let read = |path: PathBuf| files::read(&path).unwrap_or_default();
    // A gateway of all interfaces, and whether they have IPv6. The file's own values are the last ones.
    let mut all =
        path.parent().map(|parent| read(parent.with_file_name("network"))).unwrap_or_default();
    all.push(b'\n');
    all.extend_from_slice(&bytes);
    let text = String::from_utf8_lossy(&all);
    let value = |key: &str| {
        let assigned = |line: &str| {
            let rest = line.trim().strip_prefix(key)?;
            // GATEWAY0=, too.
            let value = rest.trim_start_matches(|c: char| c.is_ascii_digit()).strip_prefix('=')?;
            let word = value.split_whitespace().next().unwrap_or_default();
            Some(word.trim_matches(['"', '\'']).to_owned())
        };
        text.lines().filter_map(assigned).rfind(|value| !value.is_empty())
    };
    // yes, true, y, t, 1 and no, false, n, f, 0 (svParseBoolean).
    let first = |key: &str| value(key).and_then(|value| value.bytes().next());
    let is_on = |key: &str| matches!(first(key), Some(b'y' | b'Y' | b't' | b'T' | b'1'));
    let is_off = |key: &str| matches!(first(key), Some(b'n' | b'N' | b'f' | b'F' | b'0'));
    let (device, mac) = (value("DEVICE"), value("HWADDR"));
    let mut keyfile = Keyfile::default();
    if let Some(device) = device.or_else(|| mac.is_none().then(|| name.clone())) {
        keyfile.set("connection", "interface-name", &device);
    }
    for (key, value) in [("uuid", value("UUID")), ("type", value("TYPE"))] {
        let value = value.unwrap_or_default().to_ascii_lowercase();
        keyfile.set("connection", key, &value);
    }
    keyfile.set("ethernet", "mac-address", &mac.unwrap_or_default());
    if bytes.is_empty() {
        return Some(Other { path, keyfile });
    }
    if let Some(controller) = ["MASTER", "BRIDGE", "TEAM_MASTER"].into_iter().find_map(value) {
        keyfile.set("connection", "controller", &controller);
    }
    if is_off("ONBOOT") {
        keyfile.set("connection", "autoconnect", "false");
    }
    let protocol = value("BOOTPROTO").unwrap_or_default();
    let has_dhcp = ["dhcp", "bootp"].iter().any(|name| protocol.eq_ignore_ascii_case(name));
    let methods = [
        if has_dhcp { "auto" } else { "manual" },
        if !is_on("IPV6INIT") {
            "ignore"
        } else if is_off("IPV6_AUTOCONF") && !is_on("DHCPV6C") {
            "manual"
        } else {
            "auto"
        },
    ];
    for (((family, default), (gateway, is_default, routes)), method) in
        FAMILIES.iter().zip(IFCFG_FAMILIES).zip(methods)
    {
        keyfile.set(family, "method", method);
        keyfile.set(family, "gateway", &value(gateway).unwrap_or_default());
        // GATEWAYDEV= has the last word of it.
        if is_off(is_default) && value("GATEWAYDEV").is_none() {
            keyfile.set(family, "never-default", "true");
        }
        let bytes = read(path.with_file_name(format!("{routes}{name}")));
        let words = String::from_utf8_lossy(&bytes);
        let is_everywhere = |word: &str| EVERYWHERE.contains(&word) || word.ends_with("=0.0.0.0");
        if words.split_whitespace().any(is_everywhere) {
            keyfile.set(family, "route", default);
        }
    }
    Some(Other { path, keyfile })
}

/// True for a file that others than root may read: in `/etc`, NetworkManager ignores it.
pub(crate) fn is_readable_for_others(own: &Other) -> bool {
    let mode = fs::metadata(&own.path).map(|metadata| metadata.permissions().mode());
    mode.is_ok_and(|mode| mode & 0o077 != 0)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::write::way_out::may_lead_out;

    #[test]
    fn an_ifcfg_file_leads_out_as_networkmanager_reads_it() {
        let address = "BOOTPROTO=none\nIPADDR=192.0.2.7\nPREFIX=24\n";
        let with = |more: &str| format!("{address}{more}\n");
        for (text, beside, expected) in [
            ("BOOTPROTO=dhcp\nONBOOT=yes\n".to_owned(), None, true),
            ("BOOTPROTO=\"dhcp\" # by the switch\n".to_owned(), None, true),
            ("BOOTPROTO=dhcp\nDEFROUTE=no\n".to_owned(), None, false),
            ("BOOTPROTO=dhcp\nMASTER=bond1\nSLAVE=yes\n".to_owned(), None, false),
            ("BOOTPROTO=dhcp\nBRIDGE=br0\n".to_owned(), None, false),
            (String::new(), None, true),
            ("ONBOOT=yes\n".to_owned(), None, false),
            (with(""), None, false),
            (with("GATEWAY=192.0.2.1"), None, true),
            (with("GATEWAY0=192.0.2.1"), None, true),
            (with("GATEWAY=192.0.2.1\nDEFROUTE=no"), None, false),
            (with("DEFROUTE=no"), Some(("network", "GATEWAY=192.0.2.1\nGATEWAYDEV=eno2\n")), true),
            (with(""), Some(("network", "GATEWAY=192.0.2.1\n")), true),
            (with(""), Some(("network-scripts/route-eno2", "default via 192.0.2.1\n")), true),
            (with(""), Some(("network-scripts/route-eno2", "ADDRESS0=0.0.0.0\n")), true),
            (with(""), Some(("network-scripts/route-eno2", "10.0.0.0/8 via 192.0.2.1\n")), false),
            (with(""), Some(("network-scripts/route6-eno2", "::/0 via fe80::1\n")), false),
            (with("IPV6INIT=no"), None, false),
            (with("IPV6INIT=yes"), None, true),
            (with("IPV6INIT=yes\nIPV6_DEFROUTE=no"), None, false),
            (with("IPV6INIT=yes\nIPV6_AUTOCONF=no"), None, false),
            (with("IPV6INIT=yes\nIPV6_AUTOCONF=no\nDHCPV6C=yes"), None, true),
            (with("IPV6INIT=yes\nIPV6_AUTOCONF=no\nIPV6_DEFAULTGW=fe80::1"), None, true),
        ] {
            let root = tempfile::tempdir().unwrap_or_else(|error| unreachable!("{error}"));
            let scripts = root.path().join("network-scripts");
            let path = scripts.join("ifcfg-eno2");
            let write = |path: &Path, text: &str| {
                let written = fs::create_dir_all(&scripts).and_then(|()| fs::write(path, text));
                written.unwrap_or_else(|error| unreachable!("{error}"));
            };
            write(&path, &text);
            if let Some((name, text)) = beside {
                write(&root.path().join(name), text);
            }
            let found = ifcfg(path).unwrap_or_else(|| unreachable!("{text}"));
            assert_eq!(may_lead_out(&found.keyfile), expected, "{text} {beside:?}");
        }
    }
}
