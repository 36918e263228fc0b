//! PCI addresses, as nmstate reads them: `0000:18:00.0`, or `18:00.0`.

/// The key of a card's path in udev's entry, as far as the address.
const PATH: &str = "E:ID_PATH=pci-";

/// Domain, bus, slot, function.
pub(crate) type Address = [u32; 4];

/// `None` for what is no such address.
pub(crate) fn parse(text: &str) -> Option<Address> {
    let (text, function) = text.rsplit_once('.')?;
    let (text, slot) = text.rsplit_once(':')?;
    let (domain, bus) = text.rsplit_once(':').unwrap_or(("0", text));
    let number = |digits| u32::from_str_radix(digits, 16).ok();
    Some([number(domain)?, number(bus)?, number(slot)?, function.parse().ok()?])
}

/// The address in udev's entry of a device; none of what is behind it, such as a USB card.
pub(crate) fn of_entry(entry: &str) -> Option<Address> {
    entry.lines().find_map(|line| line.strip_prefix(PATH)).and_then(parse)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_nmstate_does() {
        for (text, expected) in [
            ("0000:18:00.0", Some([0, 0x18, 0, 0])),
            ("18:00.0", Some([0, 0x18, 0, 0])),
            ("10000:E1:1f.7", Some([0x10000, 0xe1, 0x1f, 7])),
            ("virtio0", None),
            ("1-1:1.0", None),
            ("0000:00:14.0-usb-0:1:1.0", None),
            ("", None),
        ] {
            assert_eq!(parse(text), expected, "{text}");
        }
        let entry = "I:1\nE:ID_PATH=pci-0000:00:03.0\nE:ID_PATH_TAG=pci-0000_00_03_0\n";
        assert_eq!(of_entry(entry), Some([0, 0, 3, 0]));
    }
}
