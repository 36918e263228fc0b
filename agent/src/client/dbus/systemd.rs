//! systemd on the system bus.

use super::BusError;

#[zbus::proxy(
    interface = "org.freedesktop.systemd1.Manager",
    default_service = "org.freedesktop.systemd1",
    default_path = "/org/freedesktop/systemd1"
)]
trait Manager {
    fn start_unit(&self, name: &str, mode: &str) -> zbus::Result<zbus::zvariant::OwnedObjectPath>;
}

/// Asks for the boot's target again: what it wants and is not running is started, what runs is
/// left alone. Before systemd 254 a unit whose requirement failed once is not tried again when
/// the requirement comes up after all; where it waits still, this changes nothing.
pub(crate) async fn start_what_waited() -> Result<(), BusError> {
    let refused = |source| BusError::Systemd { source: Box::new(source) };
    let connection = zbus::Connection::system().await.map_err(refused)?;
    let manager = ManagerProxy::new(&connection).await.map_err(refused)?;
    // "fail": never in the way of a shutdown or of anything else that is queued.
    manager.start_unit("multi-user.target", "fail").await.map(|_| ()).map_err(refused)
}
