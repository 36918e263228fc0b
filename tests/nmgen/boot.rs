//! `nmgen boot`: the initramfs stage, on trees of files that look like machines.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod choice;
mod early;
mod initrd;
mod names;
mod persist;
mod units;
mod waiting;

/// A document that any machine can use, of which the profile's name tells it from others.
fn marked(name: &str) -> String {
    format!("interfaces:\n- {{name: {name}, type: dummy}}\n")
}

/// The same, for a machine with this address.
fn with_mac(name: &str, mac: &str) -> String {
    format!("{}- {{name: eth0, type: ethernet, mac-address: {mac}}}\n", marked(name))
}
