//! A campaign: nodes, one after the other, until the time is over.

use std::{
    fmt,
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

/// What to do.
#[derive(Debug, Clone, Copy)]
pub struct Campaign {
    /// From which every story is drawn.
    pub seed: u64,
    /// The first node's number.
    pub first: u64,
    /// Time after which no further fault comes; `None`: one node, its whole story.
    pub time: Option<Duration>,
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
    /// Carries it out; `tell` gets each line for people. `None`: `LAB=off`.
    ///
    /// # Errors
    /// If the lab cannot run.
    pub fn run(&self, tell: impl Fn(&str)) -> Result<Option<Report>, Error> {
        let Some(lab) = Lab::open()? else { return Ok(None) };
        let start = Instant::now();
        let mut report = Report::default();
        let is_over = || self.time.is_some_and(|time| start.elapsed() >= time);
        for number in self.first.. {
            let story = Story::new(self.seed, number);
            let node = story.kind.node();
            lab.run_within(STORY, node, &story.kind.peer(), |case| {
                self.tell_story(case, number, &story, &mut report, &is_over, &tell);
                Ok::<_, Error>(())
            })?;
            if self.time.is_none() || is_over() {
                break;
            }
        }
        Ok(Some(report))
    }

    fn tell_story(
        &self,
        case: &mut Case<'_>,
        number: u64,
        story: &Story,
        report: &mut Report,
        is_over: &impl Fn() -> bool,
        tell: &impl Fn(&str),
    ) {
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
        for step in &story.steps {
            if is_over() || !matches!(result, Ok(None)) {
                break;
            }
            scene.log.push(step.to_string());
            result = scene.step(step);
            told(&scene);
        }
        report.nodes += 1;
        report.counts.add(scene.counts);
        let end = match &result {
            Ok(None) => "held".to_owned(),
            Ok(Some(broken)) => format!("LOST: {broken}"),
            Err(error) => format!("LOST: {error:?}"),
        };
        let name = format!("node {number} ({})", story.kind);
        tell(&format!("{name}: {}, {:.0?}: {end}", scene.counts, start.elapsed()));
        let is_lost = end != "held";
        if is_lost && self.time.is_some() {
            scene.log.iter().for_each(|line| tell(&format!("    {line}")));
        }
        if is_lost {
            report.lost += 1;
            scene.log.push(end);
            match evidence::keep(scene.case(), self.seed, number, &scene.log) {
                Ok(directory) => tell(&format!("    its state is in {}", directory.display())),
                Err(error) => tell(&format!("    its state cannot be kept: {error}")),
            }
            tell(&format!("    again: SEED={} CASE={number} make soak", self.seed));
        }
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
