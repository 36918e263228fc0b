//! Parts of a program that the toolchain brings: Rust's standard library, and the C libraries of a static program.

use std::process::Command;

use crate::command;
use crate::component::Component;
use crate::error::Error;

/// Rust's standard library, which has the compiler's version.
pub(crate) fn standard_library() -> Result<Component, Error> {
    const RUSTC: &str = "rustc -vV";
    let rustc = std::env::var_os("RUSTC").unwrap_or("rustc".into());
    let text = command::output(RUSTC, Command::new(rustc).arg("-vV"))?;
    let release = text.lines().find_map(|line| line.strip_prefix("release: "));
    let release =
        release.ok_or_else(|| Error::Output { command: RUSTC.to_owned(), line: text.clone() })?;
    let purl = format!("pkg:github/rust-lang/rust@{release}");
    Ok(Component::library("std", release, "MIT OR Apache-2.0", purl)
        .at("https://github.com/rust-lang/rust"))
}

/// GCC's own library: of a static program's unwinding, which the standard library names.
pub(crate) fn compiler_library() -> Result<Component, Error> {
    const CC: &str = "cc -dumpfullversion";
    let text = command::output(CC, Command::new("cc").arg("-dumpfullversion"))?;
    let version = text.trim();
    if !version.starts_with(|first: char| first.is_ascii_digit()) {
        return Err(Error::Output { command: CC.to_owned(), line: text });
    }
    let (licence, purl) =
        ("GPL-3.0-or-later WITH GCC-exception-3.1", format!("pkg:generic/gcc@{version}"));
    Ok(Component::library("libgcc", version, licence, purl).at("https://gcc.gnu.org/git/gcc.git"))
}

/// The C library of this machine, since a static program has that one.
pub(crate) fn c_library() -> Result<Component, Error> {
    const GETCONF: &str = "getconf GNU_LIBC_VERSION";
    let text = command::output(GETCONF, Command::new("getconf").arg("GNU_LIBC_VERSION"))?;
    let version = text.trim().strip_prefix("glibc ");
    let version =
        version.ok_or_else(|| Error::Output { command: GETCONF.to_owned(), line: text.clone() })?;
    let purl = format!("pkg:generic/glibc@{version}");
    Ok(Component::library("glibc", version, "LGPL-2.1-or-later", purl)
        .at("https://sourceware.org/git/glibc.git"))
}
