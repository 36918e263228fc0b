//! LLDP of a switch: IEEE 802.1AB, as far as a neighbour is told from another one.

/// The address of the nearest bridge, the switch's own, and the protocol.
const HEADER: [u8; 14] = [0x01, 0x80, 0xc2, 0, 0, 0x0e, 0x52, 0x54, 0, 0, 0xff, 0x01, 0x88, 0xcc];
/// The shortest frame, without its checksum.
const SHORTEST: usize = 60;

/// A switch's port, as it describes itself.
#[derive(Debug, Clone, Copy)]
pub struct Lldp<'t> {
    /// The switch's name.
    pub system: &'t str,
    /// The port's name.
    pub port: &'t str,
    /// The time that it is remembered, in seconds; 0: it goes.
    pub seconds: u16,
}

impl Lldp<'_> {
    /// The frame.
    pub(crate) fn frame(&self) -> Vec<u8> {
        let mut frame = HEADER.to_vec();
        // Subtype 4: the identity is a MAC address. Subtype 5: it is the name of an interface.
        let mut part = |kind: u8, subtype: Option<u8>, value: &[u8]| {
            let length = u8::try_from(value.len() + usize::from(subtype.is_some()));
            // Seven bits of kind, nine of length: the texts of a case are shorter than 256 bytes.
            frame.extend([kind << 1, length.unwrap_or(u8::MAX)]);
            frame.extend(subtype.iter().chain(value));
        };
        part(1, Some(4), &HEADER[6..12]);
        part(2, Some(5), self.port.as_bytes());
        part(3, None, &self.seconds.to_be_bytes());
        part(5, None, self.system.as_bytes());
        part(0, None, &[]);
        frame.resize(frame.len().max(SHORTEST), 0);
        frame
    }
}
