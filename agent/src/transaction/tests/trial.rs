//! A document on trial.

use super::*;
use crate::{
    durable::journal::ChangeKind,
    status::trial::{Trial, TrialState},
};

fn on_trial(seconds: u32) -> Result<(Bench, TrialFile), Box<dyn std::error::Error>> {
    let mut bench = Bench::new()?;
    let trial = Trial::new("/root/new.yml".into(), Digest::of(b""), seconds);
    trial.write(&bench.paths)?;
    let file = TrialFile::new(&bench.paths, trial);
    bench.trial = Some(file.clone());
    Ok((bench, file))
}

#[tokio::test(start_paused = true)]
async fn a_confirmed_trial_commits_nothing_but_the_checkpoint_and_keeps_its_journal() -> Tested {
    let (bench, trial) = on_trial(60)?;
    trial.get().request(&bench.paths)?;
    let network = Fake::default();
    bench.run(&network, &mut Probed::default()).await?;
    let all = [&BEFORE_CHANGE[..], &CHANGE[..]].concat();
    assert_eq!(*network.steps.borrow(), all);
    let journal = journal::read(&bench.paths)?.ok_or("the next boot has nothing to undo")?;
    assert_eq!(journal.kind, ChangeKind::Trial);
    assert!(!bench.committed() && !bench.paths.record().exists());
    assert_eq!(std::fs::read_dir(bench.paths.documents())?.count(), 0);
    Ok(())
}

/// NetworkManager's checkpoint is the second net, and must not be the first.
#[tokio::test(start_paused = true)]
async fn the_checkpoint_outlasts_the_trial_and_devices_reapply_without_it() -> Tested {
    let (bench, trial) = on_trial(3600)?;
    trial.get().request(&bench.paths)?;
    bench.run(&Fake::default(), &mut Probed::default()).await?;
    let before = journal::read(&bench.paths)?.ok_or("no journal")?.before;
    let own = Settings::default().timeout.checkpoint_seconds();
    assert_eq!(before.checkpoint_seconds, 3600 + own);
    assert!(before.reapply);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn without_a_confirmation_the_old_network_returns() -> Tested {
    let (bench, trial) = on_trial(60)?;
    let network = Fake::default();
    let result = bench.run(&network, &mut Probed::default()).await;
    let Err(Failure::RolledBack { phase: Phase::Confirm, source }) = result else {
        return Err(format!("{result:?}").into());
    };
    assert!(matches!(*source, PhaseError::NotConfirmed { seconds: 60 }), "{source:?}");
    assert!(network.did(Step::RollBack) && network.did(Step::Restored));
    assert!(!network.did(Step::Commit) && !bench.journal_is_open());
    assert_eq!(trial.get().state, TrialState::Waiting, "the clock did not run");
    assert!(trial.get().deadline.is_some());
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_trial_that_does_not_hold_starts_no_clock() -> Tested {
    let (bench, trial) = on_trial(60)?;
    trial.get().request(&bench.paths)?;
    let network = Fake { deaf_after: vec!["gateway 192.0.2.1"], ..Fake::default() };
    let result = bench.run(&network, &mut Probed::default()).await;
    assert!(matches!(result, Err(Failure::RolledBack { phase: Phase::Probe, .. })), "{result:?}");
    assert_eq!(trial.get().state, TrialState::Asked);
    assert!(!bench.journal_is_open());
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_confirmed_trial_that_cannot_be_committed_goes_back() -> Tested {
    let (bench, trial) = on_trial(60)?;
    trial.get().request(&bench.paths)?;
    let network = Fake::with(&[(Step::Commit, How::Fails)]);
    let result = bench.run(&network, &mut Probed::default()).await;
    assert!(matches!(result, Err(Failure::RolledBack { phase: Phase::Commit, .. })), "{result:?}");
    assert!(!bench.journal_is_open());
    Ok(())
}
