//! The story of one node, drawn from the seed.

use std::{fmt, time::Duration};

use super::{
    fault::{Fault, Process},
    life::Chapter,
    node::{Document, Kind},
    random::Random,
};

/// Parts of a story.
const PARTS: usize = 10;
/// Time of a chapter, and of one whose faults stay for three attempts.
const SHORT: Duration = Duration::from_secs(30);
const LONG: Duration = Duration::from_secs(180);

/// Works and faults of a node, from its first boot on.
#[derive(Debug, PartialEq)]
pub(super) struct Story {
    pub(super) kind: Kind,
    pub(super) parts: Vec<Part>,
}

/// A part of a story.
#[derive(Debug, PartialEq)]
pub(super) enum Part {
    /// An hour: faults meet a work.
    Step(Step),
    /// Years: faults that outlast a boot.
    Chapter(Chapter),
}

/// A work, and the faults that meet it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) work: Work,
    /// They come together.
    pub(super) faults: Vec<Fault>,
    /// When they come, in thousandths of the time that the work takes without a fault.
    pub(super) moment: u32,
    /// How long those last that last.
    pub(super) lasts: Duration,
    /// Power cuts in the boots that follow, in thousandths of a boot.
    pub(super) cuts: Vec<u32>,
    /// With load on the host.
    pub(super) load: bool,
}

/// A work of the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Work {
    /// None: the network is in force.
    Idle,
    /// A boot after a shutdown.
    Reboot,
    /// A boot after a power cut.
    Boot,
    /// Another document, which is applied at once.
    Apply(Document),
    /// The automatic bridge is made again.
    Bridge,
}

impl Story {
    /// The story of the node with this number.
    pub(super) fn new(seed: u64, case: u64, years: bool) -> Self {
        let mut random = Random::new(seed, case);
        let kind = Kind::of(case);
        let mut document = Document::Second;
        let parts = (0..PARTS).map(|_| match years && random.is_chosen(50) {
            true => Part::Chapter(Chapter::new(kind, &mut document, &mut random)),
            false => Part::Step(Step::new(kind, &mut document, &mut random)),
        });
        Self { kind, parts: parts.collect() }
    }
}

impl Step {
    /// `document` is the node's, until this step applies another one.
    fn new(kind: Kind, document: &mut Document, random: &mut Random) -> Self {
        let work = Work::new(kind, *document, random);
        if let Work::Apply(other) = work {
            *document = other;
        }
        let mut faults = vec![fault(work, random)];
        if random.is_chosen(25) {
            let second = fault(work, random);
            // At the same moment: a power cut ends everything else.
            if second != faults[0] && !faults.contains(&Fault::PowerCut) {
                faults.push(second);
            }
        }
        let cuts = match faults.contains(&Fault::PowerCut) {
            true => (0..random.below(7)).map(|_| random.below(1100)).collect(),
            false => Vec::new(),
        };
        Self {
            work,
            faults,
            moment: random.below(1100),
            lasts: Duration::from_millis(u64::from(500 + random.below(4000))),
            cuts,
            load: random.is_chosen(25),
        }
    }
}

impl Work {
    fn new(kind: Kind, document: Document, random: &mut Random) -> Self {
        let change = Self::change(kind, document, random);
        match random.below(100) {
            0..15 => Self::Idle,
            15..20 => Self::Reboot,
            20..50 => Self::Boot,
            _ => change,
        }
    }

    /// A transaction.
    pub(super) fn change(kind: Kind, document: Document, random: &mut Random) -> Self {
        let other = match document {
            Document::First => Document::Second,
            Document::Second | Document::Refused => Document::First,
        };
        match kind.has_document() {
            true if random.is_chosen(25) => Self::Apply(Document::Refused),
            true => Self::Apply(other),
            false => Self::Bridge,
        }
    }
}

impl Part {
    /// Time that has to be left for it: a campaign ends soon after its time.
    pub(super) fn takes(&self) -> Duration {
        match self {
            Self::Chapter(chapter) if chapter.is_long() => LONG,
            Self::Chapter(_) => SHORT,
            Self::Step(_) => Duration::ZERO,
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Step(step) => step.fmt(f),
            Self::Chapter(chapter) => chapter.fmt(f),
        }
    }
}

/// A fault that can hit this work.
fn fault(work: Work, random: &mut Random) -> Fault {
    if work != Work::Idle && random.is_chosen(50) {
        return Fault::PowerCut;
    }
    loop {
        let number = random.below(12);
        let fault = match random.below(14) {
            0 => Fault::Kill(Process::Agent),
            1 => Fault::Kill(Process::NetworkManager),
            2 => Fault::Kill(Process::OvsdbServer),
            3 => Fault::Kill(Process::OvsVswitchd),
            4 => Fault::Kill(Process::Dbus),
            5 => Fault::Stop(match number % 2 {
                0 => Process::NetworkManager,
                _ => Process::OvsVswitchd,
            }),
            6 => Fault::CableOut,
            7 => Fault::LinkDown,
            8 => Fault::AddressesFlushed,
            9 => Fault::ProfileDeleted(number),
            10 => Fault::FileRemoved(number),
            11 => Fault::BridgeDeleted,
            12 => Fault::ApiAway,
            _ => match number % 2 {
                0 => Fault::DiskFull,
                _ => Fault::ClockJump(random.one_of(&[-100_000, -1, 1, 100_000])),
            },
        };
        if work != Work::Idle || fault != Fault::Kill(Process::Agent) {
            return fault;
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.work)?;
        if self.load {
            f.write_str(", under load")?;
        }
        let faults: Vec<String> = self.faults.iter().map(ToString::to_string).collect();
        write!(f, "; at {} of 1000: {}", self.moment, faults.join(" and "))?;
        if self.faults.iter().any(|fault| fault.lasts()) {
            write!(f, " for {} ms", self.lasts.as_millis())?;
        }
        for moment in &self.cuts {
            write!(f, "; next boot, at {moment} of 1000: power cut")?;
        }
        Ok(())
    }
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Idle => f.write_str("idle"),
            Self::Reboot => f.write_str("reboot"),
            Self::Boot => f.write_str("power cut and boot"),
            Self::Apply(document) => write!(f, "apply {document}"),
            Self::Bridge => f.write_str("br-ex made again"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_seed_and_a_number_tell_the_same_story() {
        assert_eq!(Story::new(7, 3, true), Story::new(7, 3, true));
        assert_ne!(Story::new(7, 3, true).parts, Story::new(8, 3, true).parts);
        assert_ne!(Story::new(7, 3, true).parts, Story::new(7, 3 + Kind::ALL, true).parts);
    }

    #[test]
    fn every_fault_and_every_work_occurs() {
        let name = |text: String| {
            let is_number = |c: char| c.is_ascii_digit() || c == '-';
            text.split(is_number).next().unwrap_or_default().to_owned()
        };
        let (mut faults, mut works) = (BTreeSet::new(), BTreeSet::new());
        for part in (0..60).flat_map(|case| Story::new(1, case, false).parts) {
            let Part::Step(step) = part else { continue };
            faults.extend(step.faults.iter().map(|fault| name(format!("{fault:?}"))));
            works.insert(name(format!("{:?}", step.work)));
        }
        assert_eq!(faults.len(), 17, "{faults:?}");
        // Each of the three documents is a work.
        assert_eq!(works.len(), 7, "{works:?}");
    }
}
