//! Random histories of a boot: links come and go, servers fall silent, documents fail and change, the agent is killed. The attempts
//! are as the transaction makes them, over the same memory, questions, decision and pace.

use std::{collections::BTreeMap, sync::LazyLock, time::Duration};

use crate::{
    error::Error,
    model::{Before, Family, Gateway, Lead, ProbeResult, Route, memory::Memory},
    paths::Paths,
    probe::{self, Probe},
    run::{
        decision::{AttemptEnd, AttemptKind, BootFacts, Caller, Decision, Fallback, decide},
        retry::{DOCUMENT, Pace, is_hopeless},
    },
    settings::{OnFailure, Probes},
    status::phase::Phase,
    transaction::{Failure, PhaseError},
};

const SECOND: Duration = Duration::from_secs(1);
/// `wait.answer`, and what an attempt takes at most.
const BOUND: Duration = Duration::from_secs(900);
const ATTEMPT: Duration = Duration::from_secs(60);
/// Histories in the suite; `HISTORIES` is another number.
const HISTORIES: u64 = 10_000;

/// splitmix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Whether one of `of` equal chances comes true.
    fn one_in(&mut self, of: u64) -> bool {
        self.next().is_multiple_of(of)
    }
}

/// What a document does to the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Document {
    Good,
    /// Its address does not reach the API.
    CutOff,
    /// br-ex is on the storage card.
    OnStorage,
}

/// The node and what it reaches.
#[derive(Clone, Debug)]
struct World {
    api: bool,
    gateways: [bool; 2],
    links: [bool; 2],
    /// The metrics of the old network's default routes on eno1, which leads to the API, and on the storage card.
    metrics: [u32; 2],
    document: Document,
    has_last_good: bool,
}

const LINKS: [&str; 2] = ["eno1", "eno2"];
const BEST: World = World {
    api: true,
    gateways: [true; 2],
    links: [true; 2],
    metrics: [100, 101],
    document: Document::Good,
    has_last_good: false,
};

impl World {
    fn routes(&self) -> Vec<Route> {
        let there = LINKS.iter().zip(self.links).zip(self.metrics).filter(|((_, up), _)| *up);
        there
            .map(|((link, _), metric)| Route {
                gateway: std::net::Ipv4Addr::new(192, 0, 2, 1).into(),
                family: Family::Ipv4,
                index: 1,
                link: (*link).to_owned(),
                metric,
                is_advertised: false,
            })
            .collect()
    }

    fn before(&self) -> Before {
        let routes = self.routes();
        let gateway = |route: &Route| Gateway { link: Some(route.link.clone()), ip: route.gateway };
        let gateways = routes.iter().map(gateway).collect();
        Before { gateways, leads: Lead::of(&routes), ..Before::default() }
    }

    /// The link that leads out of the old network.
    fn leading(&self) -> Option<usize> {
        (0..2).filter(|link| self.links[*link]).min_by_key(|link| self.metrics[*link])
    }

    /// Whether a probe is answered through this link; any link has its gateway.
    fn answers(&self, probe: &str, out: Option<usize>) -> bool {
        match (probe, out) {
            (_, None) => false,
            ("api", Some(out)) => self.api && out == 0 && self.links[0],
            (_, Some(out)) => self.links[out] && self.gateways[out],
        }
    }

    fn ask(&self, probes: &[Probe], is_changed: bool) -> Vec<ProbeResult> {
        let out = match (is_changed, self.document) {
            (false, _) => self.leading(),
            (true, Document::OnStorage) => Some(1),
            (true, Document::Good | Document::CutOff) => Some(0),
        };
        let is_cut_off = is_changed && self.document == Document::CutOff;
        let of = |probe: &Probe| ProbeResult {
            ok: self.answers(&probe.name, out) && !(is_cut_off && probe.name == "api"),
            name: probe.name.clone(),
            detail: String::new(),
            warning: None,
            link: None,
            milliseconds: 0,
        };
        probes.iter().map(of).collect()
    }

    /// Something happens.
    fn change(&mut self, random: &mut Random) {
        let link = usize::from(random.one_in(2));
        match random.next() % 6 {
            0 | 1 => self.api = !self.api,
            2 => self.gateways[link] = !self.gateways[link],
            3 => self.links[link] = !self.links[link],
            4 => self.metrics.swap(0, 1),
            _ => {}
        }
    }
}

/// The probes of the API and of a gateway.
static PLAN: LazyLock<Vec<Probe>> = LazyLock::new(|| {
    let settings = Probes { api_address: Some("api:6443".to_owned()), ..Probes::default() };
    let mut plan = probe::plan(&settings, &[], &[], &Paths::new("/nowhere"));
    plan.retain(|probe| ["api", "IPv4 gateway"].contains(&probe.name.as_str()));
    plan
});

/// A boot, and what an observer knows of it.
struct Boot {
    now: Duration,
    memory: Memory,
    failures: u32,
    counted: u32,
    /// The number of documents so far, as the digest of the last one.
    documents: u32,
    /// Whether the last roll back has failed.
    is_lost: bool,
    /// The probes that the old network has answered, with the time since when it does not any more.
    answered: BTreeMap<String, Option<Duration>>,
}

/// What an attempt has come to.
enum Attempted {
    /// With what the network in force answers, unless it is the last good one.
    Starts(Option<Vec<ProbeResult>>),
    Waits(Error),
}

impl Boot {
    /// An observer hears the old network with every answer that the agent asks for.
    fn observe(&mut self, answers: &[ProbeResult]) {
        for answer in answers {
            match (answer.ok, self.answered.get_mut(&answer.name)) {
                (true, _) => drop(self.answered.insert(answer.name.clone(), None)),
                (false, Some(since)) => drop(since.get_or_insert(self.now)),
                (false, None) => {}
            }
        }
    }

    /// Whether the network in force may be without this answer: this boot never had it, or has not for the time of the bound.
    fn may_lack(&self, name: &str) -> bool {
        let is_old = |since: Duration| self.now.saturating_sub(since) >= BOUND;
        self.answered.get(name).is_none_or(|since| since.is_some_and(is_old))
    }

    /// Somebody writes another document: in a pause, or while the agent does not run.
    fn document_changes(&mut self, is_in_a_pause: bool) {
        self.documents += 1;
        (self.failures, self.counted) = (0, 0);
        if is_in_a_pause {
            self.memory.forget();
            self.is_lost = false;
        }
        if !self.is_lost {
            self.answered.clear();
        }
    }

    /// One attempt, in which `random` changes the world.
    fn attempt(&mut self, world: &mut World, random: &mut Random, is_calm: bool) -> Attempted {
        let plan = &*PLAN;
        let mut before = world.before();
        let heard = world.ask(&probe::baseline(plan), false);
        self.observe(&heard);
        self.memory.begin(Some(&self.documents.to_string()));
        self.memory.hear(&heard, self.now);
        self.memory.give_up(self.now, BOUND);
        let best = self.memory.best(&heard);
        before.leads = self.memory.leads(before.leads);
        let is_killed = !is_calm && random.one_in(8);
        if is_killed {
            // The file is all that is left, and the next run undoes the change.
            self.memory = reread(&self.memory);
            return Attempted::Waits(rolled_back(PhaseError::Stopped));
        }
        if !is_calm {
            world.change(random);
        }
        self.now += ATTEMPT / 2;
        let after = world.ask(&probe::decisive(plan, &best, &[]), true);
        let failed: Vec<ProbeResult> = after.iter().filter(|result| !result.ok).cloned().collect();
        let fails_otherwise = !is_calm && random.one_in(6);
        if failed.is_empty() && !fails_otherwise {
            self.memory.commit(&after, self.now);
            return Attempted::Starts(Some(world.ask(plan, true)));
        }
        self.now += ATTEMPT / 2;
        // NetworkManager numbers the metrics anew; a reapply puts the leader right, or fails.
        world.metrics.swap(0, 1);
        let is_right = is_calm || !random.one_in(4);
        if is_right && !before.lost_leads(&world.routes()).is_empty() {
            world.metrics.swap(0, 1);
        }
        let is_proved = before.lost_leads(&world.routes()).is_empty();
        self.memory.roll_back(&before.leads, is_proved);
        self.is_lost = !is_proved;
        let source = match is_proved && !failed.is_empty() {
            true => self.control(world, plan, failed),
            false => PhaseError::TimedOut(SECOND),
        };
        self.counted += u32::from(!matches!(source, PhaseError::Unproved(_)));
        let gateway = world.ask(plan, false).iter().any(|result| result.name != "api" && result.ok);
        let fallback = match world.has_last_good && is_proved && gateway {
            true => Fallback::LastGood(String::new()),
            false => Fallback::None,
        };
        let error = match is_proved {
            true => rolled_back(source),
            false => {
                let (phase, source) = (Phase::Probe, Box::new(source));
                let roll_back = Box::new(PhaseError::TimedOut(SECOND));
                let roll_back_phase = Phase::Restored;
                Failure::RollBackFailed { phase, source, roll_back_phase, roll_back }.into()
            }
        };
        self.decided(AttemptEnd::Failed { error, fallback })
    }

    fn control(&mut self, world: &World, plan: &[Probe], failed: Vec<ProbeResult>) -> PhaseError {
        let answers = world.ask(&probe::control(plan, &failed), false);
        self.observe(&answers);
        self.memory.hear(&answers, self.now);
        let answering =
            answers.iter().filter(|answer| answer.ok).map(|answer| answer.name.as_str());
        self.memory.refuse(answering);
        match answers.iter().all(|answer| !answer.ok) {
            true => PhaseError::Unproved(failed),
            false => PhaseError::Probes(failed),
        }
    }

    fn decided(&self, end: AttemptEnd) -> Attempted {
        let (kind, caller) = (AttemptKind::Document, Caller::Service);
        let on_failure = OnFailure::Fail;
        let facts = BootFacts { kind, caller, end: &end, on_failure, is_stopped: false };
        match (decide(&facts), end) {
            (Decision::Release(_), _) => Attempted::Starts(None),
            (Decision::Hold(_), AttemptEnd::Failed { error, .. }) => Attempted::Waits(error),
            (Decision::Hold(_), _) => unreachable!("a success holds nothing"),
        }
    }

    /// The pause after a failure. A document that is given up is tried on where an answer has refused it.
    fn pause(&mut self, error: &Error, pace: &Pace) -> Duration {
        self.failures += 1;
        let given_up = || self.counted >= 3;
        if given_up() && !self.memory.has_refused() {
            // As without a memory: a change of the input, or a network that has grown, ends it.
            self.counted = 0;
            return pace.longest;
        }
        let pause = if given_up() { pace.longest } else { pace.pause(error, self.failures) };
        assert!(!is_hopeless(error));
        pause.min(self.memory.patience(self.now, BOUND).unwrap_or(Duration::MAX).max(pace.first))
    }
}

fn rolled_back(source: PhaseError) -> Error {
    Failure::RolledBack { phase: Phase::Probe, source: Box::new(source) }.into()
}

/// A restarted agent reads the file.
fn reread(memory: &Memory) -> Memory {
    let text = serde_json::to_string(memory).expect("it can be written");
    serde_json::from_str(&text).expect("it can be read")
}

impl Document {
    fn drawn(random: &mut Random) -> Self {
        match random.next() % 4 {
            0 => Self::CutOff,
            1 => Self::OnStorage,
            _ => Self::Good,
        }
    }
}

fn history(seed: u64) {
    let mut random = Random(seed);
    let mut world = World {
        api: !random.one_in(4),
        document: Document::drawn(&mut random),
        has_last_good: random.one_in(3),
        ..BEST
    };
    let mut boot = Boot {
        now: SECOND * 20,
        memory: Memory::default(),
        failures: 0,
        counted: 0,
        documents: 0,
        is_lost: false,
        answered: BTreeMap::new(),
    };
    let events = random.next() % 12;
    // The network returns to its best, or the API never comes back.
    let returns = !random.one_in(3);
    let mut calm_since = None;
    for count in 0.. {
        let is_calm = count >= events;
        if is_calm && calm_since.is_none() {
            let World { document, has_last_good, .. } = world;
            world = World { api: returns, document, has_last_good, ..BEST };
            calm_since = Some(boot.now);
        }
        let error = match boot.attempt(&mut world, &mut random, is_calm) {
            Attempted::Starts(Some(answers)) => {
                for answer in answers.iter().filter(|answer| !answer.ok) {
                    let name = &answer.name;
                    assert!(boot.may_lack(name), "history {seed}: in force without {name}");
                }
                return;
            }
            // The last good network carries the node.
            Attempted::Starts(None) => {
                assert!(world.has_last_good, "history {seed}");
                return;
            }
            Attempted::Waits(error) => error,
        };
        let pause = boot.pause(&error, &DOCUMENT);
        boot.now += pause;
        if let Some(since) = calm_since {
            let bound = BOUND + DOCUMENT.longest + ATTEMPT * 4;
            let waited = boot.now.saturating_sub(since);
            match world.document != Document::Good && world.api {
                // A document that cuts the node off stays out while the old network has the API: somebody corrects it.
                true if waited > bound => {
                    world.document = Document::Good;
                    boot.document_changes(random.one_in(2));
                    calm_since = Some(boot.now);
                }
                true => {}
                false => {
                    assert!(waited <= bound, "history {seed}: kubelet waits for {waited:?}");
                }
            }
        } else {
            world.change(&mut random);
            if random.one_in(6) {
                world.document = Document::drawn(&mut random);
                boot.document_changes(random.one_in(2));
            }
        }
    }
}

/// Within one boot no sequence of attempts puts a network in force that reaches less than the best of this boot, and each of them
/// ends within the bounds.
#[test]
fn no_history_of_a_boot_loses_what_it_had_or_waits_for_ever() {
    let number = std::env::var("HISTORIES").ok().and_then(|value| value.parse().ok());
    for seed in 0..number.unwrap_or(HISTORIES) {
        history(seed);
    }
}
