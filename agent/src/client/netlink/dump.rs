//! The kernel's messages from bytes, read as a connection reads them.

use rtnetlink::{
    packet_core::{NLM_F_REQUEST, NetlinkBuffer, NetlinkMessage, NetlinkPayload},
    packet_route::RouteNetlinkMessage,
};

use super::{KeptAddress, address, links::links, routes::default_routes};
use crate::model::{Link, Route};

pub(crate) struct Dump {
    pub(crate) links: Vec<Link>,
    pub(crate) addresses: Vec<KeptAddress>,
    pub(crate) routes: Vec<Route>,
}

impl Dump {
    /// Reads messages up to the first one without a valid length; one that cannot be read is left out (netlink-proto,
    /// `codecs.rs`).
    pub(crate) fn parse(mut bytes: &[u8]) -> Self {
        let (mut found, mut addresses, mut routes) = (Vec::new(), Vec::new(), Vec::new());
        while let Ok(buffer) = NetlinkBuffer::new_checked(bytes) {
            let (message, rest) = bytes.split_at(buffer.length() as usize);
            bytes = rest;
            let Ok(message) = NetlinkMessage::<RouteNetlinkMessage>::deserialize(message) else {
                continue;
            };
            let NetlinkPayload::InnerMessage(message) = message.payload else { continue };
            match message {
                RouteNetlinkMessage::NewLink(link) => found.push(link),
                RouteNetlinkMessage::NewAddress(address) => addresses.push(address),
                RouteNetlinkMessage::NewRoute(route) => routes.push(route),
                _ => {}
            }
        }
        let links = links(found);
        let addresses =
            addresses.into_iter().filter_map(|message| address(message, &links)).collect();
        let routes = routes.iter().flat_map(|route| default_routes(route, &links)).collect();
        Self { links, addresses, routes }
    }
}

impl KeptAddress {
    /// The length of the request that puts the address back.
    pub(crate) fn request_length(&self) -> usize {
        let mut request: NetlinkMessage<_> =
            RouteNetlinkMessage::NewAddress(self.message.clone()).into();
        request.header.flags = NLM_F_REQUEST;
        request.finalize();
        let mut bytes = vec![0; request.buffer_len()];
        request.serialize(&mut bytes);
        bytes.len()
    }
}
