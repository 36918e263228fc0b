//! A campaign: nodes, one after the other or side by side, until the time is over.

use std::{
    fmt,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use super::{
    evidence,
    scene::{Counts, Scene},
    story::Story,
};
use crate::lab::{Case, Error, Lab};

/// Bound on one story.
const STORY: Duration = Duration::from_secs(2400);

/// A campaign: its seed, its nodes and its time.
#[derive(Debug, Clone, Copy)]
pub struct Campaign {
    /// The seed from which every story is drawn.
    pub seed: u64,
    /// The first node's number.
    pub first: u64,
    /// Time after which no further fault comes; `None`: one node, its whole story.
    pub time: Option<Duration>,
    /// Nodes at a time.
    pub jobs: u64,
    /// With faults of years.
    pub years: bool,
    /// Beside the suites' containers, in place of among them.
    pub own_places: bool,
}

/// The result.
#[derive(Debug, Default)]
pub struct Report {
    nodes: usize,
    counts: Counts,
    /// Nodes that broke a promise.
    pub lost: usize,
}

impl Campaign {
    /// Carries it out; `tell` gets each account for people. `None`: `LAB=off`.
    ///
    /// # Errors
    /// If the lab cannot run.
    pub fn run(&self, tell: impl Fn(&str) + Sync) -> Result<Report, Error> {
        let start = Instant::now();
        let (next, report) = (AtomicU64::new(self.first), Mutex::default());
        let left = || self.time.map_or(Duration::MAX, |time| time.saturating_sub(start.elapsed()));
        let nodes = |job: u64| self.nodes(job, &next, &report, &left, &tell);
        let jobs = if self.time.is_some() { self.jobs.max(1) } else { 1 };
        let ran = thread::scope(|scope| {
            let all: Vec<_> = (0..jobs).map(|job| scope.spawn(move || nodes(job))).collect();
            all.into_iter().map(|job| job.join()).collect::<Vec<_>>()
        });
        for result in ran {
            let result = result.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            result?;
        }
        Ok(report.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// One node after the other, at one place of the lab.
    fn nodes(
        &self,
        job: u64,
        next: &AtomicU64,
        report: &Mutex<Report>,
        left: &impl Fn() -> Duration,
        tell: &impl Fn(&str),
    ) -> Result<(), Error> {
        let lab = match self.own_places {
            true => Lab::open_named(&format!("dayone-soak{job}"))?,
            false => Lab::open()?,
        };
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let story = Story::new(self.seed, number, self.years);
            let node = story.kind.node();
            lab.run_within(STORY, node, &story.kind.peer(), |case| {
                let told = self.tell_story(case, number, &story, left, tell);
                report.lock().unwrap_or_else(PoisonError::into_inner).add(&told);
                Ok::<_, Error>(())
            })?;
            if self.time.is_none() || left().is_zero() {
                return Ok(());
            }
        }
    }

    fn tell_story(
        &self,
        case: &mut Case<'_>,
        number: u64,
        story: &Story,
        left: &impl Fn() -> Duration,
        tell: &impl Fn(&str),
    ) -> Report {
        let start = Instant::now();
        let mut scene = Scene::new(case, story.kind);
        // The story of one node is told while it goes on.
        let told = |scene: &Scene<'_, '_>| {
            if let (None, Some(line)) = (self.time, scene.log.last()) {
                tell(&format!("    {line}"));
            }
        };
        let mut result = scene.begin();
        told(&scene);
        for part in &story.parts {
            let left = left();
            if left.is_zero() || !matches!(result, Ok(None)) {
                break;
            }
            if left < part.takes() {
                continue;
            }
            scene.log.push(part.to_string());
            result = scene.part(part);
            told(&scene);
        }
        let end = match &result {
            Ok(None) => "held".to_owned(),
            Ok(Some(broken)) => format!("LOST: {broken}"),
            Err(error) => format!("LOST: {error:?}"),
        };
        let name = format!("node {number} ({})", story.kind);
        // One text, since another node's account may come at the same time.
        let mut account = vec![format!("{name}: {}, {:.0?}: {end}", scene.counts, start.elapsed())];
        let is_lost = end != "held";
        if is_lost {
            if self.time.is_some() {
                account.extend(scene.log.iter().map(|line| format!("    {line}")));
            }
            scene.log.push(end);
            account.push(match evidence::keep(scene.case(), self.seed, number, &scene.log) {
                Ok(directory) => format!("    its state is in {}", directory.display()),
                Err(error) => format!("    its state cannot be kept: {error}"),
            });
            let without = if self.years { "" } else { " YEARS=off" };
            account.push(format!("    again: SEED={} CASE={number}{without} make soak", self.seed));
        }
        tell(&account.join("\n"));
        Report { nodes: 1, counts: scene.counts, lost: usize::from(is_lost) }
    }
}

impl Report {
    fn add(&mut self, other: &Self) {
        self.nodes += other.nodes;
        self.counts.add(other.counts);
        self.lost += other.lost;
    }
}

impl Counts {
    fn add(&mut self, other: Self) {
        self.faults += other.faults;
        self.cuts += other.cuts;
        self.mended += other.mended;
        self.missed += other.missed;
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { faults, cuts, mended, missed } = self;
        write!(
            f,
            "{faults} faults, of them {cuts} power cuts; {mended} mended by the next start, {missed} missed"
        )
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} nodes; {}; {} lost", self.nodes, self.counts, self.lost)
    }
}
