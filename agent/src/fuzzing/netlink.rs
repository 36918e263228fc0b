//! A dump of rtnetlink's messages: links, addresses and routes.

use crate::client::netlink::Dump;

pub(super) fn run(input: &[u8]) {
    let dump = Dump::parse(input);
    let is_link = |name: &str| dump.links.iter().any(|link| link.name == name);
    for link in &dump.links {
        assert!(link.controller.as_deref().is_none_or(is_link), "{link:?}");
    }
    for route in &dump.routes {
        assert!(is_link(&route.link), "{route:?}");
    }
    for address in &dump.addresses {
        assert!(is_link(&address.address.on.link), "{address:?}");
        // The agent may have to put it back.
        assert!(address.request_length() > 0, "{address:?}");
    }
}
