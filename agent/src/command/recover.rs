//! `dayone recover`: undoes a transaction left open by a killed agent or a power cut.

use std::time::Duration;

use nmgen::chain;

use super::services;
use crate::{
    client::ovsdb::{Ovsdb, OvsdbError},
    durable::{
        journal::{self, Journal},
        machine::Owner,
        owner,
    },
    error::Result,
    lock,
    network::bridges,
    paths::Paths,
    run::{
        Run, marks,
        recover::{OpenTransaction, note, open_journal, say_recovered, undo_by_hand},
        signals::Signals,
        units,
    },
    status::log::{self, Tone, console},
    warn::OrWarn as _,
};

/// Short, since NetworkManager waits for dayone-recover.service.
const TURN: Duration = Duration::from_secs(20);

/// Early in boot, before NetworkManager: restores files, and OVS bridges if OVSDB is up. From then
/// on a mark holds back the units that would apply the document themselves. A call by hand makes no
/// mark: no later run would remove it, and kubelet would wait for it at its next start.
pub(crate) async fn recover(paths: &Paths) -> Result {
    match (log::is_service(), paths.is_system()) {
        (true, _) => {
            marks::hold_at_boot(paths);
            let moved = units::move_link_of_0_2(paths);
            if moved.or_warn_of("the link of dayone-bridge.service stays") == Some(true) {
                tracing::info!(
                    "dayone-bridge.service starts with ovs-configuration.service from the next boot on"
                );
            }
        }
        (false, false) => {}
        // NetworkManager would neither read the restored profiles nor give up the ones that it has.
        (false, true) => match services::down_network_manager(paths, services::ANSWER).await {
            None => return undone_by_hand(paths).await,
            Some(late) if late.is_late => return Err(services::ended(late)),
            Some(down) => {
                let text = format!("{down}: it reads the restored profiles when it starts");
                console(Tone::Plain, &[text]);
            }
        },
    }
    // Early in boot there is no other run; a manual call may meet one.
    let say = |text: &str| tracing::warn!("{text}");
    let _turn = lock::take(paths, "recover", TURN, say).await?;
    // dayone.service sets it aside, and looks at the cards, which are not known yet, where these decide.
    let others = match owner::of_state(paths) {
        Owner::ThisInstallation => None,
        Owner::Another => Some("is another installation's: nothing of it is recovered"),
        Owner::DecidedByCards => {
            Some("may be another machine's: nothing is recovered before its cards are known")
        }
    };
    if let Some(why) = others {
        tracing::warn!("/var/lib/dayone {why}");
        return Ok(());
    }
    // One that was set aside may be below the open one.
    loop {
        match open_journal(paths)? {
            OpenTransaction::Journal(journal) => {
                if !undone(paths, &journal).await? {
                    return Ok(());
                }
            }
            OpenTransaction::Abandoned => {}
            // NetworkManager will read the restored profiles when it starts.
            OpenTransaction::Nothing => return Ok(()),
        }
    }
}

/// Undoes as a run does, beside NetworkManager.
async fn undone_by_hand(paths: &Paths) -> Result {
    let stop = Signals::listen()?.stop;
    let run = Run::begin(paths, "recover", &stop).await?;
    let result = undo_by_hand(&run).await;
    run.finish();
    result
}

/// Undoes a transaction; `false` if the agent has to end it once Open vSwitch is up.
async fn undone(paths: &Paths, journal: &Journal) -> Result<bool> {
    let same_boot = journal.is_of_this_boot(paths);
    journal::restore_files(paths, same_boot)?;
    // As online, but without NetworkManager, which reads the restored profiles when it starts. It
    // then removes its own ports from OVSDB, but keeps a bridge with foreign ports, such as OVN's.
    if let Err(error) = undo_bridges(paths, journal).await {
        if bridges::must_return(&journal.before) {
            tracing::warn!("{}; the agent restores the bridges when it starts", chain(&error));
            return Ok(false);
        }
        tracing::info!("{}; bridges stay as they are", chain(&error));
    }
    note(paths, journal);
    journal::close(paths)?;
    let restored =
        "the old profiles are back on disk, and NetworkManager reads them when it starts";
    say_recovered(paths, journal, restored);
    Ok(true)
}

async fn undo_bridges(paths: &Paths, journal: &Journal) -> Result<(), OvsdbError> {
    let (before, made) = (&journal.before, &journal.bridges);
    if !bridges::is_needed(before, made) {
        return Ok(());
    }
    let mut ovsdb = Ovsdb::connect(&paths.ovsdb_socket()).await?;
    bridges::undo_settings(&mut ovsdb, before).await?;
    bridges::undo(&mut ovsdb, &before.bridges, made, &[]).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::durable::machine::Machine;

    #[tokio::test(flavor = "current_thread")]
    async fn nothing_of_a_state_that_may_be_anothers_is_recovered()
    -> Result<(), Box<dyn std::error::Error>> {
        for (machine_id, uuid, is_left) in
            [("b2", "uuid-a", true), ("a1", "uuid-b", true), ("a1", "uuid-a", false)]
        {
            let root = tempfile::tempdir()?;
            let paths = Paths::new(root.path());
            std::fs::create_dir_all(paths.dmi(""))?;
            std::fs::create_dir_all(paths.documents())?;
            std::fs::write(paths.machine_id(), "a1\n")?;
            std::fs::write(paths.dmi("product_uuid"), "uuid-a\n")?;
            Machine::here(&paths, vec!["52:54:00:00:00:01".to_owned()]).record(&paths)?;
            std::fs::create_dir_all(paths.transaction())?;
            std::fs::write(paths.transaction().join("journal.json"), "{\"half")?;
            std::fs::write(paths.machine_id(), machine_id)?;
            std::fs::write(paths.dmi("product_uuid"), uuid)?;
            recover(&paths).await?;
            assert_eq!(paths.transaction().exists(), is_left, "{machine_id} {uuid}");
        }
        Ok(())
    }
}
