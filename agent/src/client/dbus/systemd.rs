//! systemd's manager.

use futures_util::StreamExt as _;

use super::bus::BusError;

/// systemd's error for a unit that is not loaded.
const NO_SUCH_UNIT: &str = "org.freedesktop.systemd1.NoSuchUnit";

#[zbus::proxy(
    interface = "org.freedesktop.systemd1.Manager",
    default_service = "org.freedesktop.systemd1",
    default_path = "/org/freedesktop/systemd1"
)]
trait Systemd {
    fn start_unit(&self, name: &str, mode: &str) -> zbus::Result<zbus::zvariant::OwnedObjectPath>;
    fn restart_unit(&self, name: &str, mode: &str)
    -> zbus::Result<zbus::zvariant::OwnedObjectPath>;
    fn get_unit(&self, name: &str) -> zbus::Result<zbus::zvariant::OwnedObjectPath>;
    /// Has systemd send its signals.
    fn subscribe(&self) -> zbus::Result<()>;
    #[zbus(signal)]
    fn job_removed(
        &self,
        id: u32,
        job: zbus::zvariant::ObjectPath<'_>,
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
    fn job(&self) -> zbus::Result<(u32, zbus::zvariant::OwnedObjectPath)>;
}

async fn systemd() -> Result<SystemdProxy<'static>, BusError> {
    let connect = |e| BusError::Connect { source: Box::new(e) };
    let connection = zbus::Connection::system().await.map_err(connect)?;
    SystemdProxy::builder(&connection)
        .cache_properties(zbus::proxy::CacheProperties::No)
        .build()
        .await
        .map_err(connect)
}

/// Has systemd start a unit, and does not wait for it. The unit's processes are systemd's: they outlive
/// the caller and its session.
pub(crate) async fn start_unit(unit: &'static str) -> Result<(), BusError> {
    let start = |e| BusError::Start { unit, source: Box::new(e) };
    systemd().await?.start_unit(unit, "replace").await.map_err(start)?;
    Ok(())
}

/// Has systemd start a unit now, whatever the units before it wait for (`ignore-dependencies` of systemctl(1)); a job that
/// waits for its turn gets it.
pub(crate) async fn start_unit_out_of_turn(unit: &'static str) -> Result<(), BusError> {
    let start = |e| BusError::Start { unit, source: Box::new(e) };
    systemd().await?.start_unit(unit, "ignore-dependencies").await.map_err(start)?;
    Ok(())
}

/// Starts a unit out of its turn if it waits for its turn; whether it did. A unit that nobody wants in this boot, or that has run,
/// has no job, and stays as it is.
pub(crate) async fn bring_forward(unit: &'static str) -> Result<bool, BusError> {
    let start = |e| BusError::Start { unit, source: Box::new(e) };
    let systemd = systemd().await?;
    let path = match systemd.get_unit(unit).await {
        Ok(path) => path,
        Err(zbus::Error::MethodError(name, _, _)) if name.as_str() == NO_SUCH_UNIT => {
            return Ok(false);
        }
        Err(error) => return Err(start(error)),
    };
    let connection = systemd.inner().connection();
    let builder = UnitProxy::builder(connection).path(path).map_err(start)?;
    let builder = builder.cache_properties(zbus::proxy::CacheProperties::No);
    let (job, _) = builder.build().await.map_err(start)?.job().await.map_err(start)?;
    if job != 0 {
        systemd.start_unit(unit, "ignore-dependencies").await.map_err(start)?;
    }
    Ok(job != 0)
}

/// Has systemd restart a unit, and waits until it is up.
pub(super) async fn restart_unit(unit: &'static str) -> Result<(), BusError> {
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
