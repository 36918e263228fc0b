//! The automatic bridge as the change.

use super::*;
use crate::{
    bridge::{
        plan::{Hint, Removal},
        uplink::{Reason, Uplink},
    },
    durable::commit,
};

const CHANGE: [Step; 8] = [
    Step::Checkpoint,
    Step::TakeOver,
    Step::ApplyProfiles,
    Step::Verify,
    Step::VerifyProfiles,
    Step::ReturnPatchPorts,
    Step::Uplinks,
    Step::Commit,
];

pub(super) fn plan() -> BridgePlan {
    let leftover = ProfileRef {
        path: "/p".to_owned(),
        id: "ovs-if-br-ex".to_owned(),
        uuid: "0b6ba3d2-3ae1-4b37-8d5e-3f3c0b2fd002".to_owned(),
    };
    BridgePlan {
        uplink: Uplink { link: "eno1".to_owned(), reason: Reason::DefaultBridge, below: None },
        extra: None,
        document: DOCUMENT.to_owned(),
        profiles: Vec::new(),
        order: Vec::new(),
        remove: Removal { profiles: vec![leftover], bridges: Vec::new() },
        own: None,
        hint: Hint::Write("eno1".to_owned()),
        allmulticast: Vec::new(),
        losses: Vec::new(),
    }
}

fn bench() -> Result<Bench, std::io::Error> {
    Ok(Bench { bridge: Some(plan()), ..Bench::new()? })
}

fn hint(bench: &Bench) -> Option<String> {
    std::fs::read_to_string(bench.paths.hint()).ok()
}

#[tokio::test(start_paused = true)]
async fn a_bridge_is_committed_without_a_document() -> Tested {
    let bench = bench()?;
    let network = Fake::default();
    bench.run(&network, &mut Probed::default()).await?;
    let all = [&[Step::Released, Step::Ready, Step::Snapshot][..], &CHANGE[..]].concat();
    assert_eq!(*network.steps.borrow(), all);
    assert!(!bench.committed() && !bench.journal_is_open());
    assert_eq!(hint(&bench).as_deref(), Some("eno1\n"));
    assert!(bench.paths.boot_done().exists() && bench.paths.bridge().exists());
    assert!(!bench.paths.applied().exists());
    Ok(())
}

/// The next boot asks for neither the document's network nor its files.
#[tokio::test(start_paused = true)]
async fn a_bridge_in_place_of_a_document_ends_its_record() -> Tested {
    let mut bench = Bench::new()?;
    bench.run(&Fake::default(), &mut Probed::default()).await?;
    assert!(bench.committed());
    let other = Document { digest: Digest::of(b"other"), ..bench.document() };
    let (outcome, boot_id) = ("rolled-back", String::new());
    let failed = crate::durable::record_file::Failed { before: 1, outcome, error: "why", boot_id };
    Record::failed(&bench.paths, &other.digest, &other.path, failed)?;
    bench.bridge = Some(plan());
    bench.replaces_document = true;
    bench.run(&Fake::default(), &mut Probed::default()).await?;
    let record = Record::load(&bench.paths);
    assert_eq!((record.committed.as_ref(), record.failures_of(&other.digest)), (None, 2));
    assert!(!bench.paths.applied().exists());
    Ok(())
}

/// A gateway that the bridge's profile names need not answer if it did not before.
#[tokio::test(start_paused = true)]
async fn a_bridge_asks_for_no_more_than_the_network_had() -> Tested {
    let silent = Fake {
        deaf_before: vec!["IPv4 gateway", "IPv6 gateway", "dns"],
        deaf_after: vec!["IPv4 gateway", "IPv6 gateway", "dns", "gateway 192.0.2.1"],
        ..Fake::default()
    };
    bench()?.run(&silent, &mut Probed::default()).await?;
    let lost = Fake { deaf_after: vec!["IPv4 gateway"], ..Fake::default() };
    let result = bench()?.run(&lost, &mut Probed::default()).await;
    assert!(matches!(result, Err(Failure::RolledBack { .. })), "{result:?}");
    Ok(())
}

/// A full or read-only `/var`: a file in place of each directory acts like one, also for root.
fn without_var(bench: &Bench) -> Result<(), std::io::Error> {
    std::fs::create_dir_all(bench.paths.under("/var/lib"))?;
    std::fs::create_dir_all(bench.paths.runtime_dir())?;
    std::fs::write(bench.paths.state_dir(), "")?;
    std::fs::write(bench.paths.under("/var/lib/ovnk"), "")
}

#[tokio::test(start_paused = true)]
async fn without_space_a_bridge_is_made_all_the_same() -> Tested {
    let bench = bench()?;
    without_var(&bench)?;
    let mut probed = Probed::default();
    bench.run(&Fake::default(), &mut probed).await?;
    assert!(bench.paths.boot_done().exists() && bench.paths.bridge().exists());
    assert!(!bench.journal_is_open() && !commit::is_unfinished(&bench.paths));
    assert_eq!(probed.warnings.len(), 1);
    assert!(probed.warnings[0].ends_with("the journal is in /run"), "{}", probed.warnings[0]);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn without_space_a_bridge_goes_back_as_on_a_good_disk() -> Tested {
    let bench = bench()?;
    without_var(&bench)?;
    let fails = (Step::VerifyProfiles, How::Fails);
    let network = Fake::with(&[fails]);
    let result = bench.run(&network, &mut Probed::default()).await;
    assert!(matches!(result, Err(Failure::RolledBack { .. })), "{result:?}");
    assert!(!bench.journal_is_open() && !bench.paths.runtime_dir().join("transaction").exists());
    assert_eq!(bench.profile()?, "old");
    // Nothing goes back, so that the journal stays for the next run.
    let network = Fake::with(&[fails, (Step::Restored, How::Fails)]);
    let result = bench.run(&network, &mut Probed::default()).await;
    assert!(matches!(result, Err(Failure::RollBackFailed { .. })), "{result:?}");
    assert!(bench.journal_is_open() && bench.paths.runtime_dir().join("transaction").exists());
    Ok(())
}

/// Profiles of a document in `/etc` would be lost with the power.
#[tokio::test(start_paused = true)]
async fn without_space_a_documents_bridge_stays() -> Tested {
    let mut bench = bench()?;
    bench.replaces_document = true;
    without_var(&bench)?;
    let network = Fake::default();
    let result = bench.run(&network, &mut Probed::default()).await;
    assert!(matches!(result, Err(Failure::Untouched { phase: Phase::Journal, .. })), "{result:?}");
    assert!(!network.did(Step::Checkpoint));
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_damaged_commit_of_a_bridge_is_set_aside() -> Tested {
    let bench = bench()?;
    for place in [bench.paths.committed(), bench.paths.runtime_dir().join("committed")] {
        std::fs::create_dir_all(&place)?;
        std::fs::write(place.join("automatic.json"), "{\"boot-id\": \"half")?;
        commit::finish(&bench.paths)?;
        assert!(!commit::is_unfinished(&bench.paths) && !bench.paths.boot_done().exists());
        assert!(place.with_extension("damaged").exists());
    }
    Ok(())
}
