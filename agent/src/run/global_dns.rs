//! Global DNS that an earlier document or a policy has left: NetworkManager keeps it in a file, and prefers it to the name servers
//! of every profile and lease.

use super::Run;
use crate::{durable, warn::OrWarn as _};

/// Clears the property of NetworkManager's, and the file with it.
const CLEAR: &str = "`busctl set-property org.freedesktop.NetworkManager /org/freedesktop/NetworkManager \
                     org.freedesktop.NetworkManager GlobalDnsConfiguration 'a{sv}' 0` clears it";

/// Warns of name servers that hide those of this network, which names none itself.
pub(super) fn warn(run: &Run<'_>) {
    let text = durable::read(&run.paths.network_manager_intern()).or_warn().flatten();
    let text = text.unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let kept = servers(&text).join(", ");
    if !kept.is_empty() {
        run.warn(&format!(
            "NetworkManager's global DNS of an earlier configuration ({kept}) replaces the name \
             servers of every profile; {CLEAR}"
        ));
    }
}

/// The name servers of the sections of domains.
fn servers(text: &str) -> Vec<&str> {
    let mut is_of_a_domain = false;
    let mut found = Vec::new();
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            is_of_a_domain = line.contains("global-dns-domain-");
        } else if let Some((key, value)) = line.split_once('=')
            && is_of_a_domain
            && key.trim() == "servers"
        {
            found
                .extend(value.split([',', ';']).map(str::trim).filter(|server| !server.is_empty()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::servers;

    #[test]
    fn the_servers_of_every_domain_count_and_no_other_key() {
        let text = "# written by NetworkManager\n[.intern.global-dns]\nsearches=example.org\n\n\
                    [.intern.global-dns-domain-*]\nservers=192.0.2.53, 2001:db8::53\noptions=\n\
                    [device]\nservers=192.0.2.1\n";
        assert_eq!(servers(text), ["192.0.2.53", "2001:db8::53"]);
        assert!(servers("").is_empty());
        assert!(servers("[.intern.global-dns-domain-*]\nservers=\n").is_empty());
    }
}
