//! Early boot beside others' profiles, with network disks and 802.1X, a silent card, an archive of the first boot alone, and cards
//! that udev names otherwise, an emergency shell, another MTU of the cluster, the automatic br-ex on bonds and VLANs, and a pod
//! behind the kernel's datapath, in virtual machines: what a tree of files cannot show, since CoreOS's units, udev, NetworkManager
//! and the kernel act on what is written.
//! `make check-boot` runs it, `make check-all` does not.

mod bridge;
mod emergency;
mod exchange;
mod mtu;
mod names;
mod neighbours;
mod network_root;
mod own_profile;
mod pod;
mod silent;
mod supplicant;
mod without_archive;

/// A case fails by a panic of its own assertions or by an error of the lab.
type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> std::process::ExitCode {
    tests::suite::run()
}
