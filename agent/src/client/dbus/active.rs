//! Active connections. NetworkManager answers for all properties of one at once: each has five that the agent wants, and a node has
//! some for each interface.

use std::collections::HashMap;

use futures_util::future::try_join_all;
use zbus::{
    fdo::PropertiesProxy,
    zvariant::{OwnedObjectPath, OwnedValue},
};

use super::bus::{Bus, BusError, NM, Result, call, unless_gone};
use crate::model::Active;

pub(super) const ACTIVE_CONNECTIONS: &str = "the list of active connections";

/// `NM_ACTIVE_CONNECTION_STATE_ACTIVATING`.
pub(super) const ACTIVATING: u32 = 1;
/// `NM_ACTIVE_CONNECTION_STATE_ACTIVATED`.
pub(super) const ACTIVATED: u32 = 2;
/// `NM_DEVICE_STATE_IP_CHECK` and `NM_DEVICE_STATE_SECONDARIES`: the kernel has addresses and routes, and a script of the
/// dispatcher is at work, of this device or of another: they run one after the other.
const CONFIGURED: [u32; 2] = [80, 90];
/// `NM_ACTIVATION_STATE_FLAG_EXTERNAL`: made by another program, nothing to activate.
const EXTERNAL: u32 = 0x80;

const INTERFACE: &str = "org.freedesktop.NetworkManager.Connection.Active";

#[derive(Clone, Debug)]
pub(super) struct ActiveConnection {
    pub(super) path: OwnedObjectPath,
    pub(super) uuid: String,
    pub(super) kind: String,
    pub(super) state: u32,
    pub(super) devices: Vec<OwnedObjectPath>,
    flags: u32,
}

impl ActiveConnection {
    fn read(
        path: OwnedObjectPath,
        mut properties: HashMap<String, OwnedValue>,
    ) -> Result<Self, zbus::Error> {
        Ok(Self {
            uuid: take(&mut properties, "Uuid")?,
            kind: take(&mut properties, "Type")?,
            state: take(&mut properties, "State")?,
            devices: take(&mut properties, "Devices")?,
            flags: take(&mut properties, "StateFlags")?,
            path,
        })
    }

    /// Whether a profile of the node's is behind it.
    fn has_profile(&self) -> bool {
        self.flags & EXTERNAL == 0 && self.kind != "loopback"
    }
}

/// A property, taken out of all.
pub(super) fn take<T>(
    properties: &mut HashMap<String, OwnedValue>,
    name: &'static str,
) -> Result<T, zbus::Error>
where
    T: TryFrom<OwnedValue>,
    T::Error: Into<zbus::Error>,
{
    let value = properties.remove(name).ok_or(zbus::Error::MissingParameter(name))?;
    value.try_into().map_err(Into::into)
}

impl Bus {
    /// Active connections that have a profile and a device.
    pub(crate) async fn active(&self) -> Result<Vec<Active>> {
        self.with_devices(&self.active_connections().await?).await
    }

    /// UUIDs of the profiles whose activation has succeeded, or waits for scripts of the dispatcher alone.
    pub(crate) async fn activated(&self) -> Result<Vec<String>> {
        let all = self.active_connections().await?;
        let mut activated = activated(&all);
        for activation in all.iter().filter(|active| active.state == ACTIVATING) {
            for device in &activation.devices {
                let state = self.device_proxy(device.as_str()).await?.state().await;
                let state = unless_gone(state.map_err(call(ACTIVE_CONNECTIONS)))?;
                if state.is_some_and(|state| CONFIGURED.contains(&state)) {
                    activated.push(activation.uuid.clone());
                }
            }
        }
        Ok(activated)
    }

    /// [`Self::active`], and the profiles whose activation has succeeded, of one moment.
    pub(crate) async fn active_and_activated(&self) -> Result<(Vec<Active>, Vec<String>)> {
        let all = self.active_connections().await?;
        Ok((self.with_devices(&all).await?, activated(&all)))
    }

    /// All active connections, without those that go away meanwhile.
    pub(super) async fn active_connections(&self) -> Result<Vec<ActiveConnection>> {
        let query = call(ACTIVE_CONNECTIONS);
        let paths = self.manager.active_connections().await.map_err(query)?;
        let one = async |path: OwnedObjectPath| {
            let answer = self.properties(&path, INTERFACE).await;
            Ok::<_, BusError>(match unless_gone(answer.map_err(query))? {
                Some(properties) => Some(ActiveConnection::read(path, properties).map_err(query)?),
                None => None,
            })
        };
        Ok(try_join_all(paths.into_iter().map(one)).await?.into_iter().flatten().collect())
    }

    /// All properties of an object's interface, in one question.
    pub(super) async fn properties(
        &self,
        path: &OwnedObjectPath,
        interface: &'static str,
    ) -> Result<HashMap<String, OwnedValue>, zbus::Error> {
        let proxy = PropertiesProxy::builder(&self.connection)
            .cache_properties(zbus::proxy::CacheProperties::No)
            .destination(NM)?
            .path(path)?
            .build()
            .await?;
        let interface = zbus::names::InterfaceName::from_static_str(interface)?;
        Ok(proxy.get_all(interface).await?)
    }

    async fn with_devices(&self, all: &[ActiveConnection]) -> Result<Vec<Active>> {
        let query = call(ACTIVE_CONNECTIONS);
        let of_profiles = all.iter().filter(|active| active.has_profile());
        let one = async |active: &ActiveConnection, device: &OwnedObjectPath| {
            let name = self.device_proxy(device.as_str()).await?.interface().await;
            Ok::<_, BusError>(unless_gone(name.map_err(query))?.map(|device| Active {
                uuid: active.uuid.clone(),
                device,
                kind: active.kind.clone(),
            }))
        };
        let asked = of_profiles
            .flat_map(|profile| profile.devices.iter().map(move |device| (profile, device)));
        let asked = asked.map(|(active, device)| one(active, device));
        Ok(try_join_all(asked).await?.into_iter().flatten().collect())
    }
}

fn activated(all: &[ActiveConnection]) -> Vec<String> {
    let activated = all.iter().filter(|active| active.state == ACTIVATED);
    activated.map(|active| active.uuid.clone()).collect()
}
