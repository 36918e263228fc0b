//! Ports of Open vSwitch's datapath in the kernel, over generic netlink (linux/openvswitch.h), which
//! only this file uses. The port of a network card takes all of its frames, also while no
//! ovs-vswitchd runs.

use futures_util::StreamExt as _;
use genetlink::{GenetlinkError, GenetlinkHandle};
use netlink_packet_generic::{GenlFamily, GenlHeader, GenlMessage};
use rtnetlink::packet_core::{
    DecodeError, DefaultNla, Emitable, NLM_F_ACK, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage,
    NetlinkPayload, ParseableParametrized,
};
use thiserror::Error;

/// The link of the kernel's datapath, and the controller of its ports.
pub(crate) const LINK: &str = "ovs-system";

/// A failed operation of the datapath.
#[derive(Debug, Error)]
pub(crate) enum DatapathError {
    #[error("cannot open a generic netlink socket")]
    Open { source: std::io::Error },
    #[error("cannot take {port} from the kernel's datapath")]
    Remove { port: String, source: GenetlinkError },
}

/// Removes a port, and leaves its link.
pub(crate) async fn remove_port(port: &str) -> Result<(), DatapathError> {
    let (connection, handle, _) =
        genetlink::new_connection().map_err(|source| DatapathError::Open { source })?;
    tokio::spawn(connection);
    let removed = request(handle, RemovePort(port.to_owned())).await;
    removed.map_err(|source| DatapathError::Remove { port: port.to_owned(), source })
}

async fn request(mut handle: GenetlinkHandle, request: RemovePort) -> Result<(), GenetlinkError> {
    let mut header = NetlinkHeader::default();
    header.flags = NLM_F_REQUEST | NLM_F_ACK;
    let payload = NetlinkPayload::from(GenlMessage::from_payload(request));
    let mut answers = handle.request(NetlinkMessage::new(header, payload)).await?;
    // netlink-proto keeps an acknowledgement, and passes an error on.
    while let Some(answer) = answers.next().await {
        if let NetlinkPayload::Error(error) = answer?.payload {
            return Err(error.into());
        }
    }
    Ok(())
}

/// `OVS_VPORT_CMD_DEL` with the name of a port.
#[derive(Clone, Debug)]
struct RemovePort(String);

/// `OVS_VPORT_CMD_DEL`.
const REMOVE: u8 = 2;
/// `OVS_VPORT_VERSION`.
const VERSION: u8 = 1;
/// `OVS_VPORT_ATTR_NAME`.
const NAME: u16 = 3;
/// `struct ovs_header`: the index of a datapath, 0 for any.
const HEADER: [u8; 4] = [0; 4];

impl RemovePort {
    /// The kernel's strings end with a zero byte.
    fn name(&self) -> DefaultNla {
        DefaultNla::new(NAME, [self.0.as_bytes(), &[0]].concat())
    }
}

impl GenlFamily for RemovePort {
    fn family_name() -> &'static str {
        "ovs_vport"
    }

    fn command(&self) -> u8 {
        REMOVE
    }

    fn version(&self) -> u8 {
        VERSION
    }
}

impl Emitable for RemovePort {
    fn buffer_len(&self) -> usize {
        HEADER.len() + self.name().buffer_len()
    }

    fn emit(&self, buffer: &mut [u8]) {
        let (header, name) = buffer.split_at_mut(HEADER.len());
        header.copy_from_slice(&HEADER);
        self.name().emit(name);
    }
}

impl ParseableParametrized<[u8], GenlHeader> for RemovePort {
    /// The kernel answers with an acknowledgement alone.
    fn parse_with_param(_: &[u8], _: GenlHeader) -> Result<Self, DecodeError> {
        Err("an answer of the datapath that nobody asked for".into())
    }
}

#[cfg(test)]
mod tests {
    use super::{Emitable as _, RemovePort};

    #[test]
    fn the_request_has_a_header_and_a_padded_name() {
        let request = RemovePort("eno1".to_owned());
        let mut bytes = vec![0xff; request.buffer_len()];
        request.emit(&mut bytes);
        let [length, kind] = [9_u16, 3].map(u16::to_ne_bytes);
        let expected = [&[0; 4][..], &length, &kind, b"eno1\0", &[0; 3]].concat();
        assert_eq!(bytes, expected);
    }
}
