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
            &["-p", "nmgen", "--no-default-features", "--profile", "ramdisk", "--target", &host],
            Some("-C target-feature=+crt-static -C link-arg=-Wl,-T,nmgen/ramdisk.ld"),
            &[&host, "ramdisk", "nmgen"],
        )
    })
}

/// `dayone`, as developers build it and with the phases it can be made to stop in.
#[derive(Debug)]
pub struct Agent {
    /// The program.
    pub plain: PathBuf,
    /// The same with its feature `fault-injection`.
    pub held: PathBuf,
}

/// Both builds of the agent.
///
/// # Panics
/// When one cannot be built.
pub fn dayone() -> &'static Agent {
    static PROGRAM: OnceLock<Agent> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let place = ["debug", "dayone"];
        let built = build(&["-p", "agent", "--features", "fault-injection"], None, &place);
        // The two share a name: what the next build replaces is kept under another.
        let held = built.with_file_name("dayone-fault-injection");
        let linked = std::fs::copy(&built, &held);
        assert!(linked.is_ok(), "copy {}: {linked:?}", built.display());
        Agent { plain: build(&["-p", "agent"], None, &place), held }
    })
}

/// `dayone` as nodes run it, and the program of nmstate's own `apply()` that it is measured against.
///
/// # Panics
/// When they cannot be built.
pub fn dayone_release() -> (PathBuf, PathBuf) {
    let example = ["--bin", "dayone", "--example", "nmstate_apply"];
    let arguments = [&["-p", "agent", "--release"], &example[..]].concat();
    let dayone = build(&arguments, None, &["release", "dayone"]);
    let nmstate = dayone.with_file_name("examples").join("nmstate_apply");
    (dayone, nmstate)
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
