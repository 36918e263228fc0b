//! NetworkManager on the system bus; only this module uses zbus. Names and values follow
//! NetworkManager's D-Bus API reference.

mod activation;
mod active;
mod addresses;
mod bus;
mod cards;
mod hung;
mod lldp;
mod profiles;
mod proxies;
mod settings;
mod systemd;
#[cfg(test)]
mod tests;

use std::time::Duration;

use futures_util::{FutureExt as _, StreamExt as _};
use zbus::zvariant::OwnedObjectPath;

use self::bus::{NM, Result, call, path_of, proxy, unless_gone};
use self::proxies::{CheckpointProxy, DeviceProxy};
pub(crate) use self::{
    bus::{Bus, BusError},
    cards::CardState,
    hung::Waiting,
    settings::to_dbus,
    systemd::{
        arguments, awaited_by, bring_forward, failed_below, has_job, start_unit,
        start_unit_out_of_turn, was_started,
    },
};
use crate::model::Checkpoint;

/// When a checkpoint rolls back by itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline {
    /// Time of its creation, by `CLOCK_BOOTTIME`.
    pub(crate) created: Duration,
    /// The timeout after it.
    pub(crate) seconds: u32,
}

impl Deadline {
    /// Returns the time until then; `None` for a checkpoint without a timeout.
    pub(crate) fn left(self, now: Duration) -> Option<Duration> {
        let end = self.created + Duration::from_secs(self.seconds.into());
        (self.seconds != 0).then(|| end.saturating_sub(now))
    }
}

/// A checkpoint with devices, of which NetworkManager allows no second one.
#[derive(Clone, Debug)]
pub(crate) struct HeldDevices {
    pub(crate) checkpoint: Checkpoint,
    /// Names of their interfaces.
    pub(crate) devices: Vec<String>,
    pub(crate) deadline: Deadline,
}

/// How far NetworkManager is with a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DeviceState {
    Done,
    /// NetworkManager works on it, or is about to.
    UnderWay,
    /// NetworkManager does not know the device (yet).
    Unknown,
}

/// systemd's unit of NetworkManager.
const UNIT: &str = "NetworkManager.service";
/// Maximum time between two looks for NetworkManager's objects: their signal may come before the subscription.
const UNSEEN: Duration = Duration::from_millis(200);
/// `NM_CHECKPOINT_CREATE_FLAG_DELETE_NEW_CONNECTIONS`.
const UNDO_PROFILES: u32 = 0x02;
/// `NM_CHECKPOINT_CREATE_FLAG_DISCONNECT_NEW_DEVICES`, of a checkpoint of all devices only.
const UNDO_DEVICES: u32 = 0x04;
/// `NM_CHECKPOINT_CREATE_FLAG_TRACK_INTERNAL_GLOBAL_DNS`, NetworkManager 1.48.
const TRACK_DNS: u32 = 0x20;
/// `NM_ROLLBACK_RESULT_OK`.
const ROLLED_BACK: u32 = 0;
/// `NM_MANAGER_RELOAD_FLAG_CONF`.
const RELOAD_SETTINGS: u32 = 0x01;
/// `NM_DEVICE_TYPE_OVS_INTERFACE`.
const OVS_INTERFACE: u32 = 24;
/// `NM_DEVICE_TYPE_OVS_PORT`, `NM_DEVICE_TYPE_OVS_BRIDGE`.
const OVS_BRIDGE_OR_PORT: [u32; 2] = [25, 26];
/// `NM_DEVICE_STATE_PREPARE` up to `NM_DEVICE_STATE_SECONDARIES`: being activated.
const ACTIVATING: std::ops::Range<u32> = 40..100;
/// `NM_DEVICE_STATE_UNAVAILABLE` and below, without unmanaged (10): not processed yet.
const STARTING: [u32; 2] = [0, UNAVAILABLE];
/// `NM_DEVICE_STATE_UNAVAILABLE`: managed, and without a carrier or not set up.
const UNAVAILABLE: u32 = 20;
/// `NM_DEVICE_STATE_DISCONNECTED`.
const DISCONNECTED: u32 = 30;
/// `NM_DEVICE_STATE_DEACTIVATING`.
const DEACTIVATING: u32 = 110;

impl Bus {
    /// Whether NetworkManager owns its name. The question starts nothing.
    pub(crate) async fn has_network_manager(&self) -> Result<bool> {
        let dbus = zbus::fdo::DBusProxy::new(&self.connection).await.map_err(watch)?;
        let name = zbus::names::BusName::try_from(NM).map_err(watch)?;
        dbus.name_has_owner(name).await.map_err(watch)
    }

    /// Returns when NetworkManager is there.
    pub(crate) async fn network_manager(&self) -> Result {
        self.name_owned().await?;
        self.objects().await
    }

    /// Returns when NetworkManager has its objects on the bus. Version 1.42 owns its name before.
    async fn objects(&self) -> Result {
        if self.has_objects().await? {
            return Ok(());
        }
        let mut signals = self.signals().await?;
        while !self.has_objects().await? {
            if let Ok(changed) = tokio::time::timeout(UNSEEN, signals.changed()).await {
                changed?;
            }
        }
        Ok(())
    }

    async fn has_objects(&self) -> Result<bool> {
        Ok(unless_gone(self.version().await)?.is_some())
    }

    /// Returns when NetworkManager owns its name.
    async fn name_owned(&self) -> Result {
        let dbus = zbus::fdo::DBusProxy::new(&self.connection).await.map_err(watch)?;
        let mut changes =
            dbus.receive_name_owner_changed_with_args(&[(0, NM)]).await.map_err(watch)?;
        if self.has_network_manager().await? {
            return Ok(());
        }
        while let Some(change) = changes.next().await {
            if change.args().map_err(watch)?.new_owner().is_some() {
                return Ok(());
            }
        }
        Err(BusError::Closed)
    }

    /// Returns when NetworkManager is there; has systemd start it if it is not. A bus that dies takes NetworkManager
    /// along, and nobody else starts it again.
    pub(crate) async fn started_network_manager(&self) -> Result {
        if self.has_network_manager().await? {
            return self.objects().await;
        }
        if let Err(error) = start_unit(UNIT).await {
            tracing::info!("{}", nmgen::chain(&error));
        }
        self.network_manager().await
    }

    /// Has systemd restart NetworkManager. Returns when it is there again.
    pub(crate) async fn restart_network_manager(&self) -> Result {
        systemd::restart_unit(UNIT).await?;
        self.network_manager().await
    }

    /// NetworkManager's version.
    pub(crate) async fn version(&self) -> Result<String> {
        self.manager.version().await.map_err(call("its version"))
    }

    /// Signals of NetworkManager, after each of which a waiter reads the state anew. They have
    /// their own connection: while a queue is full, zbus reads nothing from its socket, not even
    /// replies to calls.
    pub(crate) async fn signals(&self) -> Result<Signals> {
        let connection = zbus::Connection::system().await.map_err(watch)?;
        let rule = zbus::MatchRule::builder()
            .msg_type(zbus::message::Type::Signal)
            .sender(NM)
            .map_err(watch)?
            .build();
        zbus::MessageStream::for_match_rule(rule, &connection, Some(256))
            .await
            .map(Signals)
            .map_err(watch)
    }

    /// How far NetworkManager is with the device.
    pub(crate) async fn device_state(&self, name: &str) -> Result<DeviceState> {
        let Some(device) = self.device(name).await? else { return Ok(DeviceState::Unknown) };
        let device = self.device_proxy(&device).await?;
        let answers = tokio::try_join!(device.state(), device.available_connections());
        let Some((state, profiles)) = unless_gone(answers.map_err(call("a query")))? else {
            return Ok(DeviceState::Unknown);
        };
        // During start-up NetworkManager is about to activate a disconnected device with a profile.
        let early = STARTING.contains(&state) || (state == DISCONNECTED && !profiles.is_empty());
        let starting = early && self.manager.startup().await.map_err(call("a query"))?;
        Ok(if ACTIVATING.contains(&state) || starting {
            DeviceState::UnderWay
        } else {
            DeviceState::Done
        })
    }

    /// Whether NetworkManager manages the device and finds it unavailable.
    pub(crate) async fn is_unavailable(&self, name: &str) -> Result<bool> {
        let Some(device) = self.device(name).await? else { return Ok(false) };
        let state = self.device_proxy(&device).await?.state().await;
        Ok(unless_gone(state.map_err(call("a query")))? == Some(UNAVAILABLE))
    }

    /// Names of Open vSwitch's interfaces that NetworkManager takes down at the moment.
    pub(crate) async fn deactivating_interfaces(&self) -> Result<Vec<String>> {
        let query = call("the list of devices");
        let mut found = Vec::new();
        for path in self.manager.get_all_devices().await.map_err(query)? {
            let proxy = self.device_proxy(path.as_str()).await?;
            let answers = tokio::try_join!(proxy.interface(), proxy.device_type(), proxy.state());
            if let Some((name, OVS_INTERFACE, DEACTIVATING)) = unless_gone(answers.map_err(query))?
            {
                found.push(name);
            }
        }
        Ok(found)
    }

    async fn device_proxy(&self, path: &str) -> Result<DeviceProxy<'static>> {
        proxy(&self.connection, Some(path)).await.map_err(call("a query"))
    }

    /// Object path of a device by interface name. OVS bridges and ports have their own devices,
    /// which may share the name of an interface; this finds the interface.
    async fn device(&self, name: &str) -> Result<Option<String>> {
        let query = call("the list of devices");
        match self.manager.get_device_by_ip_iface(name).await {
            Ok(path) => {
                let kind = self.device_proxy(path.as_str()).await?.device_type().await;
                let kind = unless_gone(kind.map_err(query))?;
                if kind.is_some_and(|kind| !OVS_BRIDGE_OR_PORT.contains(&kind)) {
                    return Ok(Some(path.to_string()));
                }
            }
            // An interface that the kernel does not have yet may still have a device.
            Err(zbus::Error::MethodError(error, ..)) if error.ends_with("UnknownDevice") => {}
            Err(source) => return Err(query(source)),
        }
        for path in self.manager.get_all_devices().await.map_err(query)? {
            let proxy = self.device_proxy(path.as_str()).await?;
            let answers = tokio::try_join!(proxy.interface(), proxy.device_type());
            if let Some((found, kind)) = unless_gone(answers.map_err(query))?
                && found == name
                && !OVS_BRIDGE_OR_PORT.contains(&kind)
            {
                return Ok(Some(path.to_string()));
            }
        }
        Ok(None)
    }

    /// All checkpoints that exist now.
    pub(crate) async fn checkpoints(&self) -> Result<Vec<Checkpoint>> {
        let paths = self.manager.checkpoints().await.map_err(call("the list of checkpoints"))?;
        Ok(paths.into_iter().map(|p| Checkpoint(p.to_string())).collect())
    }

    /// When a checkpoint rolls back by itself; `None` if it is gone.
    pub(crate) async fn deadline(&self, checkpoint: &Checkpoint) -> Result<Option<Deadline>> {
        let query = call("the list of checkpoints");
        let proxy = self.checkpoint_proxy(checkpoint).await?;
        let answers = tokio::try_join!(proxy.created(), proxy.rollback_timeout());
        let found = unless_gone(answers.map_err(query))?;
        Ok(found.map(|(created, seconds)| Deadline {
            created: Duration::from_millis(created.unsigned_abs()),
            seconds,
        }))
    }

    /// The devices of a checkpoint; none if it is gone.
    async fn devices_of(&self, checkpoint: &Checkpoint) -> Result<Vec<OwnedObjectPath>> {
        let devices = self.checkpoint_proxy(checkpoint).await?.devices().await;
        let devices = devices.map_err(call("the list of checkpoints"));
        Ok(unless_gone(devices)?.unwrap_or_default())
    }

    /// Returns the checkpoints that exist now, with the devices of each.
    pub(crate) async fn held_devices(&self) -> Result<Vec<HeldDevices>> {
        let query = call("the list of checkpoints");
        let mut held = Vec::new();
        for checkpoint in self.checkpoints().await? {
            let Some(deadline) = self.deadline(&checkpoint).await? else { continue };
            let mut devices = Vec::new();
            for path in self.devices_of(&checkpoint).await? {
                let name = self.device_proxy(path.as_str()).await?.interface().await;
                devices.extend(unless_gone(name.map_err(query))?);
            }
            // A bridge of Open vSwitch, its port and its interface have one name.
            devices.sort_unstable();
            devices.dedup();
            held.push(HeldDevices { checkpoint, devices, deadline });
        }
        Ok(held)
    }

    async fn checkpoint_proxy(&self, checkpoint: &Checkpoint) -> Result<CheckpointProxy<'static>> {
        let path = Some(checkpoint.0.as_str());
        proxy(&self.connection, path).await.map_err(call("the list of checkpoints"))
    }

    /// A checkpoint of every device that no other one has; it rolls back by itself after `timeout` seconds.
    pub(crate) async fn create_checkpoint(&self, timeout: u32) -> Result<Checkpoint> {
        let devices = self.free_devices().await?;
        let devices: Vec<_> = devices.iter().map(|path| path.as_ref()).collect();
        let undo = if devices.is_empty() { UNDO_PROFILES | UNDO_DEVICES } else { UNDO_PROFILES };
        let create = |flags| self.manager.checkpoint_create(&devices, timeout, undo | flags);
        let path = match create(TRACK_DNS).await {
            Ok(path) => path,
            // NetworkManager before 1.48 does not know the flag.
            Err(_) => create(0).await.map_err(call("a checkpoint"))?,
        };
        Ok(Checkpoint(path.to_string()))
    }

    /// The devices that are in no checkpoint; none where each one is, which stands for all.
    async fn free_devices(&self) -> Result<Vec<OwnedObjectPath>> {
        let mut held = Vec::new();
        for checkpoint in self.checkpoints().await? {
            held.extend(self.devices_of(&checkpoint).await?);
        }
        if held.is_empty() {
            return Ok(Vec::new());
        }
        let mut devices =
            self.manager.get_all_devices().await.map_err(call("the list of checkpoints"))?;
        devices.retain(|device| !held.contains(device));
        Ok(devices)
    }

    /// Makes the changes since the checkpoint permanent.
    pub(crate) async fn destroy_checkpoint(&self, checkpoint: &Checkpoint) -> Result {
        let path = path_of(&checkpoint.0).map_err(call("the commit"))?;
        self.manager.checkpoint_destroy(&path).await.map_err(call("the commit"))
    }

    /// Rolls back to the checkpoint, which is gone then. Returns the devices that NetworkManager could not roll back.
    pub(crate) async fn roll_back(&self, checkpoint: &Checkpoint) -> Result<Vec<String>> {
        let path = path_of(&checkpoint.0).map_err(call("the roll back"))?;
        let results =
            self.manager.checkpoint_rollback(&path).await.map_err(call("the roll back"))?;
        Ok(results
            .into_iter()
            .filter(|(_, result)| *result != ROLLED_BACK)
            .map(|(device, _)| device)
            .collect())
    }

    /// Reloads the profiles on disk, and NetworkManager's settings: before 1.48 no checkpoint
    /// tracks global DNS, and the document's values would stay in memory.
    pub(crate) async fn reload_files(&self) -> Result {
        self.settings.reload_connections().await.map_err(call("to reload profiles"))?;
        self.manager.reload(RELOAD_SETTINGS).await.map_err(call("to reload its settings"))
    }
}

fn watch(error: impl Into<zbus::Error>) -> BusError {
    BusError::Watch { name: NM, source: Box::new(error.into()) }
}

pub(crate) struct Signals(zbus::MessageStream);

impl Signals {
    /// Returns at the next signal; queued signals count as one.
    pub(crate) async fn changed(&mut self) -> Result {
        if self.0.next().await.is_none() {
            return Err(BusError::Closed);
        }
        while let Some(Some(_more)) = self.0.next().now_or_never() {}
        Ok(())
    }
}
