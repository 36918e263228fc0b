//! Whether a profile may lead out of its own network.

use nmgen_core::profile::Keyfile;

/// The section of each family, and its default route's destination.
pub(crate) const FAMILIES: [(&str, &str); 2] = [("ipv4", "0.0.0.0/0"), ("ipv6", "::/0")];

/// True where the profile has a default route, or may get one by DHCP or router advertisements. A family without a method is
/// automatic; a port has no addresses of its own (nm-settings-nmcli(5)). What DHCP brings goes to the section's table.
pub(crate) fn may_lead_out(keyfile: &Keyfile) -> bool {
    let is_port = ["controller", "master"]
        .iter()
        .any(|key| keyfile.get("connection", key).is_some_and(|controller| !controller.is_empty()));
    !is_port
        && FAMILIES.iter().any(|(family, default)| {
            keyfile.get(family, "never-default") != Some("true")
                && match keyfile.get(family, "method").unwrap_or("auto") {
                    "auto" | "dhcp" if is_main(keyfile.get(family, "route-table")) => true,
                    "auto" | "dhcp" | "manual" => has_default_route(keyfile, family, default),
                    _ => false,
                }
        })
}

/// True for a gateway, beside an address or in a key of its own, or for a route to everywhere, in the main table.
pub(crate) fn has_default_route(keyfile: &Keyfile, family: &str, default: &str) -> bool {
    let Some(section) = keyfile.section(family) else { return false };
    let table = section.get("route-table");
    section.entries.iter().any(|(key, value)| {
        let mut fields = value.split([',', ';']).map(str::trim);
        let (first, second) = (fields.next(), fields.next());
        match key.trim_end_matches(|letter: char| letter.is_ascii_digit()) {
            "gateway" => is_main(table) && first.is_some_and(|gateway| !gateway.is_empty()),
            "address" | "addresses" => {
                is_main(table) && second.is_some_and(|gateway| !gateway.is_empty())
            }
            "route" | "routes" => {
                let options = section.get(&format!("{key}_options"));
                first == Some(default) && leads_out(options.unwrap_or_default(), table)
            }
            _ => false,
        }
    })
}

/// False for a route of policy routing or of a VRF, which other packets do not take, and for one that discards packets.
fn leads_out(options: &str, table: Option<&str>) -> bool {
    let value = |name: &str| {
        let mut options = options.split(',');
        options.find_map(|option| option.trim().strip_prefix(name)?.strip_prefix('='))
    };
    is_main(value("table").filter(|own| *own != "0").or(table))
        && value("type").is_none_or(|kind| kind == "unicast")
}

/// True for the main table of routes, which is the one of a section without any.
fn is_main(table: Option<&str>) -> bool {
    matches!(table, None | Some("" | "0" | "254" | "main"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_may_lead_out_by_a_route_or_by_what_it_gets() {
        let ipv4 = |text: &str| format!("[ipv4]\n{text}\n[ipv6]\nmethod=disabled\n");
        for (text, expected) in [
            (String::new(), true),
            ("[connection]\ncontroller=bond0\n".to_owned(), false),
            ("[connection]\nmaster=bond0\n".to_owned(), false),
            (ipv4("method=disabled"), false),
            (ipv4("method=link-local"), false),
            (ipv4("method=auto"), true),
            (ipv4("method=auto\nnever-default=true"), false),
            (ipv4("method=manual\naddress1=192.0.2.7/24"), false),
            (ipv4("method=manual\naddress1=192.0.2.7/24,192.0.2.1"), true),
            (ipv4("method=manual\naddress1=192.0.2.7/24\ngateway=192.0.2.1"), true),
            (ipv4("method=manual\naddress1=192.0.2.7/24\nroute1=198.51.100.0/24,192.0.2.1"), false),
            (ipv4("method=manual\naddress1=192.0.2.7/24\nroute1=0.0.0.0/0,192.0.2.1"), true),
            (ipv4("method=manual\naddress1=192.0.2.7/24\nroute1_options=table=254"), false),
            (ipv4("method=manual\nroute0=0.0.0.0/0,192.0.2.1\nroute0_options=table=254"), true),
            (ipv4("method=manual\nroute0=0.0.0.0/0,192.0.2.1\nroute0_options=table=200"), false),
            (
                ipv4(
                    "method=manual\nroute0=0.0.0.0/0,192.0.2.1\nroute0_options=table=200\n\
                     route1=0.0.0.0/0,192.0.2.1\nroute1_options=table=0,type=unicast",
                ),
                true,
            ),
            (
                ipv4("method=manual\nroute0=0.0.0.0/0\nroute0_options=table=254,type=unreachable"),
                false,
            ),
            (ipv4("method=manual\nroute-table=200\naddress1=192.0.2.7/24,192.0.2.1"), false),
            (ipv4("method=manual\nroute-table=200\nroute1=0.0.0.0/0,192.0.2.1"), false),
            (
                ipv4("method=auto\nroute-table=200\nroute1=0.0.0.0/0\nroute1_options=table=254"),
                true,
            ),
            (ipv4("method=auto\nroute-table=200"), false),
            (ipv4("method=auto\nroute-table=254"), true),
            (
                "[ipv4]\nmethod=disabled\n[ipv6]\nmethod=manual\nroute1=::/0,fe80::1\n".to_owned(),
                true,
            ),
            ("[ipv4]\nmethod=disabled\n".to_owned(), true),
        ] {
            assert_eq!(may_lead_out(&Keyfile::parse_leniently(&text)), expected, "{text}");
        }
    }
}
