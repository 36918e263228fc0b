//! An interface whose packets may be larger than what carries them takes: a DHCP server, or a profile, says an MTU, and Open
//! vSwitch and a bridge drop what does not fit.

use std::fmt;

use super::{
    link::{Link, LinkRef},
    wants::Wants,
};

/// The interface with its MTU, and the smallest one below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Oversized {
    pub(crate) link: String,
    mtu: u32,
    below: String,
    smaller: u32,
}

impl Oversized {
    /// The interfaces of a document with addresses that are larger than what carries them.
    pub(crate) fn of(wants: &Wants, links: &[Link]) -> Vec<Self> {
        let uppers = wants.addressable.iter().filter_map(|link| match link {
            LinkRef::Name(name) => Some(name.clone()),
            LinkRef::Mac(_) | LinkRef::Pci(_) => None,
        });
        let pairs = uppers.flat_map(|upper| {
            let lower: Vec<String> = wants.carriers(&upper).map(str::to_owned).collect();
            lower.into_iter().map(move |lower| (upper.clone(), lower))
        });
        Self::among(links, &pairs.collect::<Vec<_>>())
    }

    /// Those among the kernel's links, of pairs of an interface and one below it.
    pub(crate) fn among(links: &[Link], pairs: &[(String, String)]) -> Vec<Self> {
        let mtu =
            |name: &str| links.iter().find(|link| link.is(&LinkRef::Name(name.to_owned())))?.mtu;
        let mut found: Vec<Self> = Vec::new();
        for (upper, lower) in pairs {
            let (Some(mtu), Some(smaller)) = (mtu(upper), mtu(lower)) else { continue };
            let is_told = found
                .iter()
                .any(|oversized| oversized.link == *upper && oversized.smaller <= smaller);
            if mtu > smaller && !is_told {
                found.retain(|oversized| oversized.link != *upper);
                let (link, below) = (upper.clone(), lower.clone());
                found.push(Self { link, mtu, below, smaller });
            }
        }
        found
    }

    /// What mends it.
    pub(crate) fn remedy(&self) -> String {
        let Self { link, mtu, below, smaller } = self;
        format!("give {link} `mtu: {smaller}` in the document, or {below} {mtu}")
    }
}

impl fmt::Display for Oversized {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { link, mtu, below, smaller } = self;
        write!(
            f,
            "{link} has an MTU of {mtu}, and {below} below it has {smaller}: larger packets are lost"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links(mtus: &[(&str, u32)]) -> Vec<Link> {
        let link = |(name, mtu): &(&str, u32)| {
            let (name, mtu) = ((*name).to_owned(), Some(*mtu));
            Link { name, mtu, ..Link::default() }
        };
        mtus.iter().map(link).collect()
    }

    #[test]
    fn an_interface_above_a_smaller_one_is_told_with_the_smallest() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let pair = |above: &str, below: &str| (above.to_owned(), below.to_owned());
        let wants = Wants {
            addressable: vec![LinkRef::Name("br-ex".to_owned())],
            below: vec![
                pair("br-ex", "bond0.100"),
                pair("bond0.100", "bond0"),
                pair("bond0", "eno1"),
                pair("bond0", "eno2"),
                pair("br-ex", "storage"),
            ],
            bridges: names(&["br-ex"]),
            ovs_interfaces: names(&["br-ex", "storage"]),
            ..Wants::default()
        };
        for (mtus, expected) in [
            ([1500; 5], None),
            ([9000, 9000, 9000, 9000, 9000], None),
            ([1400, 1500, 1500, 1500, 1500], None),
            (
                [9000, 1500, 1500, 1500, 1500],
                Some("br-ex has an MTU of 9000, and bond0.100 below it has 1500"),
            ),
            (
                [9000, 9000, 9000, 9000, 1400],
                Some("br-ex has an MTU of 9000, and eno2 below it has 1400"),
            ),
        ] {
            let names = ["br-ex", "bond0.100", "bond0", "eno1", "eno2"];
            let mut all: Vec<(&str, u32)> = names.into_iter().zip(mtus).collect();
            // A port of the bridge that carries nothing of it.
            all.push(("storage", 1280));
            let found: Vec<String> =
                Oversized::of(&wants, &links(&all)).iter().map(ToString::to_string).collect();
            match expected {
                None => assert_eq!(found, [""; 0]),
                Some(text) => assert!(found.len() == 1 && found[0].starts_with(text), "{found:?}"),
            }
        }
        // Before it is there.
        assert_eq!(Oversized::of(&wants, &links(&[("br-ex", 9000)])), []);
    }
}
