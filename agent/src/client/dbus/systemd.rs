//! systemd's manager.

use futures_util::StreamExt as _;
use zbus::zvariant::{ObjectPath, OwnedObjectPath};

use super::bus::{BusError, Result, proxy};

/// systemd's error for a unit that is not loaded.
const NO_SUCH_UNIT: &str = "org.freedesktop.systemd1.NoSuchUnit";

#[zbus::proxy(
    interface = "org.freedesktop.systemd1.Manager",
    default_service = "org.freedesktop.systemd1",
    default_path = "/org/freedesktop/systemd1"
)]
trait Systemd {
    fn start_unit(&self, name: &str, mode: &str) -> zbus::Result<OwnedObjectPath>;
    fn restart_unit(&self, name: &str, mode: &str) -> zbus::Result<OwnedObjectPath>;
    fn get_unit(&self, name: &str) -> zbus::Result<OwnedObjectPath>;
    #[allow(clippy::type_complexity, reason = "the method's own type")]
    fn list_jobs(
        &self,
    ) -> zbus::Result<Vec<(u32, String, String, String, OwnedObjectPath, OwnedObjectPath)>>;
    /// Has systemd send its signals.
    fn subscribe(&self) -> zbus::Result<()>;
    #[zbus(signal)]
    fn job_removed(
        &self,
        id: u32,
        job: ObjectPath<'_>,
        unit: &str,
        result: &str,
    ) -> zbus::Result<()>;
}

#[zbus::proxy(
    interface = "org.freedesktop.systemd1.Unit",
    default_service = "org.freedesktop.systemd1"
)]
trait Unit {
    /// The unit's job, 0 without one.
    #[zbus(property)]
    fn job(&self) -> zbus::Result<(u32, OwnedObjectPath)>;
    /// Microseconds of `CLOCK_MONOTONIC` at the unit's last start; 0 before the first one of this boot.
    #[zbus(property)]
    fn inactive_exit_timestamp_monotonic(&self) -> zbus::Result<u64>;
    #[zbus(property)]
    fn active_state(&self) -> zbus::Result<String>;
    #[zbus(property)]
    fn sub_state(&self) -> zbus::Result<String>;
    #[zbus(property)]
    fn requires(&self) -> zbus::Result<Vec<String>>;
}

/// A command of a unit: its program, its arguments with their first, and more, of its last run.
type Command = (String, Vec<String>, bool, u64, u64, u64, u64, u32, i32, i32);

#[zbus::proxy(
    interface = "org.freedesktop.systemd1.Service",
    default_service = "org.freedesktop.systemd1"
)]
trait Service {
    #[zbus(property)]
    fn exec_start(&self) -> zbus::Result<Vec<Command>>;
}

async fn systemd() -> Result<SystemdProxy<'static>> {
    let connect = |e| BusError::Connect { source: Box::new(e) };
    let connection = zbus::Connection::system().await.map_err(connect)?;
    proxy(&connection, None).await.map_err(connect)
}

/// Has systemd start a unit, and does not wait for it. The unit's processes are systemd's: they outlive
/// the caller and its session.
pub(crate) async fn start_unit(unit: &'static str) -> Result {
    start(unit, "replace").await
}

async fn start(unit: &'static str, mode: &str) -> Result {
    let refused = |e| BusError::Start { unit, source: Box::new(e) };
    systemd().await?.start_unit(unit, mode).await.map(drop).map_err(refused)
}

/// Has systemd start a unit now, whatever the units before it wait for (`ignore-dependencies` of systemctl(1)); a job that
/// waits for its turn gets it.
pub(crate) async fn start_unit_out_of_turn(unit: &'static str) -> Result {
    start(unit, "ignore-dependencies").await
}

/// Starts a unit out of its turn if it waits for its turn; whether it did. A unit that nobody wants in this boot, or that has run,
/// has no job, and stays as it is.
pub(crate) async fn bring_forward(unit: &'static str) -> Result<bool> {
    let waits = has_job(unit).await?;
    if waits {
        start_unit_out_of_turn(unit).await?;
    }
    Ok(waits)
}

/// Returns whether a unit is about to start or to stop, or waits for its turn to.
pub(crate) async fn has_job(unit: &'static str) -> Result<bool> {
    let Some(proxy) = loaded(unit).await? else { return Ok(false) };
    let (job, _) = proxy.job().await.map_err(|e| BusError::Unit { unit, source: Box::new(e) })?;
    Ok(job != 0)
}

/// Returns whether a unit was started in this boot, whatever has become of it.
pub(crate) async fn was_started(unit: &'static str) -> Result<bool> {
    let ask = |e| BusError::Unit { unit, source: Box::new(e) };
    let Some(proxy) = loaded(unit).await? else { return Ok(false) };
    Ok(proxy.inactive_exit_timestamp_monotonic().await.map_err(ask)? != 0)
}

/// Returns the arguments of a service's commands, drop-ins included.
pub(crate) async fn arguments(unit: &'static str) -> Result<Vec<Vec<String>>> {
    let ask = |e| BusError::Unit { unit, source: Box::new(e) };
    let Some(unit) = loaded(unit).await? else { return Ok(Vec::new()) };
    let unit = unit.inner();
    let service = proxy::<ServiceProxy<'_>>(unit.connection(), Some(unit.path())).await;
    let commands = service.map_err(ask)?.exec_start().await.map_err(ask)?;
    Ok(commands.into_iter().map(|command| command.1).collect())
}

/// The unit, unless systemd has no reason to know it.
async fn loaded(unit: &'static str) -> Result<Option<UnitProxy<'static>>> {
    let ask = |e| BusError::Unit { unit, source: Box::new(e) };
    named(&systemd().await?, unit).await.map_err(ask)
}

async fn named(systemd: &SystemdProxy<'_>, unit: &str) -> zbus::Result<Option<UnitProxy<'static>>> {
    let path = match systemd.get_unit(unit).await {
        Ok(path) => path,
        Err(zbus::Error::MethodError(name, _, _)) if name.as_str() == NO_SUCH_UNIT => {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    proxy(systemd.inner().connection(), Some(&path)).await.map(Some)
}

/// Units that are asked for the failed one among them.
const REQUIRED: usize = 64;

/// Returns the failed unit for which this one does not run: itself, or one that it requires, which may require others. A unit that
/// systemd starts again after a pause, as kubelet with `Restart=always`, has failed too.
pub(crate) async fn failed_below(unit: &'static str) -> Result<Option<String>> {
    let ask = |e| BusError::Unit { unit, source: Box::new(e) };
    let systemd = systemd().await?;
    let mut names = vec![unit.to_owned()];
    let mut asked = 0;
    while let Some(name) = names.get(asked).cloned() {
        asked += 1;
        let Some(proxy) = named(&systemd, &name).await.map_err(ask)? else { continue };
        match proxy.active_state().await.map_err(ask)?.as_str() {
            "failed" => return Ok(Some(name)),
            "activating" if proxy.sub_state().await.map_err(ask)? == "auto-restart" => {
                return Ok(Some(name));
            }
            "inactive" => {
                let required = proxy.requires().await.map_err(ask)?;
                let new: Vec<String> =
                    required.into_iter().filter(|required| !names.contains(required)).collect();
                names.extend(new);
                names.truncate(REQUIRED);
            }
            _ => {}
        }
    }
    Ok(None)
}

/// Returns the units whose start is at work while this one waits for its turn; `None` if it does not wait.
pub(crate) async fn awaited_by(unit: &'static str) -> Result<Option<Vec<String>>> {
    let query = |e| BusError::Start { unit, source: Box::new(e) };
    let jobs = systemd().await?.list_jobs().await.map_err(query)?;
    let is_waiting = jobs.iter().any(|(_, name, _, state, ..)| name == unit && state == "waiting");
    let at_work =
        jobs.into_iter().filter(|(_, _, kind, state, ..)| kind == "start" && state == "running");
    Ok(is_waiting.then(|| at_work.map(|(_, name, ..)| name).collect()))
}

/// Has systemd restart a unit, and waits until it is up.
pub(super) async fn restart_unit(unit: &'static str) -> Result {
    let start = |e| BusError::Start { unit, source: Box::new(e) };
    let systemd = systemd().await?;
    let mut removed = systemd.receive_job_removed().await.map_err(start)?;
    systemd.subscribe().await.map_err(start)?;
    let job = systemd.restart_unit(unit, "replace").await.map_err(start)?;
    while let Some(signal) = removed.next().await {
        let ended = signal.args().map_err(start)?;
        if *ended.job() == *job {
            return match *ended.result() {
                "done" => Ok(()),
                result => Err(BusError::Restart { unit, result: result.to_owned() }),
            };
        }
    }
    Err(BusError::Closed)
}
