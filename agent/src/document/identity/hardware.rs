//! What the hardware says: permanent MAC addresses and DMI.

use crate::{
    client::netlink::{Netlink, NetlinkError},
    paths::Paths,
};

/// MAC addresses of physical NICs as `aa-bb-cc-dd-ee-ff`, sorted: the permanent address where
/// the kernel knows one, else the address in use. On a foreign root from its `/sys`.
pub(crate) async fn physical_macs(paths: &Paths) -> Vec<String> {
    let mut macs = match macs(paths).await {
        Ok(macs) => macs,
        Err(error) => {
            tracing::warn!(error = %error, "MAC addresses cannot be read; going on without");
            Vec::new()
        }
    };
    macs.sort_unstable();
    macs.dedup();
    macs
}

async fn macs(paths: &Paths) -> Result<Vec<String>, NetlinkError> {
    if !paths.is_system() {
        return Ok(macs_in_tree(paths));
    }
    let links = Netlink::connect()?.links().await?;
    Ok(links
        .into_iter()
        .filter(|l| l.physical)
        .filter_map(|l| l.permanent_mac.or(l.mac))
        .map(|mac| mac.replace(':', "-"))
        .collect())
}

fn macs_in_tree(paths: &Paths) -> Vec<String> {
    let Ok(listing) = std::fs::read_dir(paths.sys_net()) else { return Vec::new() };
    listing
        .flatten()
        .filter(|e| e.file_name() != "lo" && e.path().join("device").exists())
        .filter_map(|e| std::fs::read_to_string(e.path().join("address")).ok())
        .map(|mac| mac.trim().to_ascii_lowercase().replace(':', "-"))
        .collect()
}

/// Serial number and UUID, in this order, lower case, without what cannot be a file name.
/// Placeholders that vendors leave ("To be filled by O.E.M.") do not name a node.
pub(crate) fn dmi_ids(paths: &Paths) -> Vec<String> {
    ["product_serial", "product_uuid"]
        .iter()
        .filter_map(|attribute| std::fs::read_to_string(paths.dmi(attribute)).ok())
        .map(|text| text.trim().to_owned())
        .filter(|id| names_a_node(id))
        .collect()
}

fn names_a_node(id: &str) -> bool {
    let lower = id.to_ascii_lowercase();
    !id.is_empty()
        && !id.contains('/')
        && !id.starts_with('.')
        && !lower.contains("o.e.m")
        && !matches!(
            lower.as_str(),
            "none" | "default string" | "not specified" | "system serial number"
        )
        && id.chars().any(|c| c.is_ascii_alphanumeric() && c != '0')
}

#[cfg(test)]
mod tests {
    use super::names_a_node;

    #[test]
    fn placeholders_are_no_serials() {
        for id in ["", "None", "To be filled by O.E.M.", "0000000", "../applied", "a/b"] {
            assert!(!names_a_node(id), "{id}");
        }
        assert!(names_a_node("CZ3D1X0GBV"));
    }
}
