//! The programs under test, built once a test run as their users build them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The workspace's root.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."))
}

/// `nmgen` as developers build it.
///
/// # Panics
/// When it cannot be built.
pub fn nmgen() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| build(&["-p", "nmgen"], None, &["debug", "nmgen"]))
}

/// `nmgen` as pipelines run it.
///
/// # Panics
/// When it cannot be built.
pub fn nmgen_release() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| build(&["-p", "nmgen", "--release"], None, &["release", "nmgen"]))
}

/// `nmgen` as it goes into an initramfs: `make ramdisk`.
///
/// # Panics
/// When it cannot be built.
pub fn nmgen_ramdisk() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let host = host_target();
        build(
            &["-p", "nmgen", "--profile", "ramdisk", "--target", &host],
            Some("-C target-feature=+crt-static -C force-unwind-tables=no"),
            &[&host, "ramdisk", "nmgen"],
        )
    })
}

fn build(arguments: &[&str], rustflags: Option<&str>, place: &[&str]) -> PathBuf {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(root()).args(["build", "--quiet", "--locked"]).args(arguments);
    if let Some(flags) = rustflags {
        cargo.env("RUSTFLAGS", flags);
    }
    let status = cargo.status();
    assert!(status.is_ok_and(|status| status.success()), "{cargo:?} failed");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root().join("target"), PathBuf::from);
    place.iter().fold(target, |path, part| path.join(part))
}

fn host_target() -> String {
    let output = Command::new("rustc").arg("-vV").output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    text.unwrap_or_default()
        .lines()
        .find_map(|line| line.strip_prefix("host: ").map(str::to_owned))
        .unwrap_or_default()
}
