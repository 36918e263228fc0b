//! A story is carried out on a node.

mod begin;
mod hold;
mod years;

use std::{
    fs, thread,
    time::{Duration, Instant},
};

use super::{
    fault::Fault,
    invariant::Broken,
    life::Version,
    load::Load,
    machine::Machine,
    node::{Document, Kind},
    story::{Part, Step, Work},
};
use crate::{
    dayone::remove_bridge,
    lab::{Case, Error},
};

/// Bound on a decision of the agent, with its pauses and the roll backs between them.
const DECISION: Duration = Duration::from_secs(240);
/// Bound after a fault of years: the agent's longest pause, and an attempt.
const RECOVERY: Duration = Duration::from_secs(420);
/// Bound on an account of a node on a busy host.
pub(super) const ACCOUNT: Duration = Duration::from_secs(120);

/// Events of a node's story.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Counts {
    pub(super) faults: usize,
    pub(super) cuts: usize,
    /// Starts of the agent, and boots, that damage from outside made necessary.
    pub(super) mended: usize,
    /// Faults that found nothing to hit.
    pub(super) missed: usize,
}

/// A node in the middle of its story.
#[derive(Debug)]
pub(super) struct Scene<'s, 'lab> {
    case: &'s mut Case<'lab>,
    kind: Kind,
    machine: Machine,
    /// The machine that the disk was copied from.
    seed: Option<Machine>,
    /// The document of the deployment that was kept.
    kept: Option<Document>,
    /// The version of the agent that the node has.
    version: Version,
    /// The node's document.
    document: Document,
    /// The one in force, or the last good one.
    committed: Document,
    /// Time of a boot, and of a transaction, without a fault.
    boot: Duration,
    transaction: Duration,
    is_off: bool,
    is_booting: bool,
    /// When damage came last, on the clock of systemd's times.
    damage: Option<Duration>,
    /// Since then the profiles may be others.
    other_profiles: bool,
    /// Faults of this boot that keep other units from their work.
    others_fail: bool,
    pub(super) counts: Counts,
    pub(super) log: Vec<String>,
}

impl<'s, 'lab> Scene<'s, 'lab> {
    pub(super) fn new(case: &'s mut Case<'lab>, kind: Kind) -> Self {
        Self {
            case,
            kind,
            machine: Machine::default(),
            seed: None,
            kept: None,
            version: Version::This,
            document: Document::First,
            committed: Document::First,
            boot: Duration::ZERO,
            transaction: Duration::ZERO,
            is_off: true,
            is_booting: false,
            damage: None,
            other_profiles: false,
            others_fail: false,
            counts: Counts::default(),
            log: Vec::new(),
        }
    }

    /// The node, for whoever looks at it afterwards.
    pub(super) fn case(&self) -> &Case<'lab> {
        self.case
    }

    /// The first boot and a transaction, both without a fault: their times are the measure of moments.
    pub(super) fn begin(&mut self) -> Result<Option<Broken>, Error> {
        let start = Instant::now();
        self.power_on()?;
        if let Some(broken) = self.hold()? {
            return Ok(Some(broken));
        }
        self.boot = start.elapsed();
        let work = match self.kind.has_document() {
            true => Work::Apply(Document::Second),
            false => Work::Bridge,
        };
        let start = Instant::now();
        self.work(work)?;
        self.wait_decided(DECISION)?;
        self.transaction = start.elapsed();
        self.log.push(format!(
            "without a fault: boot {:.1?}, transaction {:.1?}",
            self.boot, self.transaction
        ));
        self.hold()
    }

    /// Carries a part of the story out. `Some`: the promise that was broken.
    pub(super) fn part(&mut self, part: &Part) -> Result<Option<Broken>, Error> {
        let start = Instant::now();
        let broken = match part {
            Part::Step(step) => self.step(step),
            Part::Chapter(chapter) => self.chapter(chapter),
        }?;
        self.say(&format!("{:.1?}", start.elapsed()));
        Ok(broken)
    }

    fn step(&mut self, step: &Step) -> Result<Option<Broken>, Error> {
        let load = step.load.then(Load::start).flatten();
        let whole = match step.work {
            Work::Idle => Duration::ZERO,
            Work::Reboot | Work::Boot => self.boot,
            Work::Apply(_) | Work::Bridge => self.transaction,
        };
        self.work(step.work)?;
        pass(whole, step.moment);
        self.strike(step)?;
        for moment in &step.cuts {
            self.power_on()?;
            pass(self.boot, *moment);
            self.cut_power()?;
        }
        if self.is_off {
            self.power_on()?;
        }
        for fault in &step.faults {
            fault.end(self.case, step.faults.contains(&Fault::PowerCut))?;
        }
        let broken = self.hold()?;
        drop(load);
        Ok(broken)
    }

    /// Adds to the account of the step.
    fn say(&mut self, text: &str) {
        match self.log.last_mut() {
            Some(last) => *last = format!("{last}; {text}"),
            None => self.log.push(text.to_owned()),
        }
    }

    /// Starts a work and returns at once.
    fn work(&mut self, work: Work) -> Result<(), Error> {
        match work {
            Work::Idle => {}
            Work::Reboot => {
                if self.case.shut_down().is_err() {
                    self.say("the shutdown did not end: power cut");
                    self.case.cut_power()?;
                }
                self.is_off = true;
                self.power_on()?;
            }
            Work::Boot => {
                self.cut_power()?;
                self.power_on()?;
            }
            Work::Apply(document) => {
                self.document = document;
                let text = self.kind.text(self.machine, document);
                self.case.inside()?.write(&self.machine.host_file(), &text)?;
                self.start("dayone.service")?;
            }
            Work::Bridge => {
                let inside = self.case.inside()?;
                // The fault before may have killed it.
                inside.wait_unit("NetworkManager.service", "active", DECISION)?;
                remove_bridge(&inside)?;
                inside.sh("rm -f /run/configure-ovs-boot-done /run/dayone/bridge.json")?;
                self.start("dayone-bridge.service")?;
            }
        }
        Ok(())
    }

    fn start(&self, unit: &str) -> Result<(), Error> {
        let restart = format!(
            "systemctl stop {unit}; systemctl reset-failed {unit} 2>/dev/null || :; systemctl start --no-block {unit}"
        );
        self.case.inside()?.sh(&restart)?;
        Ok(())
    }

    fn strike(&mut self, step: &Step) -> Result<(), Error> {
        for fault in &step.faults {
            if *fault == Fault::PowerCut {
                self.cut_power()?;
                continue;
            }
            if !fault.begin(self.case)? {
                self.counts.missed += 1;
                self.say(&format!("{fault}: nothing to hit"));
                continue;
            }
            self.counts.faults += 1;
            self.others_fail |= fault.fails_others();
            self.other_profiles |= fault.changes_profiles();
            if fault.damages() {
                self.damage = Some(uptime());
            }
        }
        if step.faults.iter().any(|fault| fault.lasts()) {
            thread::sleep(step.lasts);
            for fault in step.faults.iter().filter(|fault| !self.is_off && fault.lasts()) {
                fault.end(self.case, false)?;
                if fault.damages() {
                    self.damage = Some(uptime());
                }
            }
        }
        Ok(())
    }

    fn cut_power(&mut self) -> Result<(), Error> {
        self.case.cut_power()?;
        self.counts.faults += 1;
        self.counts.cuts += 1;
        self.is_off = true;
        Ok(())
    }

    fn power_on(&mut self) -> Result<(), Error> {
        self.case.power_on()?;
        (self.is_off, self.is_booting, self.others_fail) = (false, true, false);
        Ok(())
    }
}

/// Lets a part of a work pass, in thousandths.
fn pass(whole: Duration, part: u32) {
    thread::sleep(whole * part / 1000);
}

/// The present time on the clock of systemd's times.
fn uptime() -> Duration {
    let text = fs::read_to_string("/proc/uptime").unwrap_or_default();
    let seconds = text.split(' ').next().and_then(|text| text.parse().ok());
    Duration::from_secs_f64(seconds.unwrap_or_default())
}
