//! The only place that names zbus: NetworkManager on the system bus.
//! Names and values: NetworkManager's D-Bus API reference.

mod activated;
mod proxies;
mod reapply;

use std::{collections::HashMap, net::IpAddr};

use futures_util::{FutureExt as _, StreamExt as _, future::try_join_all};
use thiserror::Error;
use zbus::{
    Connection,
    zvariant::{ObjectPath, OwnedObjectPath, OwnedValue},
};

use self::proxies::{
    ActiveConnectionProxy, CheckpointProxy, ConnectionSettingsProxy, DeviceProxy, ManagerProxy,
    SettingsConnectionProxy,
};

/// What the bus or NetworkManager said no to.
#[derive(Debug, Error)]
pub(crate) enum BusError {
    #[error("cannot connect to the system bus")]
    Connect { source: Box<zbus::Error> },
    #[error("cannot watch {name} on the bus")]
    Watch { name: &'static str, source: Box<zbus::Error> },
    #[error("the bus closed the connection")]
    Closed,
    #[error("NetworkManager refused {operation}")]
    Call { operation: &'static str, source: Box<zbus::Error> },
    #[error("NetworkManager could not roll back {devices}")]
    RollBackResult { devices: String },
}

impl BusError {
    /// NetworkManager went away in the middle: worth asking the one that systemd starts next.
    pub(crate) fn is_gone(&self) -> bool {
        self.is_one_of(&[
            "NoReply",
            "ServiceUnknown",
            "NameHasNoOwner",
            "Disconnected",
            "UnknownObject",
        ])
    }

    /// What was asked for went away; NetworkManager did not.
    fn is_unknown_object(&self) -> bool {
        self.is_one_of(&["UnknownObject", "UnknownMethod", "UnknownInterface"])
    }

    fn is_one_of(&self, names: &[&str]) -> bool {
        let Self::Call { source, .. } = self else { return false };
        let zbus::Error::MethodError(name, ..) = &**source else { return false };
        names.iter().any(|error| name.strip_prefix("org.freedesktop.DBus.Error.") == Some(error))
    }
}

/// A checkpoint's object path.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub(crate) struct Checkpoint(String);

#[cfg(test)]
impl Checkpoint {
    /// For fakes.
    pub(crate) fn fake(path: &str) -> Self {
        Self(path.to_owned())
    }
}

/// An active connection with its device, as needed to activate it again.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Active {
    pub(crate) uuid: String,
    pub(crate) device: String,
    pub(crate) kind: String,
}

/// A profile.
#[derive(Clone, Debug)]
pub(crate) struct Profile {
    pub(crate) path: String,
    pub(crate) id: String,
    pub(crate) uuid: String,
}

/// Whether a device is still in NetworkManager's hands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Settled {
    Yes,
    No,
    /// NetworkManager does not know the device (yet).
    Unknown,
}

const NM: &str = "org.freedesktop.NetworkManager";

/// `NM_CHECKPOINT_CREATE_FLAG_DELETE_NEW_CONNECTIONS | …_DISCONNECT_NEW_DEVICES`.
const UNDO_ALL: u32 = 0x02 | 0x04;
/// `NM_CHECKPOINT_CREATE_FLAG_TRACK_INTERNAL_GLOBAL_DNS`, NetworkManager 1.48.
const TRACK_DNS: u32 = 0x20;
/// `NM_MANAGER_RELOAD_FLAG_CONF`.
const RELOAD_SETTINGS: u32 = 0x01;
/// `NM_ACTIVATION_STATE_FLAG_EXTERNAL`: made by someone else, nothing to activate.
const EXTERNAL: u32 = 0x80;
/// `NM_SETTINGS_CONNECTION_FLAG_NM_GENERATED | …_VOLATILE | …_EXTERNAL`: NetworkManager's own
/// picture of a device that it did not configure.
const NOT_CONFIGURED: u32 = 0x02 | 0x04 | 0x08;
/// `NM_DEVICE_TYPE_OVS_PORT`, `NM_DEVICE_TYPE_OVS_BRIDGE`.
const OVS_BRIDGE_OR_PORT: [u32; 2] = [25, 26];
/// `NM_DEVICE_STATE_PREPARE` up to `NM_DEVICE_STATE_SECONDARIES`: being activated.
const ACTIVATING: std::ops::Range<u32> = 40..100;
/// `NM_DEVICE_STATE_UNAVAILABLE` and below, without unmanaged (10): not looked at yet.
const STARTING: [u32; 2] = [0, 20];
/// `NM_DEVICE_STATE_DISCONNECTED`.
const DISCONNECTED: u32 = 30;

fn call(operation: &'static str) -> impl Fn(zbus::Error) -> BusError {
    move |e| BusError::Call { operation, source: Box::new(e) }
}

fn path_of(text: &str) -> Result<ObjectPath<'_>, zbus::Error> {
    ObjectPath::try_from(text).map_err(Into::into)
}

/// NetworkManager.
#[derive(Clone)]
pub(crate) struct Bus {
    connection: Connection,
    manager: ManagerProxy<'static>,
    settings: ConnectionSettingsProxy<'static>,
}

impl Bus {
    /// Connects to the system bus; NetworkManager need not be there yet.
    pub(crate) async fn connect() -> Result<Self, BusError> {
        let connect = |e| BusError::Connect { source: Box::new(e) };
        let connection = Connection::system().await.map_err(connect)?;
        Ok(Self {
            manager: ManagerProxy::builder(&connection)
                .cache_properties(zbus::proxy::CacheProperties::No)
                .build()
                .await
                .map_err(connect)?,
            settings: ConnectionSettingsProxy::builder(&connection)
                .cache_properties(zbus::proxy::CacheProperties::No)
                .build()
                .await
                .map_err(connect)?,
            connection,
        })
    }

    /// Returns when NetworkManager owns its name.
    pub(crate) async fn network_manager(&self) -> Result<(), BusError> {
        let watch = |e| BusError::Watch { name: NM, source: Box::new(e) };
        let dbus = zbus::fdo::DBusProxy::new(&self.connection).await.map_err(watch)?;
        let mut changes =
            dbus.receive_name_owner_changed_with_args(&[(0, NM)]).await.map_err(watch)?;
        let name = zbus::names::BusName::try_from(NM).map_err(|e| watch(e.into()))?;
        if dbus.name_has_owner(name).await.map_err(|e| watch(e.into()))? {
            return Ok(());
        }
        while let Some(change) = changes.next().await {
            if change.args().map_err(watch)?.new_owner().is_some() {
                return Ok(());
            }
        }
        Err(BusError::Closed)
    }

    /// NetworkManager's version.
    pub(crate) async fn version(&self) -> Result<String, BusError> {
        self.manager.version().await.map_err(call("its version"))
    }

    /// Signals of NetworkManager's: whoever waits looks at the whole again. On a connection of their own:
    /// while nobody takes them from a full queue, zbus reads nothing from its socket, answers to calls
    /// included.
    pub(crate) async fn signals(&self) -> Result<Signals, BusError> {
        let watch = |e| BusError::Watch { name: NM, source: Box::new(e) };
        let connection = Connection::system().await.map_err(watch)?;
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

    /// Whether NetworkManager is done with the device for now.
    pub(crate) async fn settled(&self, name: &str) -> Result<Settled, BusError> {
        let Some(device) = self.device(name).await? else { return Ok(Settled::Unknown) };
        let device = self.device_proxy(&device).await?;
        let state = device.state().await.map_err(call("a query"))?;
        // A disconnected one that has a profile to activate is about to, as long as it starts up.
        let early = STARTING.contains(&state)
            || (state == DISCONNECTED
                && !device.available_connections().await.map_err(call("a query"))?.is_empty());
        let starting = early && self.manager.startup().await.map_err(call("a query"))?;
        Ok(if ACTIVATING.contains(&state) || starting { Settled::No } else { Settled::Yes })
    }

    async fn device_proxy(&self, path: &str) -> Result<DeviceProxy<'static>, BusError> {
        DeviceProxy::builder(&self.connection)
            .cache_properties(zbus::proxy::CacheProperties::No)
            .path(path.to_owned())
            .map_err(call("a query"))?
            .build()
            .await
            .map_err(call("a query"))
    }

    /// Object path of a device by interface name. OVS bridges and ports have devices of their own
    /// that may share the name of an interface; the interface is meant.
    async fn device(&self, name: &str) -> Result<Option<String>, BusError> {
        let query = || call("the list of devices");
        match self.manager.get_device_by_ip_iface(name).await {
            Ok(path) => {
                let proxy = self.device_proxy(path.as_str()).await?;
                if !OVS_BRIDGE_OR_PORT.contains(&proxy.device_type().await.map_err(query())?) {
                    return Ok(Some(path.to_string()));
                }
            }
            // One that the kernel does not have yet may have a device all the same.
            Err(zbus::Error::MethodError(error, ..)) if error.ends_with("UnknownDevice") => {}
            Err(source) => return Err(query()(source)),
        }
        for path in self.manager.get_all_devices().await.map_err(query())? {
            let proxy = self.device_proxy(path.as_str()).await?;
            // One that goes away meanwhile is none.
            if let (Ok(found), Ok(kind)) = (proxy.interface().await, proxy.device_type().await)
                && found == name
                && !OVS_BRIDGE_OR_PORT.contains(&kind)
            {
                return Ok(Some(path.to_string()));
            }
        }
        Ok(None)
    }

    /// Addresses that the profile in force on this interface holds.
    pub(crate) async fn profile_addresses(&self, name: &str) -> Result<Vec<IpAddr>, BusError> {
        let Some(device) = self.device(name).await? else { return Ok(Vec::new()) };
        let applied = self.device_proxy(&device).await?.get_applied_connection(0).await;
        // Without an active profile there are none.
        let Ok((settings, _)) = applied else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for family in ["ipv4", "ipv6"] {
            let data = settings.get(family).and_then(|s| s.get("address-data"));
            let data = data
                .and_then(|v| v.try_clone().ok())
                .and_then(|v| Vec::<HashMap<String, OwnedValue>>::try_from(v).ok());
            found.extend(data.into_iter().flatten().filter_map(|entry| {
                let text = String::try_from(entry.get("address")?.try_clone().ok()?).ok()?;
                text.parse::<IpAddr>().ok()
            }));
        }
        Ok(found)
    }

    /// All checkpoints that exist now.
    pub(crate) async fn checkpoints(&self) -> Result<Vec<Checkpoint>, BusError> {
        let paths = self.manager.checkpoints().await.map_err(call("the list of checkpoints"))?;
        Ok(paths.into_iter().map(|p| Checkpoint(p.to_string())).collect())
    }

    /// The seconds after which a checkpoint rolls back by itself; `None` where it is gone.
    pub(crate) async fn timeout_of(
        &self,
        checkpoint: &Checkpoint,
    ) -> Result<Option<u32>, BusError> {
        let query = || call("the list of checkpoints");
        let proxy = CheckpointProxy::builder(&self.connection)
            .cache_properties(zbus::proxy::CacheProperties::No)
            .path(checkpoint.0.clone())
            .map_err(query())?
            .build()
            .await
            .map_err(query())?;
        match proxy.rollback_timeout().await {
            Ok(timeout) => Ok(Some(timeout)),
            Err(source) => {
                let error = query()(source);
                if error.is_unknown_object() { Ok(None) } else { Err(error) }
            }
        }
    }

    /// A checkpoint of everything; it rolls back by itself after `timeout` seconds.
    pub(crate) async fn create_checkpoint(&self, timeout: u32) -> Result<Checkpoint, BusError> {
        let path = match self.manager.checkpoint_create(&[], timeout, UNDO_ALL | TRACK_DNS).await {
            Ok(path) => path,
            // Before 1.48 the flag is unknown.
            Err(_) => self
                .manager
                .checkpoint_create(&[], timeout, UNDO_ALL)
                .await
                .map_err(call("a checkpoint"))?,
        };
        Ok(Checkpoint(path.to_string()))
    }

    /// Makes what happened since the checkpoint permanent.
    pub(crate) async fn destroy_checkpoint(&self, checkpoint: &Checkpoint) -> Result<(), BusError> {
        let path = path_of(&checkpoint.0).map_err(call("the commit"))?;
        self.manager.checkpoint_destroy(&path).await.map_err(call("the commit"))
    }

    /// Rolls back to the checkpoint.
    pub(crate) async fn roll_back(&self, checkpoint: &Checkpoint) -> Result<(), BusError> {
        let path = path_of(&checkpoint.0).map_err(call("the roll back"))?;
        let results =
            self.manager.checkpoint_rollback(&path).await.map_err(call("the roll back"))?;
        let failed: Vec<&str> =
            results.iter().filter(|(_, r)| **r != 0).map(|(d, _)| d.as_str()).collect();
        if failed.is_empty() {
            Ok(())
        } else {
            Err(BusError::RollBackResult { devices: failed.join(", ") })
        }
    }

    /// Active connections that have a profile and a device.
    pub(crate) async fn active(&self) -> Result<Vec<Active>, BusError> {
        let query = || call("the list of active connections");
        let paths = self.manager.active_connections().await.map_err(query())?;
        let one = async |path: OwnedObjectPath| -> Result<Vec<Active>, BusError> {
            let proxy = ActiveConnectionProxy::builder(&self.connection)
                .cache_properties(zbus::proxy::CacheProperties::No)
                .path(path)
                .map_err(query())?
                .build()
                .await
                .map_err(query())?;
            // One that goes away meanwhile is none.
            let answers =
                tokio::try_join!(proxy.uuid(), proxy.kind(), proxy.devices(), proxy.state_flags());
            let Ok((uuid, kind, devices, flags)) = answers else { return Ok(Vec::new()) };
            if flags & EXTERNAL != 0 || kind == "loopback" {
                return Ok(Vec::new());
            }
            let mut found = Vec::new();
            for device in devices {
                if let Ok(device) = self.device_proxy(device.as_str()).await?.interface().await {
                    found.push(Active { uuid: uuid.clone(), device, kind: kind.clone() });
                }
            }
            Ok(found)
        };
        Ok(try_join_all(paths.into_iter().map(one)).await?.concat())
    }

    /// Activates a profile again; NetworkManager finds the device.
    pub(crate) async fn activate(&self, active: &Active) -> Result<(), BusError> {
        let refused = || call("an activation");
        let connection =
            self.settings.get_connection_by_uuid(&active.uuid).await.map_err(refused())?;
        let none = path_of("/").map_err(refused())?;
        // OVS bridges and ports share their name with an interface, and virtual devices may not
        // exist yet: only for a NIC the device has to be said.
        let device =
            if active.kind == "802-3-ethernet" { self.device(&active.device).await? } else { None };
        let device = match &device {
            Some(path) => path_of(path).map_err(refused())?,
            None => none.clone(),
        };
        self.manager
            .activate_connection(&connection.as_ref(), &device, &none)
            .await
            .map(|_| ())
            .map_err(refused())
    }

    /// Reads the profiles on disk again, and its settings: before 1.48 no checkpoint tracks global
    /// DNS, and what a document set stays in memory.
    pub(crate) async fn reload_files(&self) -> Result<(), BusError> {
        self.settings.reload_connections().await.map_err(call("to reload profiles"))?;
        self.manager.reload(RELOAD_SETTINGS).await.map_err(call("to reload its settings"))
    }

    /// All profiles that someone configured.
    pub(crate) async fn profiles(&self) -> Result<Vec<Profile>, BusError> {
        let query = || call("the list of profiles");
        let paths = self.settings.list_connections().await.map_err(query())?;
        let one = async |path: OwnedObjectPath| -> Result<Option<Profile>, BusError> {
            let proxy = self.profile_proxy(path.as_str()).await?;
            // One that goes away meanwhile is none.
            let Ok((settings, flags)) = tokio::try_join!(proxy.get_settings(), proxy.flags())
            else {
                return Ok(None);
            };
            let get = |key: &str| -> Option<String> {
                let value = settings.get("connection")?.get(key)?;
                String::try_from(value.try_clone().ok()?).ok()
            };
            let configured = flags & NOT_CONFIGURED == 0;
            let get = |key: &str| get(key).unwrap_or_default();
            let (id, uuid) = (get("id"), get("uuid"));
            Ok(configured.then(|| Profile { path: path.to_string(), id, uuid }))
        };
        let all = try_join_all(paths.into_iter().map(one)).await?;
        Ok(all.into_iter().flatten().collect())
    }

    /// Deletes a profile; what it brought up goes down.
    pub(crate) async fn delete_profile(&self, profile: &Profile) -> Result<(), BusError> {
        self.profile_proxy(&profile.path).await?.delete().await.map_err(call("to delete a profile"))
    }

    async fn profile_proxy(
        &self,
        path: &str,
    ) -> Result<SettingsConnectionProxy<'static>, BusError> {
        SettingsConnectionProxy::builder(&self.connection)
            .cache_properties(zbus::proxy::CacheProperties::No)
            .path(path.to_owned())
            .map_err(call("the list of profiles"))?
            .build()
            .await
            .map_err(call("the list of profiles"))
    }
}

/// Signals of NetworkManager's.
pub(crate) struct Signals(zbus::MessageStream);

impl Signals {
    /// The next one; those that are already queued count as one.
    pub(crate) async fn changed(&mut self) -> Result<(), BusError> {
        if self.0.next().await.is_none() {
            return Err(BusError::Closed);
        }
        while let Some(Some(_more)) = self.0.next().now_or_never() {}
        Ok(())
    }
}
