//! systemd's manager.

use super::bus::BusError;

#[zbus::proxy(
    interface = "org.freedesktop.systemd1.Manager",
    default_service = "org.freedesktop.systemd1",
    default_path = "/org/freedesktop/systemd1"
)]
trait Systemd {
    fn start_unit(&self, name: &str, mode: &str) -> zbus::Result<zbus::zvariant::OwnedObjectPath>;
}

/// Has systemd start a unit, and does not wait for it. The unit's processes are systemd's: they outlive
/// the caller and its session.
pub(crate) async fn start_unit(unit: &'static str) -> Result<(), BusError> {
    let connection = zbus::Connection::system().await;
    let connection = connection.map_err(|e| BusError::Connect { source: Box::new(e) })?;
    let start = |e| BusError::Start { unit, source: Box::new(e) };
    let systemd = SystemdProxy::builder(&connection)
        .cache_properties(zbus::proxy::CacheProperties::No)
        .build()
        .await
        .map_err(start)?;
    systemd.start_unit(unit, "replace").await.map_err(start)?;
    Ok(())
}
