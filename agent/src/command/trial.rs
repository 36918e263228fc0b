//! `dayone apply --trial`: has dayone-trial.service carry the trial out, and shows its progress.

use std::{path::Path, time::Duration};

use nmgen::chain;

use crate::{
    client::{dbus::start_unit, watch::Watch},
    document::{Document, check},
    durable,
    error::{Error, Result},
    lock,
    paths::{Paths, cannot},
    run::{marks, waits},
    settings::Settings,
    status::{
        log::{Tone, console},
        trial::{Trial, TrialError, TrialFile, TrialState},
    },
};

/// The unit that carries a trial out; systemd owns its process, not the terminal.
const UNIT: &str = "dayone-trial.service";

/// Begins a trial, and returns when it ends or at Ctrl-C, which ends the display alone.
pub(crate) async fn ask(paths: &Paths, seconds: u32, file: &Path) -> Result {
    if !paths.is_system() {
        return Err(TrialError::Elsewhere.into());
    }
    let settings = Settings::load(paths)?;
    let document = named(Document::given(file)?);
    // Refused here, where the caller sees it.
    check::check(&document)?;
    if marks::is_boot_held(paths) {
        return Err(TrialError::BootWaits.into());
    }
    if let Some(trial) = Trial::load(paths)?.filter(|trial| trial.state.is_on())
        && lock::at_work(paths).is_some()
    {
        return Err(TrialError::On { document: trial.document }.into());
    }
    let trial = Trial::new(document.path.clone(), document.digest.clone(), seconds);
    {
        let _turn = lock::take(paths, "apply", settings.wait.turn.get(), waits).await?;
        durable::remove(&paths.trial_confirmed())?;
        // The copy may hold secrets.
        durable::write(&paths.trial_document(), document.text.as_bytes(), 0o600)?;
        trial.write(paths)?;
    }
    if let Err(error) = start_unit(UNIT).await {
        let account = TrialFile::new(paths, trial);
        account.update(|account| {
            account.state = TrialState::Failed;
            account.reason = Some(chain(&error));
        });
        return Err(Error::Start(error));
    }
    watch(paths, &trial).await
}

/// The document under an absolute path: whoever looks later is in another directory.
fn named(document: Document) -> Document {
    let absolute = std::path::absolute(&document.path).ok().filter(|_| document.path.exists());
    Document { path: absolute.unwrap_or(document.path), ..document }
}

/// Shows the progress until the end.
async fn watch(paths: &Paths, trial: &Trial) -> Result {
    let document = trial.document.display().to_string();
    let mut shown = String::new();
    let followed = follow(paths, trial.asked, |now| {
        let line = line(now);
        if line != shown {
            console(Tone::Plain, std::slice::from_ref(&line));
            shown = line;
        }
    });
    let ended = tokio::select! {
        ended = followed => ended?,
        interrupt = tokio::signal::ctrl_c() => {
            interrupt.map_err(Error::Signals)?;
            return Err(TrialError::GoesOn { document: trial.document.clone() }.into());
        }
    };
    ended.result()?;
    let lines: Vec<String> = kept(&document).lines().map(str::to_owned).collect();
    console(Tone::Good, &lines);
    Ok(())
}

fn line(trial: &Trial) -> String {
    let document = trial.document.display();
    match (trial.state, trial.phase) {
        (TrialState::Asked, _) | (TrialState::Applying, None) => {
            format!("{document}: the trial begins; it goes on without this terminal")
        }
        (TrialState::Waiting, _) => format!(
            "{document} is applied: `dayone confirm`, from a new connection, within {} s keeps it; \
             else the old network returns by itself. Ctrl-C ends this display alone",
            trial.seconds
        ),
        (TrialState::Applying, Some(phase)) => phase.to_string(),
        (TrialState::Confirmed, _) => "confirmed".to_owned(),
        (TrialState::Undone | TrialState::Failed | TrialState::RollBackFailed, _) => {
            "the trial is over".to_owned()
        }
    }
}

/// Message after a confirmation.
pub(super) fn kept(document: &str) -> String {
    format!(
        "{document} is confirmed: it stays until the next boot, `dayone apply` or `dayone rollback`\n\
         to keep it for good, make it this node's document\n"
    )
}

/// The time in which the service takes the trial up, beside its wait for another run.
const BEGIN: Duration = Duration::from_secs(660);

/// Tells each state of the trial that was asked for at `asked`, and returns its end.
pub(super) async fn follow(
    paths: &Paths,
    asked: u64,
    mut tell: impl FnMut(&Trial),
) -> Result<Trial> {
    let path = paths.trial();
    let directory = path.parent().unwrap_or(&path);
    let failed = cannot("watch", directory);
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
        if trial.state == TrialState::Asked {
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
    use crate::{document::digest::Digest, status::phase::Phase};

    #[test]
    fn a_waiting_trial_says_how_to_keep_it_and_what_happens_else() {
        let asked = Trial::new("/root/new.yml".into(), Digest::of(b""), 60);
        assert!(line(&asked).contains("without this terminal"));
        let applying =
            Trial { state: TrialState::Applying, phase: Some(Phase::Verify), ..asked.clone() };
        assert_eq!(line(&applying), "verifying the new network");
        let waiting = line(&Trial { state: TrialState::Waiting, ..applying });
        for part in ["/root/new.yml", "`dayone confirm`", "within 60 s", "returns by itself"] {
            assert!(waiting.contains(part), "{part} in {waiting}");
        }
    }

    #[test]
    fn standard_input_keeps_its_name() {
        let document = |path: &str| Document {
            path: path.into(),
            text: String::new(),
            digest: Digest::of(b""),
            mode: 0o600,
        };
        assert_eq!(named(document("standard input")).path, Path::new("standard input"));
        assert!(named(document("Cargo.toml")).path.is_absolute());
    }

    #[tokio::test]
    async fn ends_with_the_trial_or_with_another_in_its_place()
    -> Result<(), Box<dyn std::error::Error>> {
        let root = tempfile::tempdir()?;
        let paths = Paths::new(root.path());
        let trial = Trial::new("/root/new.yml".into(), Digest::of(b""), 60);
        trial.write(&paths)?;
        let mut told = Vec::new();
        let states = [TrialState::Applying, TrialState::Waiting, TrialState::Confirmed];
        let write = async {
            for state in states {
                Trial { state, ..trial.clone() }.write(&paths)?;
                tokio::task::yield_now().await;
            }
            Ok::<_, Box<dyn std::error::Error>>(())
        };
        let tell = |trial: &Trial| told.push(trial.state);
        let (ended, written) = tokio::join!(follow(&paths, trial.asked, tell), write);
        written?;
        assert_eq!(ended?.state, TrialState::Confirmed);
        assert_eq!(told.first(), Some(&TrialState::Asked));
        assert_eq!(told.last(), Some(&TrialState::Confirmed));
        let other = follow(&paths, trial.asked + 1, |_| {}).await;
        assert!(other.is_err_and(|error| error.to_string().contains("taken its place")));
        Ok(())
    }
}
