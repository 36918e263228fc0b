//! Every step of the network fails or hangs: the transaction's outcome, its bounds, and the layers of its
//! roll back, each of which runs after one that does not end.

use tokio::time::Instant;

use super::*;

const HOW: [How; 2] = [How::Fails, How::Hangs];
const GRACE: Duration = Duration::from_secs(5);

/// A step of a change, the phase that it fails, and the bound of that phase.
type Row = (Step, Phase, Duration);

/// The layers of a roll back, in their order.
const LAYERS: [Step; 5] =
    [Step::RollBack, Step::UndoBridges, Step::Reload, Step::Reapply, Step::UndoHostname];

/// The kinds of a document: captures and an interface without a type need the current state.
fn benches() -> Result<[Bench; 3], std::io::Error> {
    let of = |text| Ok::<_, std::io::Error>(Bench { text, ..Bench::new()? });
    let untyped = "interfaces: [{name: eno1, state: up}]".to_owned();
    Ok([Bench::new()?, of(policy())?, of(untyped)?])
}

fn before_the_change() -> [Row; 8] {
    let t = Settings::default().timeout;
    [
        (Step::Released, Phase::Ready, Duration::from_secs(600)),
        (Step::Ready, Phase::Ready, Duration::from_secs(600)),
        (Step::Captured, Phase::Ready, Duration::from_secs(600)),
        (Step::Current, Phase::Snapshot, t.snapshot.get()),
        (Step::ResolveLinks, Phase::Snapshot, t.snapshot.get()),
        (Step::Snapshot, Phase::Snapshot, t.snapshot.get()),
        (Step::Leftovers, Phase::Snapshot, t.snapshot.get()),
        (Step::Baseline, Phase::Baseline, t.baseline.get() + GRACE),
    ]
}

fn of_a_document() -> [Row; 8] {
    let t = Settings::default().timeout;
    [
        (Step::Checkpoint, Phase::Checkpoint, t.checkpoint.get()),
        (Step::TakeOver, Phase::TakeOver, t.take_over.get()),
        (Step::Apply, Phase::Apply, t.apply.get()),
        (Step::Verify, Phase::Verify, t.verify.get() + GRACE),
        (Step::ReturnPatchPorts, Phase::Verify, t.verify.get() + GRACE),
        (Step::Probe, Phase::Probe, t.probe.get() + GRACE),
        (Step::Uplinks, Phase::Commit, t.checkpoint.get()),
        (Step::Commit, Phase::Commit, t.checkpoint.get()),
    ]
}

fn of_a_bridge() -> Vec<Row> {
    let t = Settings::default().timeout;
    let mut rows = of_a_document().to_vec();
    rows[2] = (Step::ApplyProfiles, Phase::ApplyProfiles, t.apply.get() + GRACE);
    rows.insert(4, (Step::VerifyProfiles, Phase::Verify, t.verify.get() + GRACE));
    rows
}

/// Whether the cause is this fault.
fn is_of(source: &PhaseError, how: How, bound: Duration) -> bool {
    match (how, source) {
        (How::Hangs, PhaseError::TimedOut(after)) => *after == bound,
        (How::Fails, PhaseError::Network(NetworkError::Bus(BusError::Closed))) => true,
        _ => false,
    }
}

#[tokio::test(start_paused = true)]
async fn before_the_change_nothing_is_touched() -> Tested {
    for (step, phase, bound) in before_the_change() {
        for how in HOW {
            // No probe fails: each tells its own result.
            if (step, how) == (Step::Baseline, How::Fails) {
                continue;
            }
            let mut met = 0;
            for bench in benches()? {
                let (network, start) = (Fake::with(&[(step, how)]), Instant::now());
                let result = bench.run(&network, &mut Probed::default()).await;
                if !network.did(step) {
                    assert!(matches!(step, Step::Captured | Step::Current), "{result:?}");
                    continue;
                }
                met += 1;
                let Err(Failure::Untouched { phase: failed, source }) = result else {
                    return Err(format!("{step:?} {how:?}: {result:?}").into());
                };
                assert!(failed == phase && is_of(&source, how, bound), "{step:?}: {source:?}");
                assert!(start.elapsed() <= bound + GRACE, "{step:?} {how:?}");
                assert!(!network.did(Step::RollBack) && !network.did(Step::Checkpoint));
                assert!(!bench.committed() && !bench.journal_is_open());
                // The staged files are gone too.
                assert_eq!(std::fs::read_dir(bench.paths.documents())?.count(), 0);
            }
            assert!(met > 0, "{step:?}");
        }
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn during_the_change_the_old_network_returns() -> Tested {
    let rows = of_a_document().map(|row| (row, false)).into_iter();
    for ((step, phase, bound), is_bridge) in
        rows.chain(of_a_bridge().into_iter().map(|row| (row, true)))
    {
        for how in HOW {
            if (step, how) == (Step::Probe, How::Fails) {
                continue;
            }
            let bench = Bench { bridge: is_bridge.then(automatic::plan), ..Bench::new()? };
            let (network, start) = (Fake::with(&[(step, how)]), Instant::now());
            let result = bench.run(&network, &mut Probed::default()).await;
            let Err(Failure::RolledBack { phase: failed, source }) = result else {
                return Err(format!("{step:?} {how:?}: {result:?}").into());
            };
            assert!(failed == phase && is_of(&source, how, bound), "{step:?}: {source:?}");
            assert!(start.elapsed() <= bound + GRACE, "{step:?} {how:?}");
            assert!(network.did(Step::RollBack) && network.did(Step::Restored), "{step:?}");
            assert!(!bench.committed() && !bench.journal_is_open(), "{step:?}");
            assert_eq!(bench.profile()?, "old", "{step:?}");
            assert!(!bench.paths.hint().exists() && !bench.paths.boot_done().exists());
            assert!(!bench.paths.bridge().exists());
        }
    }
    Ok(())
}

/// A layer that fails or hangs is told with the error that caused the roll back, and stops neither the next
/// one nor the proof.
#[tokio::test(start_paused = true)]
async fn a_layer_of_the_roll_back_stops_no_other() -> Tested {
    let step = Settings::default().timeout.roll_back.get();
    let one = LAYERS.map(|layer| vec![layer]).into_iter();
    for layers in one.chain([LAYERS.to_vec()]) {
        for how in HOW {
            let bench = Bench::new()?;
            let faults = layers.iter().map(|layer| (*layer, how));
            let faults: Vec<_> = [(Step::Verify, How::Fails)].into_iter().chain(faults).collect();
            // Every layer has something to do.
            let network = Fake { reapplies: true, ..Fake::with(&faults) };
            let start = Instant::now();
            let result = bench.run(&network, &mut Probed::default()).await;
            let Err(Failure::RollBackFailed { phase, source, roll_back_phase, roll_back }) = result
            else {
                return Err(format!("{layers:?} {how:?}: {result:?}").into());
            };
            assert!(phase == Phase::Verify && is_of(&source, How::Fails, step), "{source:?}");
            assert_eq!(roll_back_phase, Phase::RollBack);
            let PhaseError::RollBackSteps { count, source } = *roll_back else {
                return Err(format!("{layers:?} {how:?}: {roll_back:?}").into());
            };
            assert_eq!(count, layers.len(), "{how:?}");
            let is_late = matches!(&*source, PhaseError::Network(NetworkError::NotReady { bound, .. })
                if *bound == step);
            assert_eq!(is_late, how == How::Hangs, "{source:?}");
            let hung =
                if how == How::Hangs { step * u32::try_from(count)? } else { Duration::ZERO };
            assert!(start.elapsed() <= hung + GRACE, "{layers:?} {how:?}");
            let steps = network.steps.borrow();
            let all = [&LAYERS[..], &[Step::Restored]].concat();
            assert!(steps.ends_with(&all), "{layers:?} {how:?}: {steps:?}");
            assert_eq!(bench.profile()?, "old", "{layers:?} {how:?}");
            assert!(bench.journal_is_open() && !bench.committed(), "{layers:?} {how:?}");
        }
    }
    Ok(())
}

/// Without a proof NetworkManager is restarted, and the second proof decides.
#[tokio::test(start_paused = true)]
async fn a_proof_that_fails_or_hangs_is_tried_again_after_a_restart() -> Tested {
    let step = Settings::default().timeout.roll_back.get();
    for how in HOW {
        let bench = Bench::new()?;
        let network = Fake::with(&[(Step::Verify, How::Fails), (Step::Restored, how)]);
        let result = bench.run(&network, &mut Probed::default()).await;
        let Err(error @ Failure::RollBackFailed { .. }) = result else {
            return Err(format!("{how:?}: {result:?}").into());
        };
        let text = nmgen::chain(&error);
        for phase in [Phase::Verify, Phase::Restored] {
            assert!(text.contains(&phase.to_string()), "{text}");
        }
        let Failure::RollBackFailed { roll_back, .. } = error else { unreachable!("{text}") };
        assert!(is_of(&roll_back, how, step * 2 + GRACE), "{roll_back:?}");
        let steps = network.steps.borrow();
        assert!(steps.ends_with(&[Step::Restored, Step::Restart, Step::Restored]), "{steps:?}");
        assert!(bench.journal_is_open() && !bench.committed());
    }
    Ok(())
}
