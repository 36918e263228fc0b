//! The account of a trial, followed by the kernel's events.

use crate::{
    client::watch::Watch,
    error::Error,
    paths::Paths,
    status::trial::{State, Trial, TrialError},
};

/// The time in which the service takes the trial up, beside its wait for another run.
const BEGIN: std::time::Duration = std::time::Duration::from_secs(660);

/// Tells each state of the trial that was asked for at `asked`, and returns its end.
pub(super) async fn follow(
    paths: &Paths,
    asked: u64,
    mut tell: impl FnMut(&Trial),
) -> Result<Trial, Error> {
    let path = paths.trial();
    let directory = path.parent().unwrap_or(&path);
    let failed = |source| Error::Watch { path: directory.to_path_buf(), source };
    loop {
        let watch = Watch::on(&[directory]).map_err(failed)?;
        let trial = Trial::load(paths)?.ok_or(TrialError::None)?;
        if trial.asked != asked {
            return Err(TrialError::Replaced { document: trial.document }.into());
        }
        tell(&trial);
        if trial.state.is_end() {
            return Ok(trial);
        }
        let changed = watch.changed();
        if trial.state == State::Asked {
            let begun = tokio::time::timeout(BEGIN, changed).await;
            begun.map_err(|_| TrialError::NoAnswer)?.map_err(failed)?;
        } else {
            changed.await.map_err(failed)?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::digest::Digest;

    #[tokio::test]
    async fn ends_with_the_trial_or_with_another_in_its_place()
    -> Result<(), Box<dyn std::error::Error>> {
        let root = tempfile::tempdir()?;
        let paths = Paths::new(root.path());
        let trial = Trial::new("/root/new.yml".into(), Digest::of(b""), 60);
        trial.write(&paths)?;
        let mut told = Vec::new();
        let states = [State::Applying, State::Waiting, State::Confirmed];
        let write = async {
            for state in states {
                Trial { state, ..trial.clone() }.write(&paths)?;
                tokio::task::yield_now().await;
            }
            Ok::<_, Box<dyn std::error::Error>>(())
        };
        let tell = |it: &Trial| told.push(it.state);
        let (ended, written) = tokio::join!(follow(&paths, trial.asked, tell), write);
        written?;
        assert_eq!(ended?.state, State::Confirmed);
        assert_eq!(told.first(), Some(&State::Asked));
        assert_eq!(told.last(), Some(&State::Confirmed));
        let other = follow(&paths, trial.asked + 1, |_| {}).await;
        assert!(other.is_err_and(|error| error.to_string().contains("taken its place")));
        Ok(())
    }
}
