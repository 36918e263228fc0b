//! `nmgen boot`: the initramfs stage, on trees of files that look like machines.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "boot/choice.rs"]
mod choice;
#[path = "boot/early.rs"]
mod early;
#[path = "boot/initrd.rs"]
mod initrd;
#[path = "boot/names.rs"]
mod names;
#[path = "boot/persist.rs"]
mod persist;
#[path = "boot/units.rs"]
mod units;
#[path = "boot/waiting.rs"]
mod waiting;

/// A document that any machine can use, of which the profile's name tells it from others.
fn marked(name: &str) -> String {
    format!("interfaces:\n- {{name: {name}, type: dummy}}\n")
}

/// The same, for a machine with this address.
fn with_mac(name: &str, mac: &str) -> String {
    format!("{}- {{name: eth0, type: ethernet, mac-address: {mac}}}\n", marked(name))
}
