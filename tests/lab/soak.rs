//! `make soak`: a node with its document in force is booted REBOOTS times, half of them after a power cut, half with load on the
//! host unless LOAD=off, for a host that is busy anyway. The network has to be there every time kubelet starts. SEED repeats a run.

#![allow(clippy::print_stdout, reason = "a program for people to read")]

use std::{
    env, fs,
    hint::black_box,
    process::ExitCode,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use proptest::prelude::Rng as _;
use proptest::test_runner::{RngAlgorithm, TestRng};
use tests::{
    dayone::{ADDRESS, DAY_ONE, Document, HOST_FILE, SOON, outcome, worker},
    lab::{Case, Error, Lab, Peer},
};

/// Boots per case, since a case has a time limit.
const BOOTS_A_CASE: u64 = 4;

fn main() -> ExitCode {
    let boots = number("REBOOTS").unwrap_or(200);
    let seed = number("SEED").unwrap_or_else(|| {
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |since| since.as_secs())
    });
    println!("soak: {boots} reboots, SEED={seed}, load average {}", load_average());
    match soak(boots, seed) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            println!("soak: {e:?}");
            ExitCode::FAILURE
        }
    }
}

fn number(name: &str) -> Option<u64> {
    env::var(name).ok()?.parse().ok()
}

/// The host's load of the last minute.
fn load_average() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or_default().to_owned()
}

fn soak(boots: u64, seed: u64) -> Result<(), Error> {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let mut random = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let start = Instant::now();
    let mut done = 0;
    while done < boots {
        let now = BOOTS_A_CASE.min(boots - done);
        let kinds: Vec<Kind> =
            (done..done + now).map(|number| Kind::new(number, &mut random)).collect();
        let Some(lab) = Lab::open()? else {
            println!("soak: nothing is run, LAB=off");
            return Ok(());
        };
        let node =
            worker().keyfile("eno1", DAY_ONE).file(HOST_FILE, &Document::new().text(), 0o644);
        lab.run(node, &Peer::new(), |case| {
            case.boot()?;
            assert_eq!(outcome(&case.inside()?, None)?.exit, 0);
            kinds.iter().try_for_each(|kind| boot(case, kind))
        })?;
        done += now;
        println!("soak: {done} of {boots}, {:.0?}", start.elapsed());
    }
    println!("soak: the network was there {boots} times");
    Ok(())
}

/// One boot, in the printed form.
#[derive(Debug)]
struct Kind {
    #[allow(dead_code, reason = "printed")]
    number: u64,
    /// Time of the power cut in ms, during the previous boot or after it.
    cut: Option<u64>,
    load: bool,
}

impl Kind {
    /// Every second boot follows a power cut, every second pair runs under load.
    fn new(number: u64, random: &mut TestRng) -> Self {
        let moment = u64::from(random.next_u32() % 6000);
        Self {
            number,
            cut: (number % 2 == 1).then_some(moment),
            load: number % 4 >= 2 && env::var("LOAD").as_deref() != Ok("off"),
        }
    }
}

fn boot(case: &mut Case<'_>, kind: &Kind) -> Result<(), Error> {
    let load = kind.load.then(Load::start);
    match kind.cut {
        None => case.shut_down()?,
        // Power on, power cut during the boot, power on.
        Some(moment) => {
            case.cut_power()?;
            case.power_on()?;
            thread::sleep(Duration::from_millis(moment));
            case.cut_power()?;
        }
    }
    let start = Instant::now();
    case.boot()?;
    let inside = case.inside()?;
    let it = outcome(&inside, None)?;
    assert_eq!(it.exit, 0, "{kind:?}: {}", it.text());
    inside.wait_unit("kubelet.service", "active", 6 * SOON)?;
    let seen = inside.read("/run/lab-kubelet/routes")?.unwrap_or_default();
    assert!(seen.contains("\"default\""), "{kind:?}: kubelet started on {seen}");
    assert!(case.peer().pings(ADDRESS, SOON)?, "{kind:?}");
    println!("{kind:?}: {}, {:.1?}, load average {}", it.text(), start.elapsed(), load_average());
    drop(load);
    Ok(())
}

/// Keeps every core of the host busy until it is dropped.
struct Load {
    stop: &'static AtomicBool,
    threads: Vec<thread::JoinHandle<()>>,
}

impl Load {
    fn start() -> Self {
        static STOP: AtomicBool = AtomicBool::new(false);
        STOP.store(false, Ordering::Relaxed);
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let spin = || {
            while !STOP.load(Ordering::Relaxed) {
                black_box(0_u64);
            }
        };
        Self { stop: &STOP, threads: (0..cores).map(|_| thread::spawn(spin)).collect() }
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}
