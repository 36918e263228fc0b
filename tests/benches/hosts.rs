//! 1,000 hosts, checked and generated in one call, against one process a host; 10,000 hosts written to memory and to a
//! disk; then one document of four sizes up to the most interfaces. Prints ratios; asserts bounds of 10,000 hosts.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a program for people to read")]

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use tests::machine::Machine;
use tests::measure::{self, Cost};
use tests::{documents, fleet, program};

const HOSTS: usize = 1_000;
/// Number of runs; the minimum counts, since disturbances only add time.
const RUNS: usize = 5;
/// Hosts of the largest fleets.
const MANY: usize = 10_000;
/// The bounds of their conversion to files: seconds in memory and on a disk, and bytes of memory.
const IN_MEMORY: f64 = 3.0;
const ON_DISK: f64 = 10.0;
const PEAK: u64 = 160 << 20;
/// Numbers of interfaces of one document.
const SIZES: [usize; 4] = [250, 500, 1_000, 1_500];

fn main() {
    let nmgen = program::nmgen_release();
    // In memory, so that the disk's speed does not count.
    let memory = Path::new("/dev/shm");
    let base = if memory.is_dir() { memory } else { Path::new("/tmp") };
    let work = tempfile::tempdir_in(base).unwrap();
    let (hosts, out) = (work.path().join("hosts"), work.path().join("out"));
    std::fs::create_dir(&hosts).unwrap();
    fleet::write(&hosts, HOSTS).unwrap();

    println!(
        "{HOSTS} hosts: bond + VLAN + static dual stack; checks included; least of {RUNS} runs"
    );
    let one_call = least(|| {
        let _ = std::fs::remove_dir_all(&out);
        measure::run(Command::new(nmgen).args(["generate", "-o"]).arg(&out).arg(&hosts)).unwrap()
    });
    report("nmgen, one call, to files", &one_call, None);
    let no_files = least(|| measure::run(Command::new(nmgen).arg("generate").arg(&hosts)).unwrap());
    report("nmgen, one call, to stdout", &no_files, Some(&one_call));
    let check = least(|| measure::run(Command::new(nmgen).arg("check").arg(&hosts)).unwrap());
    report("nmgen, one call, check", &check, Some(&one_call));
    let each = each_host(&hosts, |document| {
        let mut command = Command::new(nmgen);
        command.args(["generate", "--to", "gc"]).arg(document);
        command
    });
    report("nmgen, one process a host, gc", &each, Some(&one_call));
    many(nmgen, base);
    sizes(nmgen, work.path());
}

/// 10,000 hosts, one call, synced.
fn many(nmgen: &Path, memory: &Path) {
    let disk = Path::new(env!("CARGO_TARGET_TMPDIR"));
    for (what, base, bound) in [("in memory", memory, IN_MEMORY), ("to a disk", disk, ON_DISK)] {
        let work = tempfile::tempdir_in(base).unwrap();
        let (hosts, out) = (work.path().join("hosts"), work.path().join("out"));
        std::fs::create_dir(&hosts).unwrap();
        fleet::write(&hosts, MANY).unwrap();
        let run = |_| {
            let _ = std::fs::remove_dir_all(&out);
            measure::run(Command::new(nmgen).args(["generate", "-o"]).arg(&out).arg(&hosts))
                .unwrap()
        };
        let cost = (0..RUNS).map(run).min_by_key(|cost| cost.wall).unwrap();
        assert_eq!(cost.exit_code, Some(0), "{what}");
        let (seconds, mebibytes) = (cost.wall.as_secs_f64(), cost.peak_memory >> 20);
        println!(
            "{MANY} hosts {what}: {seconds:.2} s (at most {bound}), {mebibytes} MiB (at most {})",
            PEAK >> 20
        );
        assert!(seconds <= bound && cost.peak_memory <= PEAK, "{MANY} hosts {what}");
    }
}

/// Time and memory over the number of interfaces: each column is the double of the one before, where the cost is linear.
fn sizes(nmgen: &Path, work: &Path) {
    println!("one document, CPU time and peak memory by its number of interfaces: {SIZES:?}");
    for (shape, make) in documents::LARGE {
        for arguments in [&["check"][..], &["show"], &["show", "--format", "svg"], &["generate"]] {
            let costs = SIZES.map(|size| {
                let path = work.join("large.yml");
                std::fs::write(&path, make(size)).unwrap();
                least(|| measure::run(Command::new(nmgen).args(arguments).arg(&path)).unwrap())
            });
            print_sizes(&format!("{shape}, {}", arguments.join(" ")), &costs);
        }
        print_sizes(&format!("{shape}, boot"), &SIZES.map(|size| boot(nmgen, work, &make(size))));
    }
}

const MAC: &str = "52:54:00:00:00:01";

/// In memory, as an initramfs is.
fn boot(nmgen: &Path, memory: &Path, document: &str) -> Cost {
    let run = || {
        let machine = Machine::below(memory).card("ens3", MAC).host("cluster", document);
        let mut command = Command::new(nmgen);
        measure::run(command.args(["boot", "--root"]).arg(machine.path("."))).unwrap()
    };
    least(run)
}

fn print_sizes(what: &str, costs: &[Cost]) {
    let cost = |cost: &Cost| {
        let (time, memory) = (cost.cpu.as_secs_f64() * 1e3, cost.peak_memory >> 20);
        format!("{time:>7.1} ms {memory:>4} MiB")
    };
    println!("{what:<36} {}", costs.iter().map(cost).collect::<Vec<_>>().join("  "));
}

fn least(mut run: impl FnMut() -> Cost) -> Cost {
    (0..RUNS).map(|_| run()).min_by_key(|cost| cost.cpu).unwrap()
}

/// The sum of one process for each host, and the largest peak.
fn each_host(hosts: &Path, command: impl Fn(&Path) -> Command) -> Cost {
    let mut total =
        Cost { wall: Duration::ZERO, cpu: Duration::ZERO, peak_memory: 0, exit_code: Some(0) };
    for number in 0..HOSTS {
        let document = hosts.join(format!("worker-{number}.yml"));
        let cost = measure::run(&mut command(&document)).unwrap();
        total.wall += cost.wall;
        total.cpu += cost.cpu;
        total.peak_memory = total.peak_memory.max(cost.peak_memory);
        total.exit_code = total.exit_code.max(cost.exit_code);
    }
    total
}

fn report(what: &str, cost: &Cost, base: Option<&Cost>) {
    assert_eq!(cost.exit_code, Some(0), "{what} failed");
    let ratio = |of: fn(&Cost) -> Duration| {
        base.map_or(1.0, |base| of(cost).as_secs_f64() / of(base).as_secs_f64())
    };
    println!(
        "{what:<36} {:>6.3} ms CPU a host (x{:.2})  {:>7.3} s wall (x{:.2})  {:>5.1} MiB peak",
        cost.cpu.as_secs_f64() * 1e3 / HOSTS as f64,
        ratio(|cost| cost.cpu),
        cost.wall.as_secs_f64(),
        ratio(|cost| cost.wall),
        cost.peak_memory as f64 / f64::from(1 << 20),
    );
}
