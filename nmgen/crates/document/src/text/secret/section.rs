//! Sections of an interface that have secrets. The value of a key that they do not have may be one, as of `pass` or `key`: somebody
//! took it from another tool.

/// A shorter name is none of a misspelt one.
const SHORTEST: usize = 6;

const SECTIONS: [&str; 3] = ["802.1x", "libreswan", "macsec"];

/// The fields that are no secrets; a test compares them with the crate's own. In one text: the ramdisk's program needs 40 bytes for
/// each item of a list.
const HARMLESS: &str = "authby base-iface ca-cert client-cert clientaddrfamily dpdaction dpddelay dpdtimeout \
    eap-methods encrypt esp hostaddrfamily identity ike ikelifetime ikev2 ipsec-interface \
    left leftcert leftid leftmodecfgclient leftprotoport leftrsasigkey leftsendcert \
    leftsubnet leftsubnets mka-ckn nm-auto-defaults offload phase2-auth port private-key \
    require-id-on-certificate right rightca rightcert rightid rightprotoport rightrsasigkey \
    rightsubnet rightsubnets salifetime send-sci type validation";

/// True for the name of such a section.
pub fn is_section(key: &str) -> bool {
    SECTIONS.contains(&key)
}

/// True for a key of such a section whose value is no secret, perhaps with a letter wrong.
pub fn is_harmless(key: &str) -> bool {
    HARMLESS.split(' ').any(|name| {
        name == key
            || name.len() >= SHORTEST
                && name.len().abs_diff(key.len()) <= 1
                && is_one_edit_away(name.as_bytes(), key.as_bytes())
    })
}

/// Returns whether one letter more, less or different, or two in the other order, make one text of the other. A table of distances
/// takes half of the time of a document with 50,000 such keys.
fn is_one_edit_away(one: &[u8], other: &[u8]) -> bool {
    let before = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let (one, other) = (&one[before..], &other[before..]);
    let after = one.iter().rev().zip(other.iter().rev()).take_while(|(a, b)| a == b).count();
    match (&one[..one.len() - after], &other[..other.len() - after]) {
        ([a, b], [c, d]) => (a, b) == (d, c),
        (one, other) => one.len() <= 1 && other.len() <= 1,
    }
}

#[cfg(test)]
mod tests {
    use super::is_one_edit_away;

    #[test]
    fn one_edit_is_a_distance_of_one() {
        let texts = [
            "encrypt", "encrypts", "encryp", "ecrypt", "encrytp", "necrypt", "encript", "encrpyt",
            "encrytpt", "crypten", "", "e", "aab", "aba", "abab", "baab", "baba",
        ];
        for one in texts {
            for other in texts {
                let is_near = strsim::osa_distance(one, other) <= 1;
                assert_eq!(
                    is_one_edit_away(one.as_bytes(), other.as_bytes()),
                    is_near,
                    "{one} {other}"
                );
            }
        }
    }
}
