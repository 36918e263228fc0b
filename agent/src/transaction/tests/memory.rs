//! What this node's network had in this boot decides about later attempts too.

use super::*;
use crate::{model::memory::Memory, settings::Seconds, transaction::memory};

/// A network whose DNS is silent before or after the change; after the roll back as before.
fn deaf(before: bool, after: bool) -> Fake {
    let dns = |is_deaf| if is_deaf { vec!["dns"] } else { Vec::new() };
    Fake { deaf_before: dns(before), deaf_after: dns(after), ..Fake::default() }
}

fn source(result: Result<(), Failure>) -> Result<PhaseError, String> {
    match result {
        Err(Failure::RolledBack { source, .. }) => Ok(*source),
        other => Err(format!("{other:?}")),
    }
}

/// A bench whose document was refused by DNS.
async fn refused() -> Result<Bench, Box<dyn std::error::Error>> {
    let bench = Bench::new()?;
    let source = source(bench.run(&deaf(false, true), &mut Probed::default()).await)?;
    assert!(matches!(source, PhaseError::Probes(_)), "{source:?}");
    assert!(memory::load(&bench.paths).has_refused());
    Ok(bench)
}

#[tokio::test(start_paused = true)]
async fn a_refusal_stays_while_the_old_network_is_silent_too() -> Tested {
    let bench = refused().await?;
    for _ in 0..2 {
        let source = source(bench.run(&deaf(true, true), &mut Probed::default()).await)?;
        assert!(matches!(source, PhaseError::Unproved(_)), "{source:?}");
        assert!(source.to_string().contains("the old network has no answer either"), "{source}");
        assert!(memory::load(&bench.paths).is_silent("dns") && !bench.committed());
    }
    // Through the document's network it answers.
    let mut probed = Probed::default();
    bench.run(&deaf(true, false), &mut probed).await?;
    assert!(probed.unproved.is_empty() && bench.committed());
    assert!(!memory::load(&bench.paths).has_refused());
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_nobody_gives_any_more_is_given_up_after_a_bound() -> Tested {
    let mut bench = refused().await?;
    bench.settings.wait.answer = Seconds::try_from(0.0)?;
    let mut probed = Probed::default();
    bench.run(&deaf(true, true), &mut probed).await?;
    assert_eq!(probed.unproved, ["dns"]);
    assert!(
        probed
            .warnings
            .iter()
            .any(|warning| warning.contains("probe dns answered earlier in this boot"))
    );
    // Where the old network answers, there is no bound.
    let mut bench = refused().await?;
    bench.settings.wait.answer = Seconds::try_from(0.0)?;
    let source = source(bench.run(&deaf(false, true), &mut Probed::default()).await)?;
    assert!(matches!(source, PhaseError::Probes(_)), "{source:?}");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn another_document_or_a_word_ends_a_refusal() -> Tested {
    let mut bench = refused().await?;
    bench.text.push_str("# another one\n");
    bench.run(&deaf(true, true), &mut Probed::default()).await?;
    let bench = refused().await?;
    memory::update(&bench.paths, Memory::forget);
    bench.run(&deaf(true, true), &mut Probed::default()).await?;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn after_a_roll_back_that_failed_any_document_is_judged_by_the_network_before() -> Tested {
    let mut bench = Bench::new()?;
    let network = Fake { faults: vec![(Step::Restored, How::Fails)], ..deaf(false, true) };
    let result = bench.run(&network, &mut Probed::default()).await;
    assert!(matches!(result, Err(Failure::RollBackFailed { .. })), "{result:?}");
    assert!(journal::close(&bench.paths).is_ok(), "a later run has undone it");
    bench.text.push_str("# another one\n");
    let source = source(bench.run(&deaf(true, true), &mut Probed::default()).await)?;
    assert!(matches!(source, PhaseError::Unproved(_)), "{source:?}");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_change_that_is_not_remembered_neither_asks_nor_tells() -> Tested {
    let mut bench = refused().await?;
    let before = memory::load(&bench.paths);
    bench.is_remembered = false;
    bench.run(&deaf(true, true), &mut Probed::default()).await?;
    assert_eq!(memory::load(&bench.paths), before);
    Ok(())
}
