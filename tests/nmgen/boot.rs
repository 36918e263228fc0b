//! `nmgen boot`: the initramfs stage, on trees of files that look like machines.

mod arguments;
mod choice;
mod crash;
mod early;
mod exchange;
mod explain;
mod faults;
mod first_boot;
mod infiniband;
mod initrd;
mod live;
mod mark;
mod misread;
mod names;
mod neighbours;
mod open_vswitch;
mod pci_address;
mod persist;
mod program;
mod release;
mod root_disk;
mod shared_address;
mod units;
mod virtual_functions;
mod waiting;
mod whole_components;

/// A document for any machine, identified by the name of its profile.
fn marked(name: &str) -> String {
    format!("interfaces:\n- {{name: {name}, type: dummy}}\n")
}

/// A document for the machine with this address, identified alike.
fn with_mac(name: &str, mac: &str) -> String {
    format!("{}- {{name: eth0, type: ethernet, mac-address: {mac}}}\n", marked(name))
}
