//! The reason of a choice in words. `nmgen::node` makes the choice.
//!
//! A host file replaces `cluster.yml`; they are never merged.

use nmgen::node::{Candidate, Reason};

pub(crate) fn reason(choice: &Candidate) -> String {
    match &choice.reason {
        Reason::ShortHostName(name) => format!("host file for short hostname {}", name.short()),
        Reason::FullHostName(name) => format!("host file for hostname {}", name.as_str()),
        Reason::MacAddress { mac, .. } => {
            format!("host file for MAC address {}", mac.to_string().replace(':', "-"))
        }
        Reason::Dmi { value, .. } => format!("host file for DMI serial or UUID {value}"),
        Reason::Cluster => "cluster.yml, since no host file matches this node".to_owned(),
        // Only in the initramfs.
        Reason::KernelArgument => format!("the kernel command line names {}", choice.name),
        Reason::MacPrefix { prefix, .. } => format!("host file for MAC prefix {prefix}"),
    }
}
