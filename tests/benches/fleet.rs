//! 1,000 hosts from one agent-config.yaml to the MachineConfigs of two roles, with all checks, against one
//! process a host, and against 10,000 hosts: checked, converted, and written as files. Prints ratios from one run; asserts
//! nothing about time.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a program for people to read")]

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use tests::measure::{self, Cost};
use tests::{fleet, program};

const HOSTS: usize = 1_000;
/// The workers' MachineConfig exceeds etcd's limit: it is made, refused, and not written.
const MANY: usize = 10_000;
/// Exit codes.
const DONE: i32 = 0;
const INPUT_WRONG: i32 = 2;
/// Number of runs; the minimum counts, since disturbances only add time.
const RUNS: usize = 5;

fn main() {
    let nmgen = program::nmgen_release();
    let memory = Path::new("/dev/shm");
    let base = if memory.is_dir() { memory } else { Path::new("/tmp") };
    let work = tempfile::tempdir_in(base).unwrap();
    let (config, out) = (work.path().join("agent-config.yaml"), work.path().join("out"));
    std::fs::write(&config, fleet::agent_config(HOSTS)).unwrap();

    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    println!(
        "{HOSTS} hosts: bond + VLAN + br-ex, one agent-config.yaml; {cores} cores; least of {RUNS} runs"
    );
    let least = |arguments: &[&str]| {
        let run = |_| {
            let _ = std::fs::remove_dir_all(&out);
            measure::run(Command::new(nmgen).args(arguments).current_dir(work.path())).unwrap()
        };
        (0..RUNS).map(run).min_by_key(|cost| cost.wall).unwrap()
    };
    let to_machine_configs =
        ["generate", "--to", "machine-config", "-o", "out/", "agent-config.yaml"];
    let one_call = least(&to_machine_configs);
    report("one call", &one_call, &one_call, DONE);
    let check = ["check", "agent-config.yaml"];
    report("check", &least(&check), &one_call, DONE);
    std::fs::write(&config, fleet::agent_config(MANY)).unwrap();
    report("10,000: check", &least(&check), &one_call, DONE);
    report("10,000: one call", &least(&to_machine_configs), &one_call, INPUT_WRONG);
    let to_files = ["generate", "--to", "hosts", "-o", "out/", "agent-config.yaml"];
    report("10,000: to files", &least(&to_files), &one_call, DONE);
    let early = fleet::agent_config_of(MANY, fleet::document);
    std::fs::write(&config, early).unwrap();
    let derive = ["generate", "--br-ex", "--to", "hosts", "agent-config.yaml"];
    report("10,000: --br-ex", &least(&derive), &one_call, DONE);

    let mut each =
        Cost { wall: Duration::ZERO, cpu: Duration::ZERO, peak_memory: 0, exit_code: Some(0) };
    let hosts = work.path().join("hosts");
    std::fs::create_dir(&hosts).unwrap();
    for number in 0..HOSTS {
        std::fs::write(hosts.join("worker-0.yml"), fleet::with_br_ex(number)).unwrap();
        let mut command = Command::new(nmgen);
        command.args(["generate", "--to", "machine-config", "--role", "worker"]).arg(&hosts);
        let cost = measure::run(&mut command).unwrap();
        each.wall += cost.wall;
        each.cpu += cost.cpu;
        each.peak_memory = each.peak_memory.max(cost.peak_memory);
        each.exit_code = each.exit_code.max(cost.exit_code);
    }
    report("one process a host", &each, &one_call, DONE);
}

fn report(what: &str, cost: &Cost, base: &Cost, expected: i32) {
    assert_eq!(cost.exit_code, Some(expected), "{what}");
    let mebibytes = |cost: &Cost| cost.peak_memory as f64 / f64::from(1 << 20);
    println!(
        "{what:<20} {:>7.3} s wall (x{:.2})  {:>7.3} s CPU (x{:.2})  {:>6.1} MiB peak (x{:.2})",
        cost.wall.as_secs_f64(),
        cost.wall.as_secs_f64() / base.wall.as_secs_f64(),
        cost.cpu.as_secs_f64(),
        cost.cpu.as_secs_f64() / base.cpu.as_secs_f64(),
        mebibytes(cost),
        mebibytes(cost) / mebibytes(base),
    );
}
