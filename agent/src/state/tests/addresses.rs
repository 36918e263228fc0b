//! Interfaces that wait for addresses of the network.

use super::{Result, state};
use crate::model::Dynamic;

const V4: &str = "ipv4: {enabled: true, address: [{ip: 192.0.2.10, prefix-length: 24}]}";
const V6: &str = "ipv6: {enabled: true, address: [{ip: '2001:db8::10', prefix-length: 64}]}";
const LINK_LOCAL: &str = "ipv6: {enabled: true, address: [{ip: 'fe80::10', prefix-length: 64}]}";

#[test]
fn one_address_of_a_dynamic_family_is_enough() -> Result {
    let both = format!("{V4}, {V6}");
    let (v4, v6, dual) = ((true, false), (false, true), (true, true));
    for (addresses, families, waits) in [
        ("mtu: 1500", v4, true),
        ("mtu: 1500", v6, true),
        ("mtu: 1500", dual, true),
        (V4, v4, false),
        (V4, v6, true),
        (V4, dual, false),
        (V6, v4, true),
        (V6, v6, false),
        (V6, dual, false),
        (LINK_LOCAL, v6, true),
        (LINK_LOCAL, dual, true),
        (&both, v4, false),
        (&both, v6, false),
        (&both, dual, false),
    ] {
        let text = format!("interfaces: [{{name: eno1, type: ethernet, state: up, {addresses}}}]");
        let (v4, v6) = families;
        let dynamic = |link: &str| Dynamic { link: link.to_owned(), v4, v6, ..Dynamic::default() };
        let without = state(&text)?.without_address(&[dynamic("eno1")]);
        let expected: &[&str] = if waits { &["eno1"] } else { &[] };
        assert_eq!(without, expected, "{addresses} with {families:?}");
        // An interface that is not there yet waits too.
        assert_eq!(state(&text)?.without_address(&[dynamic("eno2")]), ["eno2"]);
    }
    Ok(())
}
