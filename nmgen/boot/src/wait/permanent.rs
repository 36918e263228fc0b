//! Permanent addresses of network devices: the hardware's, regardless of the current address. sysfs has
//! them for ports of bonds only; rtnetlink(7) has them for all since Linux 5.6.

use std::collections::BTreeMap;
use std::io;

use nmgen_document::mac::Mac;

use crate::rtnetlink::{ATTRIBUTE, DUMP, LINK, RTM_GETLINK, RTM_NEWLINK, ask, half, number};

const IFLA_PERM_ADDRESS: u16 = 54;

/// Permanent addresses by device index. Devices without one are left out.
///
/// # Errors
/// The kernel does not answer.
pub(crate) fn addresses() -> io::Result<BTreeMap<u32, Mac>> {
    let mut found = BTreeMap::new();
    ask(RTM_GETLINK, DUMP, &[0; LINK], |kind, message| collect(kind, message, &mut found))?;
    Ok(found)
}

fn collect(kind: u16, message: &[u8], found: &mut BTreeMap<u32, Mac>) {
    if kind == RTM_NEWLINK {
        let index = message.get(4..).and_then(number);
        found.extend(index.zip(message.get(LINK..).and_then(permanent)));
    }
}

/// The permanent address among the attributes.
fn permanent(mut attributes: &[u8]) -> Option<Mac> {
    loop {
        let (length, kind) = (usize::from(half(attributes, 0)?), half(attributes, 2)?);
        let value = attributes.get(ATTRIBUTE..length)?;
        if kind == IFLA_PERM_ADDRESS {
            return Mac::from_bytes(value).filter(|mac| !mac.is_zero());
        }
        attributes = attributes.get(length.next_multiple_of(4)..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtnetlink::{Answer, HEADER, read};

    const NLMSG_ERROR: u16 = 2;
    const NLMSG_DONE: u16 = 3;

    fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
        let length = (ATTRIBUTE + value.len()) as u16;
        let mut bytes = [length.to_ne_bytes(), kind.to_ne_bytes()].concat();
        bytes.extend_from_slice(value);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    fn message(kind: u16, index: u32, attributes: &[u8]) -> Vec<u8> {
        let length = (HEADER + LINK + attributes.len()) as u32;
        let mut bytes = length.to_ne_bytes().to_vec();
        bytes.extend([kind.to_ne_bytes(), [2, 0]].concat());
        bytes.extend([0; 12]);
        bytes.extend(index.to_ne_bytes());
        bytes.extend([0; 8]);
        bytes.extend_from_slice(attributes);
        bytes
    }

    #[test]
    fn an_address_is_found_by_its_device() {
        let own = [0x52, 0x54, 0, 0, 0, 1];
        let mac = Mac::parse("52:54:00:00:00:01");
        let card =
            [attribute(3, b"ens3\0"), attribute(1, &[2; 6]), attribute(IFLA_PERM_ADDRESS, &own)];
        let answer = [
            message(RTM_NEWLINK, 1, &attribute(3, b"lo\0")),
            message(RTM_NEWLINK, 7, &card.concat()),
            message(RTM_NEWLINK, 8, &attribute(IFLA_PERM_ADDRESS, &[0; 6])),
        ]
        .concat();
        let mut found = BTreeMap::new();
        let mut each = |kind, message: &[u8]| collect(kind, message, &mut found);
        assert_eq!(read(&answer, &mut each).ok(), Some(Answer::MoreToCome));
        assert_eq!(found.remove(&7), mac);
        assert!(mac.is_some() && found.is_empty(), "{found:?}");
        let done = message(NLMSG_DONE, 0, &[]);
        assert_eq!(read(&done, &mut |_, _: &[u8]| {}).ok(), Some(Answer::Complete));
    }

    #[test]
    fn an_answer_that_is_cut_off_is_an_error_and_no_panic() {
        let whole = message(RTM_NEWLINK, 7, &attribute(IFLA_PERM_ADDRESS, &[2; 6]));
        for length in 0..whole.len() {
            let mut found = BTreeMap::new();
            let answer = read(&whole[..length], &mut |kind, message: &[u8]| {
                collect(kind, message, &mut found);
            });
            assert!(answer.is_err() || length < 6, "{length}");
            assert!(found.is_empty(), "{length}");
        }
        let refused = message(NLMSG_ERROR, 0, &[]);
        let code = (-1_i32).to_ne_bytes();
        let refused = [&refused[..HEADER], &code, &refused[HEADER + 4..]].concat();
        let error = read(&refused, &mut |_, _: &[u8]| {}).map_err(|error| error.raw_os_error());
        assert_eq!(error, Err(Some(1)));
    }

    #[test]
    fn the_kernel_answers() {
        assert!(addresses().is_ok());
    }
}
