//! The transaction over a fake network that fails or hangs at every step.

use std::{cell::RefCell, path::PathBuf, time::Duration};

use tokio::sync::watch;

use super::{BridgeChange, Change, DocumentChange, Failure, PhaseError, Probed, Transaction};
use crate::{
    bridge::plan::BridgePlan,
    client::dbus::BusError,
    document::Document,
    document::digest::Digest,
    document::service_files::{ServiceFile, ServiceFiles},
    durable::journal,
    durable::record::Record,
    model::{
        Before, Checkpoint, Family, Gateway, ProbeResult, ProfileRef, Uplinks, Wants, WayBack,
    },
    network::takeover::Leftovers,
    network::{Network, NetworkError, Undone},
    paths::Paths,
    probe::Probe,
    settings::{Policy, Settings},
    state::{Parsed, State},
    status::{phase::Phase, progress::Progress, trial::TrialFile},
};

/// A step of the fake network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Released,
    Ready,
    Captured,
    Current,
    ResolveLinks,
    Snapshot,
    Baseline,
    Leftovers,
    Checkpoint,
    TakeOver,
    Apply,
    ApplyProfiles,
    Verify,
    VerifyProfiles,
    ReturnPatchPorts,
    Probe,
    Uplinks,
    Commit,
    RollBack,
    UndoBridges,
    Reload,
    Reapply,
    UndoHostname,
    Restart,
    Restored,
}

const BEFORE_CHANGE: [Step; 5] =
    [Step::Released, Step::Ready, Step::ResolveLinks, Step::Snapshot, Step::Leftovers];
const CHANGE: [Step; 7] = [
    Step::Checkpoint,
    Step::TakeOver,
    Step::Apply,
    Step::Verify,
    Step::ReturnPatchPorts,
    Step::Uplinks,
    Step::Commit,
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    Fails,
    Hangs,
}

/// Records the calls, and fails or hangs at configured steps.
#[derive(Default)]
struct Fake {
    faults: Vec<(Step, How)>,
    /// Names of the probes without an answer, before or after.
    deaf_before: Vec<&'static str>,
    deaf_after: Vec<&'static str>,
    steps: RefCell<Vec<Step>>,
    uplinks: Uplinks,
    /// The old network does not come back without a restart of NetworkManager.
    stuck: bool,
    /// NetworkManager has started anew, without the transaction's checkpoint.
    checkpoint_is_lost: bool,
    /// Devices that NetworkManager does not roll back.
    refused: Vec<String>,
    /// The devices reapply their profiles in a roll back.
    reapplies: bool,
    /// The profile that the change writes.
    profile: RefCell<PathBuf>,
    /// Sends the stop signal at this step.
    stop_at: Option<(Step, watch::Sender<bool>)>,
}

impl Fake {
    fn with(faults: &[(Step, How)]) -> Self {
        Self { faults: faults.to_vec(), ..Self::default() }
    }

    async fn step(&self, step: Step) -> Result<(), NetworkError> {
        self.steps.borrow_mut().push(step);
        if let Some((at, stop)) = &self.stop_at
            && *at == step
        {
            let _ = stop.send(true);
            std::future::pending::<()>().await;
        }
        match self.faults.iter().find(|(s, _)| *s == step) {
            Some((_, How::Fails)) => Err(BusError::Closed.into()),
            Some((_, How::Hangs)) => std::future::pending().await,
            None => Ok(()),
        }
    }

    /// A step of the change, which leaves its profile behind.
    async fn changes(&self, step: Step) -> Result<(), NetworkError> {
        let written = std::fs::write(&*self.profile.borrow(), "new");
        assert!(written.is_ok(), "{written:?}");
        self.step(step).await
    }

    fn did(&self, step: Step) -> bool {
        self.steps.borrow().contains(&step)
    }
}

fn card() -> Result<State, NetworkError> {
    let card = "interfaces: [{name: eno1, type: ethernet, state: up}]";
    Ok(Parsed::new(card)?.resolve(None)?)
}

impl Network for Fake {
    async fn released(
        &self,
        _: Option<&[String]>,
        _: &dyn Fn(&str, Duration),
    ) -> Result<(), NetworkError> {
        self.step(Step::Released).await
    }
    async fn ready(&self, _: &Wants, _: &dyn Fn(&str, Duration)) -> Result<(), NetworkError> {
        self.step(Step::Ready).await
    }
    async fn captured(
        &self,
        _: &Parsed,
        _: &dyn Fn(&str, Duration),
    ) -> Result<State, NetworkError> {
        self.step(Step::Captured).await?;
        card()
    }
    async fn current(&self) -> Result<State, NetworkError> {
        self.step(Step::Current).await?;
        card()
    }
    async fn resolve_links(&self, desired: State) -> Result<State, NetworkError> {
        self.step(Step::ResolveLinks).await?;
        Ok(desired)
    }
    async fn snapshot(&self, _: &Wants, way_back: WayBack) -> Result<Before, NetworkError> {
        self.step(Step::Snapshot).await?;
        let ip = std::net::Ipv4Addr::new(192, 0, 2, 1).into();
        let WayBack { checkpoint_seconds, reapply } = way_back;
        let gateways = vec![Gateway { link: None, ip }];
        let reapply = reapply || self.reapplies;
        Ok(Before { gateways, checkpoint_seconds, reapply, ..Before::default() })
    }
    async fn probe(&self, probes: &[Probe], _: Duration) -> Vec<ProbeResult> {
        let is_applied = self.did(Step::Apply) || self.did(Step::ApplyProfiles);
        let changed = is_applied && !self.did(Step::RollBack);
        let (step, deaf) = match changed {
            true => (Step::Probe, &self.deaf_after),
            false => (Step::Baseline, &self.deaf_before),
        };
        // No probe fails the call: each of them tells its own result.
        let is_faulty = self.faults.iter().any(|(at, _)| *at == step);
        if is_faulty {
            self.steps.borrow_mut().push(step);
        }
        if self.faults.contains(&(step, How::Hangs)) {
            std::future::pending::<()>().await;
        }
        let answer = |p: &Probe| ProbeResult {
            name: p.name.clone(),
            ok: !deaf.contains(&p.name.as_str()),
            detail: "fake".to_owned(),
            warning: None,
            link: None,
            milliseconds: 1,
        };
        probes.iter().map(answer).collect()
    }
    async fn leftovers(&self, _: &Wants, _: &Before) -> Result<Leftovers, NetworkError> {
        self.step(Step::Leftovers).await?;
        let profile = ProfileRef {
            path: "/p".to_owned(),
            id: "ovs-if-br-ex".to_owned(),
            uuid: "0b6ba3d2-3ae1-4b37-8d5e-3f3c0b2fd002".to_owned(),
        };
        Ok(Leftovers { profiles: vec![profile], bridges: Vec::new() })
    }
    async fn checkpoint(&self, _: u32) -> Result<Checkpoint, NetworkError> {
        self.step(Step::Checkpoint).await?;
        Ok(Checkpoint("/1".to_owned()))
    }
    async fn take_over(&self, _: &Leftovers) -> Result<(), NetworkError> {
        self.step(Step::TakeOver).await
    }
    async fn apply(
        &self,
        _: &State,
        _: &Before,
        held: Option<&Checkpoint>,
    ) -> Result<(), NetworkError> {
        assert!(held.is_some() || self.did(Step::Commit));
        self.changes(Step::Apply).await
    }
    async fn apply_profiles(&self, _: &BridgePlan, _: Duration) -> Result<(), NetworkError> {
        assert!(self.did(Step::Checkpoint), "nothing undoes the profiles");
        self.changes(Step::ApplyProfiles).await
    }
    async fn verify_profiles(&self, _: &BridgePlan, _: Duration) -> Result<(), NetworkError> {
        self.step(Step::VerifyProfiles).await
    }
    async fn verify(&self, _: &State, _: &Wants, _: Duration) -> Result<(), NetworkError> {
        self.step(Step::Verify).await
    }
    async fn return_patch_ports(&self, _: &Before, _: &[String]) -> Result<(), NetworkError> {
        self.step(Step::ReturnPatchPorts).await
    }
    async fn activate_above(&self, _: &Before, _: &Wants) {}
    async fn uplinks(&self, _: &Wants) -> Result<Uplinks, NetworkError> {
        self.step(Step::Uplinks).await?;
        Ok(self.uplinks.clone())
    }
    async fn doubts(&self, _: &Before, _: &Wants) -> Result<Vec<String>, NetworkError> {
        Ok(Vec::new())
    }
    async fn commit(&self, _: &Before) -> Result<(), NetworkError> {
        self.step(Step::Commit).await
    }
    async fn undo_checkpoints(&self, _: &Before) -> Result<Undone, NetworkError> {
        self.step(Step::RollBack).await?;
        Ok(match self.checkpoint_is_lost {
            true => Undone::NoCheckpoint,
            false => Undone::Checkpoints { refused: self.refused.clone() },
        })
    }
    async fn reapply_profiles(&self, _: &Before) -> Result<(), NetworkError> {
        self.step(Step::Reapply).await
    }
    async fn reload_profiles(&self) -> Result<(), NetworkError> {
        self.step(Step::Reload).await
    }
    async fn undo_bridges(&self, _: &Before, bridges: &[String]) -> Result<(), NetworkError> {
        assert_eq!(bridges, ["br-ex"]);
        self.step(Step::UndoBridges).await
    }
    async fn restart(&self) -> Result<(), NetworkError> {
        self.step(Step::Restart).await
    }
    async fn undo_hostname(&self, _: &Before) -> Result<(), NetworkError> {
        self.step(Step::UndoHostname).await
    }
    async fn restored(
        &self,
        _: &Before,
        refused: &[String],
        _: Duration,
    ) -> Result<(), NetworkError> {
        assert_eq!(refused, self.refused);
        self.step(Step::Restored).await?;
        match self.stuck && !self.did(Step::Restart) {
            true => Err(NetworkError::NotRestored { missing: "192.0.2.20/24 on br-ex".to_owned() }),
            false => Ok(()),
        }
    }
}

const DOCUMENT: &str = "
interfaces:
- name: eno1
  type: ethernet
  state: up
- name: br-ex
  type: ovs-bridge
  state: up
  bridge: {port: [{name: eno1}]}
routes:
  config:
  - {destination: 0.0.0.0/0, next-hop-address: 192.0.2.1, next-hop-interface: br-ex}
";

/// [`DOCUMENT`] as a policy, whose captures need the current state.
fn policy() -> String {
    let interfaces = DOCUMENT.split("routes:").next().unwrap_or_default();
    let desired = interfaces.replace('\n', "\n  ");
    format!("capture:\n  card: interfaces.name == \"eno1\"\ndesired:{desired}\n")
}

struct Bench {
    _root: tempfile::TempDir,
    paths: Paths,
    /// The document.
    text: String,
    service_files: ServiceFiles,
    /// The change is this automatic bridge, not the document.
    bridge: Option<BridgePlan>,
    /// It takes the place of a document's bridge.
    replaces_document: bool,
    /// The document is on trial.
    trial: Option<TrialFile>,
    settings: Settings,
    /// The change is judged by what this node had in this boot.
    is_remembered: bool,
}

impl Bench {
    fn new() -> Result<Self, std::io::Error> {
        let root = tempfile::tempdir()?;
        let paths = Paths::new(root.path());
        std::fs::create_dir_all(paths.documents())?;
        let profiles = paths.under("/etc/NetworkManager/system-connections");
        std::fs::create_dir_all(&profiles)?;
        std::fs::write(profiles.join("day1.nmconnection"), "old")?;
        let service_files = ServiceFiles::none_due(Vec::new());
        Ok(Self {
            _root: root,
            paths,
            text: DOCUMENT.to_owned(),
            service_files,
            bridge: None,
            replaces_document: false,
            trial: None,
            settings: Settings::default(),
            is_remembered: true,
        })
    }

    fn profile_path(&self) -> PathBuf {
        self.paths.under("/etc/NetworkManager/system-connections/day1.nmconnection")
    }

    /// The content of the profile that the change writes.
    fn profile(&self) -> std::io::Result<String> {
        std::fs::read_to_string(self.profile_path())
    }

    fn document(&self) -> Document {
        Document {
            path: self.paths.documents().join("cluster.yml"),
            text: self.text.clone(),
            digest: Digest::of(self.text.as_bytes()),
            mode: 0o644,
        }
    }

    async fn run(&self, network: &Fake, probed: &mut Probed) -> Result<(), Failure> {
        let stop = match &network.stop_at {
            Some((_, sender)) => sender.subscribe(),
            None => watch::channel(false).1,
        };
        let progress = Progress::silent();
        let transaction = Transaction {
            network,
            paths: &self.paths,
            settings: &self.settings,
            progress: &progress,
            stop,
            is_remembered: self.is_remembered,
        };
        *network.profile.borrow_mut() = self.profile_path();
        let document = self.document();
        let Ok(parsed) = Parsed::new(&self.text) else { unreachable!("the document is valid") };
        let (document, parsed, service_files) = (&document, &parsed, &self.service_files);
        let change = DocumentChange { document, parsed, service_files, previous: None };
        let change = match (&self.bridge, &self.trial) {
            (None, None) => Change::Document(change),
            (None, Some(trial)) => Change::Trial(change, trial),
            (Some(plan), _) => {
                let replaces_document = self.replaces_document;
                Change::Bridge(BridgeChange { plan, replaces_document })
            }
        };
        transaction.run(&change, probed).await
    }

    fn committed(&self) -> bool {
        self.paths.applied().exists() && Record::load(&self.paths).committed.is_some()
    }

    fn journal_is_open(&self) -> bool {
        journal::read(&self.paths).is_ok_and(|j| j.is_some())
    }
}

type Tested = Result<(), Box<dyn std::error::Error>>;

#[tokio::test(start_paused = true)]
async fn a_good_run_commits_and_closes_the_journal() -> Tested {
    let bench = Bench::new()?;
    let network = Fake::default();
    bench.run(&network, &mut Probed::default()).await?;
    assert!(bench.committed() && !bench.journal_is_open());
    assert!(!network.did(Step::RollBack));
    let all = [&BEFORE_CHANGE[..], &CHANGE[..]].concat();
    assert_eq!(*network.steps.borrow(), all);
    Ok(())
}

/// NetworkManager holds the old network back until its restart.
#[tokio::test(start_paused = true)]
async fn a_roll_back_that_does_not_bring_the_old_network_back_restarts_network_manager() -> Tested {
    for how in [How::Fails, How::Hangs] {
        let bench = Bench::new()?;
        let network = Fake { stuck: true, ..Fake::with(&[(Step::Verify, how)]) };
        let result = bench.run(&network, &mut Probed::default()).await;
        assert!(matches!(result, Err(Failure::RolledBack { .. })), "{how:?}: {result:?}");
        let steps = network.steps.borrow();
        assert!(steps.ends_with(&[Step::Restored, Step::Restart, Step::Restored]), "{steps:?}");
        assert!(!bench.committed() && !bench.journal_is_open());
    }
    Ok(())
}

/// A card that is gone, say: whether the old network is there is proved.
#[tokio::test(start_paused = true)]
async fn devices_that_networkmanager_refused_to_roll_back_are_left_to_the_proof() -> Tested {
    for is_back in [true, false] {
        let bench = Bench::new()?;
        let mut faults = vec![(Step::Verify, How::Fails)];
        faults.extend((!is_back).then_some((Step::Restored, How::Fails)));
        let network = Fake { refused: vec!["/Devices/12".to_owned()], ..Fake::with(&faults) };
        let result = bench.run(&network, &mut Probed::default()).await;
        let is_rolled_back = matches!(result, Err(Failure::RolledBack { .. }));
        assert_eq!(is_rolled_back, is_back, "{result:?}");
        let phase = Phase::Restored;
        let is_failed = matches!(&result, Err(Failure::RollBackFailed { roll_back_phase, .. })
            if *roll_back_phase == phase);
        assert_eq!(is_failed, !is_back, "{result:?}");
        assert_eq!(bench.journal_is_open(), !is_back);
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn without_its_checkpoint_a_roll_back_reapplies_the_old_profiles() -> Tested {
    for checkpoint_is_lost in [false, true] {
        let faults = [(Step::Verify, How::Fails)];
        let network = Fake { checkpoint_is_lost, ..Fake::with(&faults) };
        let result = Bench::new()?.run(&network, &mut Probed::default()).await;
        assert!(matches!(result, Err(Failure::RolledBack { .. })), "{result:?}");
        assert_eq!(network.did(Step::Reapply), checkpoint_is_lost);
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_restart_that_fails_keeps_the_proof_s_error() -> Tested {
    for how in [How::Fails, How::Hangs] {
        let bench = Bench::new()?;
        let faults = [(Step::Verify, How::Fails), (Step::Restart, how)];
        let network = Fake { stuck: true, ..Fake::with(&faults) };
        let result = bench.run(&network, &mut Probed::default()).await;
        let Err(Failure::RollBackFailed { roll_back_phase, .. }) = result else {
            return Err(format!("{how:?}: {result:?}").into());
        };
        assert_eq!(roll_back_phase, Phase::Restored);
        assert!(bench.journal_is_open());
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_signal_in_any_step_rolls_back() -> Tested {
    for step in CHANGE {
        let bench = Bench::new()?;
        let network = Fake { stop_at: Some((step, watch::channel(false).0)), ..Fake::default() };
        let result = bench.run(&network, &mut Probed::default()).await;
        let Err(Failure::RolledBack { source, .. }) = result else {
            return Err(format!("{step:?}: {result:?}").into());
        };
        assert!(matches!(*source, PhaseError::Stopped));
        assert!(network.did(Step::Restored) && !bench.committed());
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_silent_gateway_rolls_back_and_is_named() -> Tested {
    let bench = Bench::new()?;
    let network = Fake { deaf_after: vec!["gateway 192.0.2.1"], ..Fake::default() };
    let mut probed = Probed::default();
    let Err(error @ Failure::RolledBack { .. }) = bench.run(&network, &mut probed).await else {
        return Err("it was committed".into());
    };
    assert!(super::chain(&error).contains("probe gateway 192.0.2.1 failed"));
    assert!(probed.after.iter().any(|p| !p.ok));
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn what_did_not_answer_before_need_not_after() -> Tested {
    let bench = Bench::new()?;
    let network = Fake { deaf_before: vec!["dns"], deaf_after: vec!["dns"], ..Fake::default() };
    bench.run(&network, &mut Probed::default()).await?;
    let bench = Bench::new()?;
    let network = Fake { deaf_after: vec!["dns"], ..Fake::default() };
    let result = bench.run(&network, &mut Probed::default()).await;
    assert!(matches!(result, Err(Failure::RolledBack { .. })));
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_new_address_that_is_taken_stops_the_change_before_it_begins() -> Tested {
    let fixed = "- {name: eno2, type: ethernet, state: up, ipv4: {enabled: true, dhcp: false, \
                 address: [{ip: 192.0.2.10, prefix-length: 24}]}}\nroutes:";
    let taken = &["new addresses"][..];
    let before_too = &["new addresses", "duplicate"][..];
    for (policy, deaf_before, stops) in [
        (Policy::Off, taken, false),
        (Policy::Required, taken, true),
        (Policy::Required, &[], false),
        (Policy::IfItWorkedBefore, taken, true),
        // An address of the node was taken before the change as well.
        (Policy::IfItWorkedBefore, before_too, false),
    ] {
        let mut bench = Bench::new()?;
        bench.text = DOCUMENT.replace("routes:", fixed);
        bench.settings.probe.duplicate = policy;
        let network = Fake { deaf_before: deaf_before.to_vec(), ..Fake::default() };
        let mut probed = Probed::default();
        let result = bench.run(&network, &mut probed).await;
        let is_stopped = matches!(
            &result,
            Err(Failure::Untouched { phase: Phase::Baseline, source })
                if matches!(&**source, PhaseError::Probes(failed) if failed.len() == 1)
        );
        assert_eq!(is_stopped, stops, "{policy:?} {result:?}");
        assert_eq!(network.did(Step::Apply), !stops, "{policy:?}");
        let is_warned =
            probed.warnings.iter().any(|warning| warning.starts_with("new addresses: "));
        assert_eq!(is_warned, deaf_before == before_too, "{:?}", probed.warnings);
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_default_route_without_a_gateway_is_no_silent_gateway() -> Tested {
    let mut bench = Bench::new()?;
    bench.text = DOCUMENT.replace("next-hop-address: 192.0.2.1", "next-hop-address: 0.0.0.0");
    let network = Fake { deaf_after: vec!["IPv4 gateway", "gateway 0.0.0.0"], ..Fake::default() };
    bench.run(&network, &mut Probed::default()).await?;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn without_space_for_the_journal_nothing_is_touched() -> Tested {
    let bench = Bench::new()?;
    // A file in place of the directory acts like a full or read-only file system, also for root.
    std::fs::create_dir_all(bench.paths.under("/var/lib"))?;
    std::fs::write(bench.paths.state_dir(), "")?;
    let network = Fake::default();
    let result = bench.run(&network, &mut Probed::default()).await;
    assert!(matches!(result, Err(Failure::Untouched { phase: Phase::Journal, .. })));
    assert!(!network.did(Step::Checkpoint));
    Ok(())
}

/// A disk failure between NetworkManager's commit and the decision rolls everything back.
#[tokio::test(start_paused = true)]
async fn a_commit_that_cannot_be_decided_is_rolled_back() -> Tested {
    let bench = Bench::new()?;
    // A directory that blocks the deciding rename.
    std::fs::create_dir_all(bench.paths.committed().join("x"))?;
    let network = Fake::default();
    let result = bench.run(&network, &mut Probed::default()).await;
    assert!(matches!(result, Err(Failure::RolledBack { phase: Phase::Record, .. })), "{result:?}");
    assert!(network.did(Step::Commit) && network.did(Step::Restored));
    assert!(!bench.committed() && !bench.journal_is_open());
    assert!(!bench.paths.applied().exists());
    Ok(())
}

/// A disk failure after the decision undoes nothing; the next start finishes the commit.
#[tokio::test(start_paused = true)]
async fn a_decided_commit_is_finished_by_the_next_start() -> Tested {
    for obstacle in [Paths::applied, Paths::record] {
        let bench = Bench::new()?;
        let obstacle = obstacle(&bench.paths);
        std::fs::create_dir_all(obstacle.join("x"))?;
        let network = Fake::default();
        let result = bench.run(&network, &mut Probed::default()).await;
        assert!(matches!(result, Err(Failure::NotRecorded { .. })), "{result:?}");
        assert!(!network.did(Step::RollBack) && !bench.journal_is_open());
        std::fs::remove_dir_all(obstacle)?;
        crate::durable::commit::finish(&bench.paths)?;
        assert!(bench.committed() && !bench.paths.committed().exists());
        let digest = Digest::of(DOCUMENT.as_bytes());
        assert!(Record::load(&bench.paths).in_force(&bench.paths, &digest)?);
    }
    Ok(())
}

/// The record has the uplinks, which are known only after the change.
#[tokio::test(start_paused = true)]
async fn the_record_has_the_families_that_were_usable() -> Tested {
    let bench = Bench::new()?;
    let families = vec![Family::Ipv4];
    let addressable = Some(Vec::new());
    let uplinks = Uplinks { families, addressable, ..Uplinks::default() };
    let network = Fake { uplinks: uplinks.clone(), ..Fake::default() };
    bench.run(&network, &mut Probed::default()).await?;
    let committed = Record::load(&bench.paths).committed.ok_or("no record")?;
    assert_eq!(committed.uplinks, Some(uplinks));
    assert!(committed.service_files.is_empty());
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn service_files_go_before_the_document_in_one_transaction() -> Tested {
    let mut bench = Bench::new()?;
    let file = |name: &str| -> Result<ServiceFile, Box<dyn std::error::Error>> {
        let text = "interfaces:\n- {name: eno1, type: ethernet, mtu: 1400}\n".to_owned();
        let parsed = Parsed::new(&text)?;
        Ok(ServiceFile { path: bench.paths.service_files().join(name), text, parsed })
    };
    bench.service_files = ServiceFiles {
        due: vec![file("001.yml")?, file("002.yml")?],
        digests: vec![Digest::of(b"both")],
    };
    let network = Fake::default();
    bench.run(&network, &mut Probed::default()).await?;
    let applied = network.steps.borrow().iter().filter(|step| **step == Step::Apply).count();
    assert_eq!(applied, 3);
    let committed = Record::load(&bench.paths).committed.ok_or("no record")?;
    assert_eq!(committed.service_files, [Digest::of(b"both")]);

    let bench = Bench { service_files: bench.service_files.clone(), ..Bench::new()? };
    let network = Fake::with(&[(Step::Apply, How::Fails)]);
    let failure = bench.run(&network, &mut Probed::default()).await.expect_err("committed");
    assert!(matches!(failure, Failure::RolledBack { .. }));
    assert!(nmgen::chain(&failure).contains("001.yml"), "{}", nmgen::chain(&failure));
    assert!(!bench.committed() && !bench.journal_is_open());
    assert!(network.did(Step::Reapply), "the device keeps the file's settings");
    Ok(())
}

mod automatic;
mod memory;
mod steps;
mod trial;
