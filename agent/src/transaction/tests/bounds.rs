//! The bound of each phase.

use super::*;

/// The time after which a run gave up its hanging step.
fn timed_out(error: &PhaseError) -> Option<Duration> {
    if let PhaseError::TimedOut(bound) = error { Some(*bound) } else { None }
}

#[tokio::test(start_paused = true)]
async fn each_phase_of_a_change_ends_at_its_own_bound() -> Tested {
    let t = Settings::default().timeout;
    let grace = Duration::from_secs(5);
    let bounds = [
        (Step::Checkpoint, t.checkpoint.get()),
        (Step::TakeOver, t.take_over.get()),
        (Step::Apply, t.apply.get()),
        (Step::Verify, t.verify.get() + grace),
        (Step::Probe, t.probe.get() + grace),
        (Step::Commit, t.checkpoint.get()),
    ];
    for (step, bound) in bounds {
        let network = Fake::with(&[(step, How::Hangs)]);
        let result = Bench::new()?.run(&network, &mut Probed::default()).await;
        let Err(Failure::RolledBack { source, .. }) = result else {
            return Err(format!("{step:?}: {result:?}").into());
        };
        assert_eq!(timed_out(&source), Some(bound), "{step:?}");
    }
    let network = Fake::with(&[(Step::Baseline, How::Hangs)]);
    let result = Bench::new()?.run(&network, &mut Probed::default()).await;
    let Err(Failure::Untouched { source, .. }) = result else {
        return Err(format!("{result:?}").into());
    };
    assert_eq!(timed_out(&source), Some(t.baseline.get() + grace));
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_roll_back_has_time_for_each_of_its_layers() -> Tested {
    let step = Settings::default().timeout.roll_back.get();
    let bounds = [(Step::RollBack, step * 5), (Step::Restored, step * 2 + Duration::from_secs(5))];
    for (hanging, bound) in bounds {
        let network = Fake::with(&[(Step::Verify, How::Fails), (hanging, How::Hangs)]);
        let result = Bench::new()?.run(&network, &mut Probed::default()).await;
        let Err(Failure::RollBackFailed { roll_back, .. }) = result else {
            return Err(format!("{hanging:?}: {result:?}").into());
        };
        assert_eq!(timed_out(&roll_back), Some(bound), "{hanging:?}");
    }
    Ok(())
}
