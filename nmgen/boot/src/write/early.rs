//! The profiles for the initramfs: the same ids and uuids, with bounded waiting.
//!
//! nmstate sets no timeout for DHCP and router advertisements, and `nm-online -s` in the initramfs
//! waits for every profile. So timeouts are set here; beside a static default route nothing waits for
//! dynamic addresses of its family.

use nmgen_core::profile::{Keyfile, Profile};
use nmgen_document::Node;

use crate::command_line::CommandLine;
use crate::write::way_out::{FAMILIES, has_default_route};

/// Seconds for a dynamic profile: nm-initrd-generator's value. The protocols of bonds and switches may take sixty.
const ATTEMPT: u32 = 90;
/// Seconds beside a static default route, where a link-local address cannot activate the connection.
const BESIDE: u32 = 10;

/// Limits from the command line and the kernel.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Bounds {
    /// Seconds for DHCP, from the kernel command line.
    timeout: Option<u32>,
    /// The initramfs mounts the root disk over the network.
    has_network_root: bool,
    /// The kernel has no IPv6.
    has_no_ipv6: bool,
    /// Interfaces for which the document disables IPv6; unlike one that does not mention it.
    without_ipv6: Vec<String>,
}

impl Bounds {
    /// The bounds for a document with this machine's names.
    pub(crate) fn new(line: &CommandLine, root: Option<&Node<'_>>) -> Self {
        let interfaces = root.and_then(|root| root.get("interfaces")).map(Node::items);
        let without = interfaces.unwrap_or_default().iter().filter(|node| {
            let enabled = node.at(&["ipv6", "enabled"]).and_then(Node::text);
            enabled.is_some_and(|word| {
                matches!(word.to_ascii_lowercase().as_str(), "false" | "no" | "off")
            })
        });
        Self {
            timeout: line.dhcp_timeout,
            has_network_root: line.has_network_root,
            has_no_ipv6: line.has_no_ipv6,
            without_ipv6: without
                .filter_map(|node| node.text_at("name"))
                .map(str::to_owned)
                .collect(),
        }
    }

    /// True when the interface may have a link-local address of IPv6.
    fn allow_link_local(&self, keyfile: &Keyfile) -> bool {
        let name = keyfile.get("connection", "interface-name").unwrap_or_default();
        !self.has_no_ipv6 && !self.without_ipv6.iter().any(|without| without == name)
    }
}

/// The profiles for the initramfs, in the same order.
pub(crate) fn profiles(profiles: &[Profile], bounds: &Bounds) -> Vec<Profile> {
    let timeout = bounds.timeout;
    let has_default = FAMILIES.map(|(family, default)| {
        profiles.iter().any(|profile| has_static_default(&profile.keyfile, family, default))
    });
    // The root disk may be on any card, and its lease is waited for.
    let wait = |keyfile: &Keyfile| {
        let mut families = FAMILIES.iter().zip(has_default);
        let is_beside = families.any(|((family, _), has)| has && is_automatic(keyfile, family));
        if is_beside && !bounds.has_network_root {
            Wait::Beside
        } else {
            Wait::For(timeout.unwrap_or(ATTEMPT))
        }
    };
    profiles.iter().map(|profile| early(profile, wait(&profile.keyfile), bounds)).collect()
}

/// How long the initramfs waits for dynamic addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wait {
    /// For this many seconds.
    For(u32),
    /// Not at all, beside a static default route of the same family.
    Beside,
}

/// True when IPv6's link-local address alone activates the connection, before DHCP answers.
pub(crate) fn stands_on_link_local(early: &Profile) -> bool {
    let keyfile = &early.keyfile;
    is_automatic(keyfile, "ipv4")
        && keyfile.get("ipv4", "may-fail") == Some("true")
        && keyfile.get("ipv6", "method") == Some("link-local")
}

fn early(profile: &Profile, wait: Wait, bounds: &Bounds) -> Profile {
    let mut early = profile.clone();
    let keyfile = &mut early.keyfile;
    // Wins over profiles of a generator or an image: nm-initrd-generator sets no higher priority.
    keyfile.set("connection", "autoconnect-priority", "100");
    if !is_dynamic(keyfile) {
        return early;
    }
    // A single attempt bounds the wait.
    keyfile.set("connection", "autoconnect-retries", "1");
    let seconds = match wait {
        Wait::For(seconds) => seconds,
        Wait::Beside if bounds.allow_link_local(keyfile) && can_go_on_alone(keyfile) => {
            // The link-local address is there at once (see `detection`) and activates the connection,
            // while DHCP goes on.
            keyfile.remove("ipv6");
            keyfile.set("ipv4", "may-fail", "true");
            keyfile.set("ipv6", "method", "link-local");
            keyfile.set("ipv6", "may-fail", "true");
            ATTEMPT
        }
        Wait::Beside => {
            for (family, _) in FAMILIES {
                if is_automatic(keyfile, family) {
                    keyfile.set(family, "may-fail", "true");
                }
            }
            BESIDE
        }
    };
    let seconds = bounds.timeout.unwrap_or(seconds).to_string();
    for (family, _) in FAMILIES {
        for key in ["dhcp-timeout", "ra-timeout"] {
            if keyfile.get(family, key).is_some() {
                keyfile.set(family, key, &seconds);
            }
        }
    }
    early
}

/// True for addresses from DHCP or router advertisements.
fn is_dynamic(keyfile: &Keyfile) -> bool {
    FAMILIES.iter().any(|(family, _)| is_automatic(keyfile, family))
}

fn is_automatic(keyfile: &Keyfile, family: &str) -> bool {
    matches!(keyfile.get(family, "method"), Some("auto" | "dhcp"))
}

/// True when the profile's IPv6 section holds nothing but automatic addressing.
fn can_go_on_alone(keyfile: &Keyfile) -> bool {
    let is_needed = |key: &str| {
        ["address", "dns", "route", "routing-rule"].iter().any(|needed| key.starts_with(needed))
            && !key.starts_with("route-metric")
            && !key.starts_with("route-table")
            && !key.starts_with("dns-priority")
    };
    let ipv6 = keyfile.section("ipv6");
    is_automatic(keyfile, "ipv4")
        && !ipv6.is_some_and(|ipv6| ipv6.entries.iter().any(|(key, _)| is_needed(key)))
}

/// True for a static address with a default route.
fn has_static_default(keyfile: &Keyfile, family: &str, default: &str) -> bool {
    keyfile.get(family, "method") == Some("manual") && has_default_route(keyfile, family, default)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_static_default_route_is_one_of_its_family_and_of_the_main_table() {
        let route = |family: &str, to: &str, options: &str| {
            format!("[{family}]\nmethod=manual\nroute0={to}\nroute0_options={options}\n")
        };
        let (ipv4, ipv6) =
            ("[ipv4]\nmethod=auto\ndhcp-timeout=9\n", "[ipv6]\nmethod=auto\nra-timeout=9\n");
        let both = format!("{ipv4}{ipv6}");
        let four = route("ipv4", "0.0.0.0/0,192.0.2.1", "table=254");
        let six = route("ipv6", "::/0,fe80::1", "table=254");
        let policy = route("ipv4", "0.0.0.0/0,192.0.2.1", "table=200");
        let unreachable = route("ipv4", "0.0.0.0/0", "table=254,type=unreachable");
        for (fixed, dynamic, is_waited_for) in [
            (&four, ipv4, false),
            (&four, &both, false),
            (&four, ipv6, true),
            (&six, ipv6, false),
            (&six, ipv4, true),
            (&policy, &both, true),
            (&unreachable, &both, true),
        ] {
            let profile = |id: &str, text: &str| Profile {
                id: id.to_owned(),
                keyfile: Keyfile::parse_leniently(text),
            };
            let document = [profile("eno1", dynamic), profile("eno2", fixed)];
            let found = profiles(&document, &Bounds::default());
            let keyfile = &found[0].keyfile;
            let is_short =
                stands_on_link_local(&found[0]) || keyfile.get("ipv6", "ra-timeout") == Some("10");
            assert_eq!(is_short, !is_waited_for, "{fixed} {dynamic}");
        }
    }

    #[test]
    fn a_link_local_address_activates_only_beside_optional_dhcp() {
        for (ipv4, may_fail, ipv6, expected) in [
            ("auto", "true", "link-local", true),
            ("manual", "true", "link-local", false),
            ("auto", "false", "link-local", false),
            ("auto", "true", "auto", false),
            ("manual", "false", "auto", false),
        ] {
            let mut keyfile = Keyfile::default();
            keyfile.set("ipv4", "method", ipv4);
            keyfile.set("ipv4", "may-fail", may_fail);
            keyfile.set("ipv6", "method", ipv6);
            let profile = Profile { id: "eno1".to_owned(), keyfile };
            let told = stands_on_link_local(&profile);
            assert_eq!(told, expected, "{ipv4} {may_fail} {ipv6}");
        }
    }
}
