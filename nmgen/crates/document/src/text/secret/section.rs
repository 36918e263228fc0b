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
                && strsim::osa_distance(name, key) <= 1
    })
}
