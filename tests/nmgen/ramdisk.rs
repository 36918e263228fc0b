//! The program for an initramfs: static, small, and without needs beyond an empty root.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use tests::machine::{EARLY, Machine};
use tests::{
    documents, fleet, help, measure,
    program::{self, Exits as _},
    skip,
};

const MAX_SIZE: u64 = 2_946_500;
/// With STD=source, a standard library that is built for size.
const MAX_SIZE_FROM_SOURCE: u64 = 2_600_000;
const MAX_PEAK_MEMORY: u64 = 8 << 20;
const FLEET: usize = 1_000;

#[tests::case]
fn it_is_static_and_small() {
    let program = fs::read(program::nmgen_ramdisk()).unwrap();
    let size = program.len() as u64;
    let from_source = std::env::var_os("STD").is_some_and(|library| library == "source");
    let max_size = if from_source { MAX_SIZE_FROM_SOURCE } else { MAX_SIZE };
    assert!(size <= max_size, "{size} bytes");
    assert!(!has_interpreter(&program), "it asks for a dynamic loader");
}

/// Where code can panic the program has the path of its source, and no two builders have the same directories. `make reproducible`
/// compares two builds, byte for byte.
#[tests::case]
fn it_names_no_directory_of_its_builder() {
    let program = fs::read(program::nmgen_ramdisk()).unwrap();
    let has = |text: &[u8]| program.windows(text.len()).any(|part| part == text);
    // A control: the paths are there, below a name that all builders have in common.
    assert!(has(b"registry/") && has(b"/src/de.rs"));
    for path in program::paths_of_the_build() {
        let name = path.to_str().unwrap();
        assert!(!has(name.as_bytes()), "it names {name}");
    }
}

/// True when an ELF file has a PT_INTERP program header: elf(5).
fn has_interpreter(elf: &[u8]) -> bool {
    const PT_INTERP: u32 = 3;
    let word = |at: usize, size: usize| {
        let add = |value: u64, byte: &u8| value << 8 | u64::from(*byte);
        let bytes = elf[at..at + size].iter();
        if cfg!(target_endian = "big") { bytes.fold(0, add) } else { bytes.rev().fold(0, add) }
    };
    assert_eq!(elf[..5], [0x7f, b'E', b'L', b'F', 2], "a 64-bit ELF file");
    let (offset, size, count) = (word(32, 8), word(54, 2), word(56, 2));
    (0..count).any(|index| word((offset + index * size) as usize, 4) == u64::from(PT_INTERP))
}

/// Without the code that wraps help texts.
#[tests::case]
fn its_help_fits_into_80_columns() {
    let (wide, commands) = help::too_wide(program::nmgen_ramdisk(), &["--help"]).unwrap();
    assert!(wide.is_empty(), "{wide:#?}");
    assert!(commands >= 5, "{commands} commands");
}

#[tests::case]
fn one_document_takes_little_memory() {
    let directory = tempfile::tempdir().unwrap();
    let document = directory.path().join("worker-0.yml");
    fs::write(&document, fleet::document(0)).unwrap();
    let cost = measure::run(Command::new(program::nmgen_ramdisk()).arg("generate").arg(&document))
        .unwrap();
    assert_eq!(cost.exit_code, Some(0));
    assert!(cost.peak_memory <= MAX_PEAK_MEMORY, "{} bytes", cost.peak_memory);
}

/// Most of it is nmstate's conversion. Processor time is for the log only, as below.
#[tests::case]
#[allow(clippy::print_stdout, reason = "a measure for whoever reads the run")]
fn the_largest_documents_take_60_mb_at_most() {
    for (shape, make) in documents::LARGE {
        let machine = Machine::with_card().host("cluster", &make(1_500));
        let mut command = Command::new(program::nmgen_ramdisk());
        command.args(["boot", "--root"]).arg(machine.path(""));
        let cost = measure::run(&mut command).unwrap();
        let (time, bytes) = (cost.cpu, cost.peak_memory);
        println!("{shape}: {} KiB, {:.1} s of CPU", bytes >> 10, time.as_secs_f64());
        assert!(bytes <= 60_000_000, "{shape}: {bytes} bytes");
    }
}

/// Processor time is for the log only: on a busy machine it varies.
#[tests::case]
#[allow(clippy::print_stdout, reason = "a measure for whoever reads the run")]
fn a_thousand_hosts_take_little_memory() {
    let ours = 777;
    let (high, low) = (ours / 256, ours % 256);
    let machine = Machine::new()
        .card("enp1s0", &format!("52:54:00:{high:02x}:{low:02x}:01"))
        .card("enp2s0", &format!("52:54:00:{high:02x}:{low:02x}:02"));
    fs::create_dir_all(machine.path("etc/nmgen")).unwrap();
    fleet::write(&machine.path("etc/nmgen"), FLEET).unwrap();
    let mut costs = Vec::new();
    for _ in 0..5 {
        let mut command = Command::new(program::nmgen_ramdisk());
        command.args(["boot", "--root"]).arg(machine.path(""));
        let cost = measure::run(&mut command).unwrap();
        assert_eq!(cost.exit_code, Some(0));
        assert!(cost.peak_memory <= MAX_PEAK_MEMORY, "{} bytes", cost.peak_memory);
        costs.push(cost);
    }
    assert_eq!(machine.profiles(EARLY), ["bond0", "bond0.100", "enp1s0", "enp2s0"]);
    let cpu = costs.iter().map(|cost| cost.cpu).min().unwrap_or_default();
    let memory = costs.iter().map(|cost| cost.peak_memory).max().unwrap_or_default();
    println!("{FLEET} hosts: {:.1} ms of CPU, {} KiB", cpu.as_secs_f64() * 1e3, memory >> 10);
}

/// No /etc, /sys or /proc, no environment, and only the target is writable.
#[tests::case]
fn it_runs_on_an_empty_read_only_root() {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir(root.path().join("out")).unwrap();
    let inside = root.path().join("nmgen");
    program::copy(program::nmgen_ramdisk(), &inside);
    fs::set_permissions(&inside, fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(root.path().join("worker-0.yml"), fleet::document(0)).unwrap();

    let script = "chroot=$(command -v chroot) && mount --bind \"$1\" \"$1\" && mount -t tmpfs tmpfs \"$1/out\" \
         && mount -o remount,bind,ro \"$1\" \
         && ! touch \"$1/probe\" 2>/dev/null \
         && env -i \"$chroot\" \"$1\" /nmgen generate -o /out/profiles /worker-0.yml \
         && ls \"$1/out/profiles\" \
         && env -i \"$chroot\" \"$1\" /nmgen check /worker-0.yml \
         && ! env -i \"$chroot\" \"$1\" /nmgen generate -o /profiles /worker-0.yml";
    let output = Command::new("unshare")
        .args(["--mount", "--propagation", "private", "sh", "-c", script, "sh"])
        .arg(root.path())
        .output()
        .unwrap();
    let (stdout, stderr) = (output.out(), output.err());
    // No mount namespace, as without root.
    if !output.status.success() && stderr.contains("unshare: ") {
        skip::part(&format!("the read-only root: {}", stderr.trim()));
    }
    assert!(output.status.success(), "{stderr}");
    let expected = ["bond0.100", "bond0", "eno1", "eno2"].map(|id| format!("{id}.nmconnection"));
    assert_eq!(stdout.lines().collect::<Vec<_>>(), expected);
    assert!(stderr.contains("nmgen: cannot create the directory /profiles: "), "{stderr}");
    assert!(!Path::new("/profiles").exists());
}
