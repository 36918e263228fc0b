//! The account of a trial, and requests to keep it.

use super::*;

type Tested = Result<(), Box<dyn std::error::Error>>;

fn trial(state: TrialState) -> Trial {
    Trial { state, ..Trial::new("/root/new.yml".into(), Digest::of(b""), 60) }
}

#[test]
fn time_is_left_only_while_it_waits() {
    let waiting = Trial { deadline: Some(61_000), ..trial(TrialState::Waiting) };
    assert_eq!(waiting.left_at(1_000), Some(60));
    assert_eq!(waiting.left_at(60_001), Some(1), "the last second has begun");
    assert_eq!(waiting.left_at(70_000), Some(0));
    assert_eq!(Trial { state: TrialState::Confirmed, ..waiting }.left_at(1_000), None);
    assert_eq!(trial(TrialState::Waiting).left_at(0), None);
}

#[tokio::test]
async fn a_request_for_an_earlier_trial_keeps_none() -> Tested {
    let root = tempfile::tempdir()?;
    let paths = Paths::new(root.path());
    let now = trial(TrialState::Waiting);
    let earlier = Trial { asked: now.asked - 1, ..now.clone() };
    now.write(&paths)?;
    earlier.request(&paths)?;
    let file = TrialFile::new(&paths, now.clone());
    let mut requested = std::pin::pin!(file.requested());
    let a_while = Duration::from_millis(50);
    assert!(tokio::time::timeout(a_while, &mut requested).await.is_err());
    now.request(&paths)?;
    requested.await?;
    Ok(())
}

#[test]
fn an_undo_ends_what_was_open_and_says_why() -> Tested {
    let root = tempfile::tempdir()?;
    let paths = Paths::new(root.path());
    undone(&paths);
    assert_eq!(Trial::load(&paths)?, None);
    for (state, after, reason) in [
        (TrialState::Asked, TrialState::Asked, None),
        (TrialState::Applying, TrialState::Undone, Some("its agent was killed")),
        (TrialState::Waiting, TrialState::Undone, Some("its agent was killed")),
        (TrialState::Confirmed, TrialState::Undone, Some("a later run of dayone ended it")),
        (TrialState::Failed, TrialState::Failed, None),
    ] {
        trial(state).write(&paths)?;
        undone(&paths);
        let now = Trial::load(&paths)?.ok_or("no trial")?;
        assert_eq!((now.state, now.reason.as_deref()), (after, reason), "{state:?}");
    }
    Ok(())
}

#[test]
fn each_end_has_its_result() {
    assert!(trial(TrialState::Confirmed).result().is_ok());
    for (state, text) in [
        (TrialState::Failed, "failed, nothing was changed"),
        (TrialState::Undone, "the old network is back"),
        (TrialState::RollBackFailed, "NOT back"),
        (TrialState::Applying, "not applied yet"),
    ] {
        let error = trial(state).result().expect_err("an end without a confirmation");
        assert!(error.to_string().contains(text), "{error}");
        assert_eq!(state.is_end(), state != TrialState::Applying);
    }
}
