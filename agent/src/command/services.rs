//! The services without which the network of a document is neither read nor made, asked before anything that depends on them.

use std::{fs::File, io::Read as _, path::Path, pin::pin, time::Duration};

use nmgen::chain;

use crate::{
    client::{dbus::Bus, ovsdb::Ovsdb},
    document::Document,
    error::{Error, Result},
    model::facts::{Outage, StoppedService},
    paths::Paths,
    run::{refused, units},
    state::Parsed,
};

/// The bound of a question. A service that is there answers within milliseconds.
pub(super) const ANSWER: Duration = Duration::from_secs(5);

/// The bound of a look at the current state where NetworkManager answers nothing.
const SILENT: Duration = Duration::from_secs(10);

/// Its bound where NetworkManager answers, slowly: an emulated machine takes more than a minute.
const BUSY: Duration = Duration::from_secs(300);

fn outage(paths: &Paths, service: StoppedService, why: String) -> Outage {
    let names: &[&str] = match service {
        StoppedService::OpenVswitch => &["openvswitch.service", "openvswitch-switch.service"],
        StoppedService::NetworkManager => &["NetworkManager.service"],
        StoppedService::Bus => &["dbus-broker.service", "dbus.service"],
    };
    let unit = names.iter().find(|name| units::is_installed(paths, name)).unwrap_or(&names[0]);
    let unmask = if units::is_masked(paths, unit) {
        format!("systemctl unmask {unit}; ")
    } else {
        String::new()
    };
    let database = paths.ovs_database();
    let start = match service {
        StoppedService::OpenVswitch if is_damaged(&database) => {
            let database = database.display();
            format!(
                "`mv {database} {database}.damaged; {unmask}systemctl restart {unit}` makes an empty \
                 database in place of the damaged one, and starts it"
            )
        }
        StoppedService::OpenVswitch | StoppedService::NetworkManager | StoppedService::Bus => {
            format!("`{unmask}systemctl start {unit}` starts it")
        }
    };
    Outage { service, is_late: false, why, start }
}

/// Whether a file is no database of ovsdb(7): each record begins with one of these words. A missing one is made by ovs-ctl.
fn is_damaged(database: &Path) -> bool {
    const MAGIC: [&[u8]; 2] = [b"OVSDB JSON ", b"OVSDB CLUSTER "];
    let mut start = Vec::new();
    let read = File::open(database).and_then(|file| file.take(LENGTH).read_to_end(&mut start));
    read.is_ok() && !MAGIC.iter().any(|magic| start.starts_with(magic))
}

/// The bytes that tell a database from another file.
const LENGTH: u64 = 16;

fn late(paths: &Paths, service: StoppedService, bound: Duration) -> Outage {
    let why = format!("no answer within {} s", bound.as_secs());
    let outage = outage(paths, service, why);
    let start = format!("if the node is not just busy: {}", outage.start);
    Outage { is_late: true, start, ..outage }
}

pub(super) fn ended(outage: Outage) -> Error {
    Error::Down { down: outage.to_string(), why: outage.why, start: outage.start }
}

/// The first of the services that is down; Open vSwitch is asked where the network needs it.
pub(super) async fn down(paths: &Paths, needs_ovs: bool) -> Option<Outage> {
    if let Some(facts) = paths.collected() {
        let ovs = facts.open_vswitch.clone().filter(|_| needs_ovs);
        return ovs.or_else(|| facts.network_manager.clone());
    }
    let ovs = if needs_ovs { down_open_vswitch(paths, ANSWER).await } else { None };
    match ovs {
        Some(down) => Some(down),
        None => down_network_manager(paths, ANSWER).await,
    }
}

/// Open vSwitch, if it is down or has no answer within `bound`.
pub(super) async fn down_open_vswitch(paths: &Paths, bound: Duration) -> Option<Outage> {
    match tokio::time::timeout(bound, without_open_vswitch(paths)).await {
        Ok(why) => why.map(|why| outage(paths, StoppedService::OpenVswitch, why)),
        Err(_) => Some(late(paths, StoppedService::OpenVswitch, bound)),
    }
}

/// NetworkManager or the bus, if one is down or has no answer within `bound`.
pub(super) async fn down_network_manager(paths: &Paths, bound: Duration) -> Option<Outage> {
    let down = |service, why| Some(outage(paths, service, why));
    let manager = async { Bus::connect().await?.has_network_manager().await };
    match tokio::time::timeout(bound, manager).await {
        Ok(Ok(true)) => None,
        Ok(Ok(false)) => {
            down(StoppedService::NetworkManager, "it does not own its name on the bus".to_owned())
        }
        Ok(Err(error)) => down(StoppedService::Bus, chain(&error)),
        Err(_) => Some(late(paths, StoppedService::Bus, bound)),
    }
}

/// Carries out a look at the current state, which is some hundred questions to NetworkManager: a part of a second, on a busy
/// node or an emulated one many. Whoever asks has a bound too.
///
/// # Errors
/// Why it has no end: NetworkManager has its name and answers nothing, or all of the node is slow.
pub(super) async fn in_time<T>(look: impl Future<Output = T>) -> Result<T, String> {
    let mut look = pin!(look);
    if let Ok(seen) = tokio::time::timeout(SILENT, &mut look).await {
        return Ok(seen);
    }
    let late = |bound: Duration, why: &str| {
        format!("the current state was not read within {} s: {why}", bound.as_secs())
    };
    let version = async { Bus::connect().await?.version().await };
    match tokio::time::timeout(ANSWER, version).await {
        Ok(Ok(_)) => tokio::time::timeout(BUSY - SILENT, look)
            .await
            .map_err(|_| late(BUSY, "the node is busy")),
        Ok(Err(error)) => Err(late(SILENT, &chain(&error))),
        Err(_) => Err(late(SILENT, "NetworkManager does not answer")),
    }
}

/// An error if a service is down that a command of somebody at a terminal needs: it would wait for it, and fail later with a
/// reason that is further from the cause.
pub(super) async fn required(paths: &Paths, needs_ovs: bool) -> Result {
    match down(paths, needs_ovs).await.filter(|_| paths.has_network()) {
        Some(down) => Err(ended(down)),
        None => Ok(()),
    }
}

/// Like `required`, for Open vSwitch alone: a run starts NetworkManager by itself.
pub(super) async fn open_vswitch(paths: &Paths) -> Result {
    let why = without_open_vswitch(paths).await.filter(|_| paths.is_system());
    why.map_or(Ok(()), |why| {
        let error = ended(outage(paths, StoppedService::OpenVswitch, why));
        refused(&error);
        Err(error)
    })
}

/// Why Open vSwitch is down: nobody serves its database, or the daemon that moves packets is gone.
async fn without_open_vswitch(paths: &Paths) -> Option<String> {
    if let Err(error) = Ovsdb::connect(&paths.ovsdb_socket()).await {
        return Some(chain(&error));
    }
    let file = paths.ovs_vswitchd_pid();
    let process = std::fs::read_to_string(&file).unwrap_or_default();
    let is_alive =
        process.trim().parse::<u32>().is_ok_and(|id| paths.under(&format!("/proc/{id}")).exists());
    (!is_alive).then(|| format!("ovs-vswitchd does not run: {} names no process", file.display()))
}

/// Whether the document's network needs Open vSwitch.
pub(super) fn needs_ovs(document: &Document) -> bool {
    Parsed::new(&document.text).is_ok_and(|parsed| parsed.first_wants().ovs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_that_cannot_be_one_is_named_with_the_command_that_replaces_it()
    -> Result<(), std::io::Error> {
        let root = tempfile::tempdir()?;
        let paths = Paths::new(root.path());
        let file = paths.ovs_database();
        let start = || outage(&paths, StoppedService::OpenVswitch, String::new()).start;
        assert!(start().starts_with("`systemctl start "), "{}", start());
        std::fs::create_dir_all(file.parent().unwrap_or(&file))?;
        for (text, is_damaged) in [
            ("", true),
            ("SDB JSON 172 7c", true),
            ("OVSDB JSON 172 7c", false),
            ("OVSDB CLUSTER 172 7c", false),
        ] {
            std::fs::write(&file, text)?;
            assert_eq!(start().starts_with("`mv "), is_damaged, "{text:?} {}", start());
        }
        Ok(())
    }
}
