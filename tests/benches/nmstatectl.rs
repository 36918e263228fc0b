//! nmgen beside the nmstatectl of the same nmstate, which is built for it: one document, with the full program and with
//! that of an initramfs, and 200 hosts to a busy disk. All take turns. Prints ratios, and asserts them.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a program for people to read")]

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

use tests::measure::{Times, by_turns, noise};
use tests::{fleet, program};

/// Number of turns; the median counts.
const RUNS: usize = 9;
/// Processes of a turn, each with one document.
const PROCESSES: usize = 50;
/// Hosts on a disk.
const ON_DISK: usize = 200;
/// The bounds, as shares of nmstatectl's time. The full program checks the document besides. Half of each time is the start of a
/// process, which differs between machines: 0.97 to 1.08, and 0.71 to 0.91.
const FULL: f64 = 1.2;
const RAMDISK: f64 = 1.0;
/// With busy processors beside a busy disk; with the disk alone it is a quarter.
const FLEET: f64 = 1.0;

fn main() {
    let programs =
        [program::nmgen_release(), program::nmgen_ramdisk(), program::nmstatectl_release()];
    one_document(programs).unwrap();
    on_disk(programs).unwrap();
}

/// One document, converted by a process each time.
fn one_document([nmgen, ramdisk, nmstatectl]: [&Path; 3]) -> io::Result<()> {
    let work = tempfile::tempdir()?;
    let document = work.path().join("worker-1.yml");
    std::fs::write(&document, fleet::document(1))?;
    let turn = |program: &Path| {
        let start = Instant::now();
        for _ in 0..PROCESSES {
            convert(program, &document, Stdio::null())?;
        }
        Ok::<_, io::Error>(start.elapsed())
    };
    let (mut full, mut small) = (|| turn(nmgen), || turn(ramdisk));
    let mut peer = || turn(nmstatectl);
    let [full, small, peer] = by_turns(RUNS, [&mut full, &mut small, &mut peer])?;
    println!("one document, {PROCESSES} processes a turn, medians of {RUNS} turns");
    println!("nmstatectl gc                    {peer}");
    println!("nmgen gc                         {full}");
    println!("nmgen gc of an initramfs         {small}");
    noise(&peer).iter().for_each(|warning| println!("{warning}"));
    holds("nmgen / nmstatectl", &full, &peer, FULL);
    holds("that of an initramfs / nmstatectl", &small, &peer, RAMDISK);
    Ok(())
}

/// Hosts written to a disk beside another writer, by one call that syncs them and by a process a host that syncs nothing.
fn on_disk([nmgen, _, nmstatectl]: [&Path; 3]) -> io::Result<()> {
    let work = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let (hosts, out) = (work.path().join("hosts"), work.path().join("out"));
    std::fs::create_dir(&hosts)?;
    fleet::write(&hosts, ON_DISK)?;
    let is_over = AtomicBool::new(false);
    let [own, peer] = thread::scope(|scope| {
        let busy = scope.spawn(|| write_until(&is_over, &work.path().join("busy")));
        let mut own = || {
            let _ = std::fs::remove_dir_all(&out);
            let start = Instant::now();
            let status =
                Command::new(nmgen).args(["generate", "-o"]).arg(&out).arg(&hosts).status()?;
            assert!(status.success());
            Ok(start.elapsed())
        };
        let mut peer = || {
            let start = Instant::now();
            for number in 0..ON_DISK {
                let output = std::fs::File::create(work.path().join(format!("{number}.yml")))?;
                let document = hosts.join(format!("worker-{number}.yml"));
                convert(nmstatectl, &document, output.into())?;
            }
            Ok(start.elapsed())
        };
        let times = by_turns::<2, io::Error>(RUNS, [&mut own, &mut peer]);
        is_over.store(true, Ordering::Relaxed);
        let written = busy.join().map_err(|_| io::Error::other("the writer"))?;
        times.and_then(|times| written.map(|()| times))
    })?;
    println!("{ON_DISK} hosts to a disk beside another writer, medians of {RUNS} turns");
    println!("nmstatectl gc, a process a host, not synced  {peer}");
    println!("nmgen generate -o, one call, synced          {own}");
    noise(&peer).iter().for_each(|warning| println!("{warning}"));
    holds("nmgen / nmstatectl", &own, &peer, FLEET);
    Ok(())
}

fn convert(program: &Path, document: &Path, output: Stdio) -> io::Result<()> {
    let status = Command::new(program)
        .arg("gc")
        .arg(document)
        .stdout(output)
        .stderr(Stdio::null())
        .status()?;
    assert!(status.success(), "{} gc failed", program.display());
    Ok(())
}

fn holds(what: &str, own: &Times, peer: &Times, bound: f64) {
    let ratio = own.over(peer);
    println!("{what}  {ratio:.2} (at most {bound})");
    assert!(ratio <= bound, "{what}: {ratio:.2}, at most {bound}");
}

fn write_until(is_over: &AtomicBool, path: &Path) -> io::Result<()> {
    let bytes = vec![1_u8; 32 << 20];
    while !is_over.load(Ordering::Relaxed) {
        std::fs::write(path, &bytes)?;
        std::fs::File::open(path)?.sync_all()?;
    }
    Ok(())
}
