//! Filters in the kernel (BPF): a raw socket hears nothing but what may answer its question, however much there is on the link.

use std::{io, os::fd::AsFd};

use nix::libc;
use socket2::{SockFilter, SockRef};

/// Where a value stands in a packet; below zero in what the kernel knows of it (`SKF_AD_OFF`, `SKF_NET_OFF`).
#[derive(Clone, Copy, Debug)]
pub(crate) enum PacketField {
    Byte(i32),
    Half(i32),
    Word(i32),
}

/// A value, some of its bits, and what they have to be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Condition {
    place: PacketField,
    mask: u32,
    value: u32,
}

impl Condition {
    /// The whole value.
    pub(crate) const fn is(place: PacketField, value: u32) -> Self {
        Self { place, mask: u32::MAX, value }
    }

    /// None of these bits.
    pub(crate) const fn has_none(place: PacketField, mask: u32) -> Self {
        Self { place, mask, value: 0 }
    }
}

/// Lets a socket hear packets alone that fulfil all conditions. What it heard before stays in its queue.
pub(crate) fn attach(socket: &impl AsFd, conditions: &[Condition]) -> io::Result<()> {
    SockRef::from(socket).attach_filter(&program(conditions))
}

fn program(conditions: &[Condition]) -> Vec<SockFilter> {
    let code = |parts: &[u32]| parts.iter().fold(0, |code, part| code | *part as u16);
    let step = |parts: &[u32], k| SockFilter::new(code(parts), 0, 0, k);
    let mut program = Vec::with_capacity(conditions.len() * 3 + 2);
    for (place, Condition { place: at, mask, value }) in conditions.iter().enumerate() {
        let (size, offset) = match at {
            PacketField::Byte(offset) => (libc::BPF_B, offset),
            PacketField::Half(offset) => (libc::BPF_H, offset),
            PacketField::Word(offset) => (libc::BPF_W, offset),
        };
        program.push(step(&[libc::BPF_LD, size, libc::BPF_ABS], offset.cast_unsigned()));
        program.push(step(&[libc::BPF_ALU, libc::BPF_AND, libc::BPF_K], *mask));
        // Behind the conditions that follow, and the step that takes the packet.
        let refused = (conditions.len() - place - 1) * 3 + 1;
        let jump = code(&[libc::BPF_JMP, libc::BPF_JEQ, libc::BPF_K]);
        program.push(SockFilter::new(jump, 0, refused as u8, *value));
    }
    program.push(step(&[libc::BPF_RET, libc::BPF_K], u32::MAX));
    program.push(step(&[libc::BPF_RET, libc::BPF_K], 0));
    program
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixDatagram;

    use super::*;

    #[test]
    fn a_socket_hears_what_fulfils_all_conditions() -> io::Result<()> {
        let (here, there) = UnixDatagram::pair()?;
        here.set_nonblocking(true)?;
        let conditions = [
            Condition::is(PacketField::Byte(0), 7),
            Condition::is(PacketField::Half(1), 0x0806),
            Condition::has_none(PacketField::Word(3), 0x0000_0fff),
        ];
        attach(&here, &conditions)?;
        for (packet, is_heard) in [
            (&[7, 8, 6, 1, 2, 0xf0, 0][..], true),
            (&[7, 8, 6, 1, 2, 0xf0, 0, 9, 9], true),
            (&[6, 8, 6, 1, 2, 0xf0, 0], false),
            (&[7, 8, 0, 1, 2, 0xf0, 0], false),
            (&[7, 8, 6, 1, 2, 0xf1, 0], false),
            // Too short to say.
            (&[7, 8, 6, 1, 2, 0xf0], false),
            (&[], false),
        ] {
            there.send(packet)?;
            let mut buffer = [0; 16];
            let heard = here.recv(&mut buffer);
            assert_eq!(
                heard.is_ok_and(|length| buffer[..length] == *packet),
                is_heard,
                "{packet:?}"
            );
        }
        Ok(())
    }
}
