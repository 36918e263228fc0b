//! What configure-ovs.sh leaves on a node.

use crate::lab::Node;

/// Profiles as configure-ovs.sh leaves them; what it does not say is NetworkManager's default.
#[must_use]
pub fn configure_ovs(node: Node) -> Node {
    let profile = |id: &str, kind: &str, name: &str, rest: &str| {
        format!(
            "[connection]\nid={id}\nuuid={}\ntype={kind}\nautoconnect-priority=100\ninterface-name={name}\n{rest}",
            uuid(id)
        )
    };
    let port = |of: &str| format!("controller={}\nport-type=ovs-port\n", uuid(of));
    let on_bridge = format!("controller={}\nport-type=ovs-bridge\n", uuid("br-ex"));
    node.keyfile("br-ex", &profile("br-ex", "ovs-bridge", "br-ex", "\n[ovs-bridge]\ndatapath-type=netdev\n"))
        .keyfile("ovs-port-phys0", &profile("ovs-port-phys0", "ovs-port", "eno1", &on_bridge))
        .keyfile("ovs-port-br-ex", &profile("ovs-port-br-ex", "ovs-port", "br-ex", &on_bridge))
        .keyfile("ovs-if-phys0", &profile("ovs-if-phys0", "ethernet", "eno1", &port("ovs-port-phys0")))
        .keyfile(
            "ovs-if-br-ex",
            &profile(
                "ovs-if-br-ex",
                "ovs-interface",
                "br-ex",
                &(port("ovs-port-br-ex")
                    + "\n[ethernet]\ncloned-mac-address=52:54:00:00:00:01\n\n[ovs-interface]\ntype=internal\n\n\
                       [ipv4]\nmethod=manual\naddress1=192.0.2.10/24,192.0.2.1\ndns=192.0.2.1;\nroute-metric=48\n\n\
                       [ipv6]\nmethod=disabled\n"),
            ),
        )
}

/// Any five will do, as long as they are the same in every place.
fn uuid(id: &str) -> String {
    let number = id.bytes().fold(7_u64, |sum, byte| sum.wrapping_mul(31) + u64::from(byte));
    format!("0b6ba3d2-3ae1-4b37-8d5e-{:012x}", number & 0xffff_ffff_ffff)
}
