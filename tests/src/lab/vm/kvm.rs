//! The host's own processor for a machine.

use std::{fs::OpenOptions, io, path::Path};

/// The kernel's interface to it.
const DEVICE: &str = "/dev/kvm";
/// Modules, or parts of the kernel, that have the processor itself run a machine.
const BY_HARDWARE: [&str; 2] = ["/sys/module/kvm_intel", "/sys/module/kvm_amd"];

/// The reason why KVM runs no machine of the lab here.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WithoutKvm {
    /// The device is missing, or not for this user.
    #[error("{DEVICE} cannot be opened: {0}")]
    Device(#[source] io::Error),
    /// Another implementation, such as one for guests whose kernels know of it, interprets Debian's kernel and stops at the first
    /// instruction that it does not know.
    #[error("{DEVICE} is not of the processor's own virtualisation")]
    Interpreted,
}

/// Whether KVM can run a machine of the lab.
///
/// # Errors
/// The reason why it cannot.
pub fn kvm() -> Result<(), WithoutKvm> {
    let device = OpenOptions::new().read(true).write(true).open(DEVICE);
    device.map_err(WithoutKvm::Device)?;
    let is_by_hardware = BY_HARDWARE.iter().any(|module| Path::new(module).exists());
    is_by_hardware.then_some(()).ok_or(WithoutKvm::Interpreted)
}
