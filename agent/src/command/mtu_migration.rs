//! `dayone mtu-migration`: the condition of the machine-config-operator's mtu-migration.service.
//!
//! Whatever cannot be told leaves the unit as it would be without dayone: the word is printed where the script would fail, and a
//! program that lacks this command, or ends in its middle, prints none.

use std::time::Duration;

use nmgen::chain;

use super::output::print;
use crate::{
    client::dbus::{Bus, BusError},
    durable::record::Record,
    error::Result,
    network::sight::Sight,
    paths::Paths,
    run::{
        last_good::last_good_if_readable,
        marks,
        mtu_migration::{Migration, Standing, UNIT, is_for_the_script, target},
    },
};

/// The word that skips the unit.
const SKIP: &str = "skip\n";
/// The network type whose script sets what profiles name; that of OpenShiftSDN asks the default route.
const BY_PROFILES: &str = "OVNKubernetes";

/// Limit for reading NetworkManager's profiles: long, since a booting node is slow; bounded, since kubelet waits for the unit.
const ANSWER: Duration = Duration::from_secs(60);

/// Prints [`SKIP`] where the unit's script would fail, and tells the reason.
pub(crate) async fn mtu_migration(paths: &Paths) -> Result {
    let is_by_profiles = std::env::var_os("NETWORK_TYPE").is_none_or(|value| value == BY_PROFILES);
    let is_document = paths.in_force().exists();
    let is_automatic = !is_document && paths.bridge().exists();
    if !is_by_profiles || !(is_document || is_automatic) {
        return Ok(());
    }
    // From the environment that systemd gives to each command of the unit.
    let target = target(std::env::var_os("TARGET_MTU"));
    // The script wants nothing then, and says so.
    if matches!(target, Ok(None)) {
        return Ok(());
    }
    let finds_its_profiles = async {
        let bus = Bus::connect().await?;
        Ok::<_, BusError>(is_for_the_script(&bus.connections().await?, &bus.active().await?))
    };
    let runs = is_automatic
        || match tokio::time::timeout(ANSWER, finds_its_profiles).await {
            Ok(Ok(finds)) => finds,
            Ok(Err(error)) => {
                tracing::warn!("{}; {UNIT} runs as without dayone", chain(&error));
                return Ok(());
            }
            Err(_) => {
                tracing::warn!(
                    "NetworkManager does not tell its profiles; {UNIT} runs as without dayone"
                );
                return Ok(());
            }
        };
    if runs {
        // What the script cannot read it does not set.
        if let Ok(Some(target)) = target {
            Migration { target, by_script: true }.mark(paths)?;
        }
        return Ok(());
    }
    let why = "its script knows the profiles of configure-ovs alone, and br-ex is the document's";
    let skipped = |error: &dyn std::error::Error| {
        tracing::warn!("{UNIT} is skipped: {why}; {}", chain(error));
    };
    match target {
        Ok(Some(target)) => match standing(paths, Migration { target, by_script: false }).await {
            Ok(standing) => tell(&standing, why),
            Err(error) => skipped(&error),
        },
        Ok(None) => {}
        Err(error) => skipped(&error),
    }
    print(SKIP)
}

/// Marks the change for `dayone status` and `dayone health`, and looks at the links.
async fn standing(paths: &Paths, migration: Migration) -> Result<Standing> {
    migration.mark(paths)?;
    marks::ended(paths);
    compared(migration, paths, &Record::load(paths)).await
}

/// The MTU that the cluster wants, beside those of the links of the document in force.
pub(super) async fn compared(
    migration: Migration,
    paths: &Paths,
    record: &Record,
) -> Result<Standing> {
    let wants = last_good_if_readable(record).map(|state| state.wants()).unwrap_or_default();
    let recorded = record.uplinks();
    let cards = recorded.map(|uplinks| uplinks.cards.as_slice()).unwrap_or_default();
    Ok(migration.standing(&wants, cards, &Sight::links(paths).await?))
}

fn tell(standing: &Standing, why: &str) {
    let (is_below, next) = (standing.is_below(), standing.next());
    let text = format!("{UNIT} is skipped: {why}; {standing}");
    match (is_below, next.is_empty()) {
        (true, _) => tracing::warn!("{text}; {next}"),
        (false, false) => tracing::info!("{text}; {next}"),
        (false, true) => tracing::info!("{text}"),
    }
}
