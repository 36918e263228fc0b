//! The programs under test, built at most once a test run.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};

/// The workspace's root.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."))
}

/// Directories of this machine that nothing for others may name: the sources, cargo's own, with the registry's packages, and the
/// standard library's source, where it is installed.
pub fn paths_of_the_build() -> Vec<PathBuf> {
    let home = std::env::var_os("HOME").map(|home| Path::new(&home).join(".cargo"));
    let cargo = std::env::var_os("CARGO_HOME").map(PathBuf::from).or(home);
    let asked = Command::new("rustc").args(["--print", "sysroot"]).output().ok();
    let library = asked.and_then(|output| String::from_utf8(output.stdout).ok());
    let library = library.map(|sysroot| Path::new(sysroot.trim()).join("lib/rustlib/src"));
    std::iter::once(root().to_owned()).chain(cargo).chain(library).collect()
}

/// Returns whether cases run the programs as they are shipped, instead of developers' builds: `PROGRAMS=shipped`.
pub fn is_shipped() -> bool {
    std::env::var_os("PROGRAMS").is_some_and(|programs| programs == "shipped")
}

/// `nmgen` as developers build it or as it is shipped, unless `NMGEN_PROGRAM` names another one.
///
/// # Panics
/// When it cannot be built.
pub fn nmgen() -> &'static Path {
    let own = || build(if is_shipped() { "nmgen-release" } else { "nmgen" });
    other("NMGEN_PROGRAM").unwrap_or_else(own)
}

/// Runs [`nmgen()`] in this directory.
///
/// # Panics
/// When it cannot be built or started.
pub fn nmgen_in(directory: impl AsRef<Path>, arguments: &[&str]) -> Output {
    let output = Command::new(nmgen()).args(arguments).current_dir(directory).output();
    output.expect("nmgen starts")
}

/// The directory of the suites' documents.
#[must_use]
pub fn fixtures() -> PathBuf {
    root().join("tests/fixtures")
}

/// The script `configure-ovs.sh` of the lab's nodes, which has the field's steps in few lines, unless `CONFIGURE_OVS` names one.
#[must_use]
pub fn configure_ovs() -> PathBuf {
    let own = || root().join("tests/lab/field/common/usr/local/bin/configure-ovs.sh");
    other("CONFIGURE_OVS").map_or_else(own, Path::to_owned)
}

/// The text that a call of nmgen writes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Said {
    /// Standard output.
    pub output: Vec<u8>,
    /// Standard error.
    pub messages: Vec<u8>,
}

/// Calls nmgen, whose name is the first argument: the library, hundreds of calls of which cost what ten programs do, or the program
/// that `NMGEN_PROGRAM` names.
///
/// # Errors
/// If that program does not run.
pub fn said(arguments: &[OsString]) -> std::io::Result<Said> {
    let mut said = Said::default();
    if let (Some(program), [name, rest @ ..]) = (other("NMGEN_PROGRAM"), arguments) {
        let output = Command::new(program).arg0(name).args(rest).output()?;
        (said.output, said.messages) = (output.stdout, output.stderr);
    } else {
        let mut streams = nmgen::cli::Streams::new(&mut said.output, &mut said.messages);
        nmgen::cli::run(arguments.iter().cloned(), &mut streams);
    }
    Ok(said)
}

/// The messages of `nmgen check` of a file or directory.
///
/// # Errors
/// As [`said`].
pub fn checked(path: &Path) -> std::io::Result<String> {
    let arguments = ["nmgen", "check"].map(OsString::from);
    let said = said(&[&arguments[..], &[path.into()]].concat())?;
    Ok(String::from_utf8_lossy(&said.messages).into_owned())
}

/// What a case expects of a program that has ended. Each function panics, with all that the program wrote, if it is otherwise.
pub trait Exits: Sized {
    /// Returns itself, if the program ended with this exit code.
    #[track_caller]
    fn exits(self, code: i32) -> Self;
    /// Returns itself, if the standard output has this text.
    #[track_caller]
    fn says(self, text: &str) -> Self;
    /// Returns itself, if the standard error has this text.
    #[track_caller]
    fn reports(self, text: &str) -> Self;
    /// The standard output as JSON.
    #[track_caller]
    fn json(&self) -> serde_json::Value;
    /// The standard output, which is a text.
    #[track_caller]
    fn out(&self) -> &str;
    /// The standard error, which is a text.
    #[track_caller]
    fn err(&self) -> &str;
}

impl Exits for Output {
    fn exits(self, code: i32) -> Self {
        assert_eq!(self.status.code(), Some(code), "{}", written(&self));
        self
    }

    fn says(self, text: &str) -> Self {
        assert!(self.out().contains(text), "{text} in {}", written(&self));
        self
    }

    fn reports(self, text: &str) -> Self {
        assert!(self.err().contains(text), "{text} in {}", written(&self));
        self
    }

    fn json(&self) -> serde_json::Value {
        let json = serde_json::from_slice(&self.stdout);
        assert!(json.is_ok(), "{}", written(self));
        json.unwrap_or_default()
    }

    fn out(&self) -> &str {
        std::str::from_utf8(&self.stdout).expect("a text")
    }

    fn err(&self) -> &str {
        std::str::from_utf8(&self.stderr).expect("a text")
    }
}

/// All that a program wrote, for the message of a failed case.
fn written(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned()
}

/// Runs a program with this standard input.
///
/// # Errors
/// If it does not start.
pub fn with_input(command: &mut Command, input: impl AsRef<[u8]>) -> std::io::Result<Output> {
    let piped = Stdio::piped;
    let mut child = command.stdin(piped()).stdout(piped()).stderr(piped()).spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program that refuses its call ends without reading.
        let _ = stdin.write_all(input.as_ref());
    }
    child.wait_with_output()
}

/// A link to `nmgen` with this name, and the directory that it is in. A script, as `NMGEN_PROGRAM` may be, learns a link's
/// name, but not an `argv[0]` of the caller's choice.
///
/// # Errors
/// If it cannot be made.
///
/// # Panics
/// When `nmgen` cannot be built.
pub fn nmgen_as(name: &str) -> std::io::Result<(tempfile::TempDir, PathBuf)> {
    let directory = tempfile::tempdir()?;
    let link = directory.path().join(name);
    std::os::unix::fs::symlink(nmgen(), &link)?;
    Ok((directory, link))
}

/// The dracut module `nmgen`, unless `NMGEN_MODULE` names another one.
///
/// # Panics
/// When that does not exist.
pub fn nmgen_module() -> &'static Path {
    let own = || once("50nmgen", || root().join("systemd/usr/lib/dracut/modules.d/50nmgen"));
    other("NMGEN_MODULE").unwrap_or_else(own)
}

/// NetworkManager's `nm-initrd-generator`, of which Debian 12 has a place of its own. Without one the case ends, as
/// [`crate::skip::unless_installed`] does.
pub fn initrd_generator() -> &'static str {
    let (place, debian12) =
        ("/usr/libexec/nm-initrd-generator", "/usr/lib/NetworkManager/nm-initrd-generator");
    if Path::new(debian12).exists() {
        return debian12;
    }
    crate::skip::unless_installed(place, "network-manager");
    place
}

/// `nmgen` as pipelines run it.
///
/// # Panics
/// When it cannot be built.
pub fn nmgen_release() -> &'static Path {
    build("nmgen-release")
}

/// `nmgen` for an initramfs: `make ramdisk`.
///
/// # Panics
/// When it cannot be built.
pub fn nmgen_ramdisk() -> &'static Path {
    build("nmgen-ramdisk")
}

/// `dayone` as developers build it or as it is shipped, unless `DAYONE_PROGRAM` names another one.
///
/// # Panics
/// When it cannot be built.
pub fn dayone() -> &'static Path {
    let own = || build(if is_shipped() { "dayone-node" } else { "dayone" });
    other("DAYONE_PROGRAM").unwrap_or_else(own)
}

/// The agent's units, in a tree that mirrors the node's, unless `DAYONE_UNITS` names another one.
///
/// # Panics
/// When that does not exist.
pub fn dayone_units() -> &'static Path {
    other("DAYONE_UNITS").unwrap_or_else(|| once("systemd", || root().join("systemd")))
}

/// The program that the environment names in place of this tree's own, with a line on stderr at the first call.
fn other(variable: &'static str) -> Option<&'static Path> {
    let path = PathBuf::from(std::env::var_os(variable)?);
    Some(once(variable, || {
        assert!(path.exists(), "{variable}: {} does not exist", path.display());
        let text = format!("another one is under test: {variable}={}\n", path.display());
        let _ = std::io::stderr().write_all(text.as_bytes());
        path
    }))
}

/// The path of this name, found at the first call.
fn once(name: &'static str, find: impl FnOnce() -> PathBuf) -> &'static Path {
    static FOUND: Mutex<BTreeMap<&str, &OnceLock<PathBuf>>> = Mutex::new(BTreeMap::new());
    let cell = *FOUND
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .entry(name)
        .or_insert_with(|| Box::leak(Box::default()));
    cell.get_or_init(find)
}

/// An older `dayone`, if `OLDER_DAYONE` names one.
///
/// # Panics
/// When that does not exist.
pub fn older_dayone() -> Option<&'static Path> {
    other("OLDER_DAYONE")
}

/// `dayone` as developers build it, which can be held in a phase, unless `DAYONE_PROGRAM` names another one.
///
/// # Panics
/// When it cannot be built.
pub fn dayone_fault_injection() -> &'static Path {
    other("DAYONE_PROGRAM").unwrap_or_else(|| build("dayone"))
}

/// The agent's recovery of one root directory after the other, in one process; this tree's, whatever `DAYONE_PROGRAM` names.
///
/// # Panics
/// When it cannot be built.
pub fn recover_roots() -> &'static Path {
    build("recover-roots")
}

/// `nmstatectl service`, which runs beside the agent on a node of the field.
///
/// # Panics
/// When it cannot be built.
pub fn nmstatectl() -> &'static Path {
    build("nmstatectl")
}

/// The published `nmstatectl` of nmgen's nmstate, for comparison.
///
/// # Panics
/// When it cannot be built.
pub fn nmstatectl_release() -> &'static Path {
    build("nmstatectl-release")
}

/// The published `nmstatectl` of the version that `NMSTATE` names, if it does.
///
/// # Panics
/// When it cannot be built.
pub fn other_nmstatectl() -> Option<PathBuf> {
    let version = std::env::var("NMSTATE").ok()?;
    Some(made("tests/build", &["nmstatectl-release", &version]))
}

/// nmstate's own `apply()` as a program, as developers build it.
///
/// # Panics
/// When it cannot be built.
pub fn nmstate_apply() -> &'static Path {
    build("nmstate-apply")
}

/// `dayone` as nodes run it.
///
/// # Panics
/// When it cannot be built.
pub fn dayone_of_node() -> PathBuf {
    build("dayone-node").to_owned()
}

/// nmstate's own `apply()` as a program, optimised as the agent of nodes is, to be compared with that.
///
/// # Panics
/// When it cannot be built.
pub fn nmstate_apply_of_node() -> PathBuf {
    build("peers-node").join("nmstate_apply")
}

/// `nmstatectl service`, optimised as the agent of nodes is, to be compared with that.
///
/// # Panics
/// When it cannot be built.
pub fn nmstatectl_of_node() -> PathBuf {
    build("peers-node").join("nmstatectl")
}

/// Writes the man pages and shell completions of both programs to `directory`.
///
/// # Panics
/// When they cannot be built or written.
pub fn write_manuals(directory: &Path) {
    let examples = build("manuals");
    for name in ["nmgen-manuals", "dayone-manuals"] {
        let mut writer = Command::new(examples.join(name));
        let status = writer.arg(directory).status();
        assert!(status.is_ok_and(|status| status.success()), "{writer:?} failed");
    }
}

/// Writes the bills of materials of the packages to `directory`, as `make sbom` does.
///
/// # Errors
/// If make cannot be started.
///
/// # Panics
/// When their writer cannot be built or fails.
pub fn write_bills(directory: &Path) -> std::io::Result<()> {
    crate::tree::make("sbom", &[("SBOM", directory), ("SBOM_WRITER", build("sbom"))])
}

/// Debian's prometheus with promtool, its node exporter, its alertmanager with amtool: packages that are not installed.
///
/// # Panics
/// When it cannot be fetched.
pub fn monitoring() -> &'static Path {
    once("monitoring", || made("tests/lab/prepare-monitoring", &[]))
}

/// Copies a program that a case runs. `cp` writes the copy: a descriptor of this process would be inherited by what another thread
/// starts at that moment, and the kernel runs no file that is open for writing (ETXTBSY in execve(2)).
///
/// # Panics
/// When it cannot be copied.
pub fn copy(program: &Path, target: &Path) {
    let mut copy = Command::new("cp");
    let status = copy.arg("--preserve=mode").args([program, target]).status();
    assert!(status.is_ok_and(|status| status.success()), "{copy:?} failed");
}

/// Runs `tests/build`, which builds a program and prints its path, at the first call.
fn build(program: &'static str) -> &'static Path {
    once(program, || made("tests/build", &[program]))
}

/// The path that a script prints.
fn made(script: &str, arguments: &[&str]) -> PathBuf {
    let mut build = Command::new(root().join(script));
    let output = build.args(arguments).stderr(Stdio::inherit()).output();
    let path = output.ok().filter(|output| output.status.success()).map(|output| output.stdout);
    assert!(path.is_some(), "{build:?} failed");
    let path = path.unwrap_or_default();
    let path = PathBuf::from(String::from_utf8_lossy(&path).trim_end());
    assert!(path.exists(), "{} is not built", path.display());
    path
}
