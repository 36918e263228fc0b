//! A node whose kernel enforces SELinux's policy, in a virtual machine: `make check-selinux` runs it, `make check-all` does not.

mod story;

/// A case fails by a panic of its own assertions or by an error of the lab.
type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> std::process::ExitCode {
    tests::suite::run()
}
