//! Every state that a power cut can leave the running system's disk in while it gets its profiles.

use std::{fs, path::Path};

use tests::{
    crash::{
        Fault,
        campaign::{self, Judge, Shared},
        operations::Recording,
        states::State,
        trace::Trace,
        tree::Tree,
    },
    machine::Machine,
    skip,
};

/// A host name, a name for a card, and three profiles, of which none is a network without the others.
const DOCUMENT: &str = "\
hostname: {config: worker-0}
interfaces:
- {name: eth0, type: ethernet, mac-address: 52:54:00:00:00:01, alt-names: [{name: uplink}]}
- {name: eth1, type: ethernet, mac-address: 52:54:00:00:00:02}
- name: bond0
  type: bond
  link-aggregation: {mode: active-backup, port: [eth0, eth1]}
  ipv4: {enabled: true, dhcp: true}
";
/// Places that survive a reboot.
const PLACE: &str = "/sysroot/etc";

fn machine() -> Machine {
    let machine = Machine::with_card().card("ens4", "52:54:00:00:00:02").host("worker-0", DOCUMENT);
    machine.command_line("nmgen.timeout=0 ignition.firstboot\n")
}

/// The file system of the running system, by paths of the machine.
fn disk(machine: &Machine) -> Result<Tree, Fault> {
    let root = machine.path("");
    Tree::read(&root, &[PLACE]).map_err(|source| Fault::File { path: root, source })
}

/// All but temporary files, which have hidden names: a boot may leave them, and nobody reads them.
fn visible(tree: &Tree) -> Tree {
    tree.only(|path| !path.contains("/."))
}

/// The next boot, with the same document.
struct NextBoot<'r> {
    /// The recorded machine's directory.
    recorded: &'r str,
    /// Its disk at the end.
    end: &'r Tree,
    machine: Machine,
    now: Tree,
}

impl NextBoot<'_> {
    /// Both steps, with an empty `/run`. Returns the disk.
    fn boot(&mut self) -> Result<Tree, Fault> {
        let run = self.machine.path("run");
        fs::remove_dir_all(&run).map_err(|source| Fault::File { path: run, source })?;
        for said in [self.machine.boot(), self.machine.persist()] {
            assert_eq!(said.code, Some(0), "{said:?}");
        }
        self.now = disk(&self.machine)?;
        Ok(visible(&self.now))
    }
}

impl Judge for NextBoot<'_> {
    fn judge(&mut self, state: &State, shared: &Shared) -> Result<Option<String>, Fault> {
        let left = state.tree.below(self.recorded);
        let root = self.machine.path("");
        left.write(&root, &self.now).map_err(|source| Fault::File { path: root, source })?;
        self.now = left.clone();
        // Without the document at the next boot, what is there is the network.
        let whole = self.end.only(|path| left.0.contains_key(path));
        if let Some(difference) = visible(&left).difference(&whole) {
            return Ok(Some(format!("after the power cut {difference}")));
        }
        let after = self.boot()?;
        if let Some(difference) = after.difference(self.end) {
            return Ok(Some(format!("after the next boot {difference}")));
        }
        if !shared.is_new(self.now.digest()) {
            return Ok(None);
        }
        let again = self.boot()?.difference(&after);
        Ok(again.map(|difference| format!("a further boot is no repetition: {difference}")))
    }
}

#[tests::case]
fn the_next_boot_completes_what_a_power_cut_left() -> Result<(), Fault> {
    let machine = machine();
    machine.boot().exits(0);
    let mut persist = machine.command();
    persist.arg("--persist");
    let root = machine.path("").to_string_lossy().trim_end_matches('/').to_owned();
    let place = format!("{root}{PLACE}");
    let read = || Tree::read(Path::new("/"), &[&place]);
    let failed = |source| Fault::File { path: place.clone().into(), source };
    let start = read().map_err(failed)?;
    let trace = Trace::attach(&persist, &[])
        .unwrap_or_else(|fault| skip::part(&format!("strace: {fault}")));
    let (code, calls) = trace.finish()?;
    assert_eq!(code, Some(0));
    let recording = Recording::new(start.clone(), &[&place], &calls)?;
    let end = recording.end();
    assert_eq!(read().map_err(failed)?.difference(&end), None, "the recording misses a call");
    let end = end.below(&root);
    assert_eq!(visible(&end).difference(&end), None);

    let next_boot = || {
        let machine = self::machine();
        let now = disk(&machine)?;
        Ok(NextBoot { recorded: &root, end: &end, machine, now })
    };
    let report = campaign::run(&recording, 1000, next_boot)?;
    assert!(report.violations.is_empty(), "{}", report.text());
    assert!(report.states >= recording.length(), "only {} states", report.states);

    // Without the syncs the disk may keep anything of these calls.
    let careless: Vec<_> = calls.into_iter().filter(|call| call.name != "fsync").collect();
    let recording = Recording::new(start, &[&place], &careless)?;
    let is_noticed = campaign::is_noticed(&recording, next_boot)?;
    assert!(is_noticed, "nothing notices a program without syncs");
    Ok(())
}
