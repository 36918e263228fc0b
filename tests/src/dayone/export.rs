//! The document of the running node, on any node of the lab: the node is as it says.

use crate::lab::{Inside, Result};

const FILE: &str = "/root/exported.yml";

/// Devices that NetworkManager has configured by a profile; ports of Open vSwitch are no interfaces.
const DEVICES: &str = "nmcli --get-values DEVICE,TYPE,STATE device | grep ':connected$' | grep --invert-match ':ovs-port:' | \
     cut --delimiter=: --fields=1 | sort --unique";

/// Exports the node, and returns the document: it has every interface that NetworkManager configures, `dayone diff` finds the node
/// as it says, and an apply would change nothing.
///
/// # Errors
/// The lab's.
///
/// # Panics
/// When the node is not what the document says.
pub fn exports(inside: &Inside) -> Result<String> {
    let output = inside.run(&["dayone", "export"])?.exits(0);
    let document = output.stdout;
    for device in inside.sh(DEVICES)?.lines().filter(|device| !device.is_empty()) {
        assert!(document.contains(&format!("- name: {device}\n")), "{device} in {document}");
    }
    inside.write(FILE, &document)?;
    let diff = inside.run(&["dayone", "diff", "--exit-code", "--document", FILE])?;
    assert_eq!(diff.status.code(), Some(0), "{diff}\n{document}");
    assert!(diff.stdout.ends_with("\n# no difference\n"), "{diff}\n{document}");
    let dry = inside.run(&["dayone", "apply", "--dry-run", "--document", FILE])?;
    assert_eq!(dry.status.code(), Some(0), "{dry}\n{document}");
    assert!(dry.stdout.ends_with("\n# no difference\n"), "{dry}\n{document}");
    Ok(document)
}
