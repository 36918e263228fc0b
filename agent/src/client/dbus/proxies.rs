//! NetworkManager's interfaces, with only the methods in use.

use std::collections::HashMap;

use zbus::zvariant::{ObjectPath, OwnedObjectPath, OwnedValue};

/// A profile's settings on the bus, section by section.
pub(crate) type Settings = HashMap<String, HashMap<String, OwnedValue>>;

#[zbus::proxy(
    interface = "org.freedesktop.NetworkManager",
    default_service = "org.freedesktop.NetworkManager",
    default_path = "/org/freedesktop/NetworkManager"
)]
pub(super) trait Manager {
    #[zbus(property(emits_changed_signal = "false"))]
    fn version(&self) -> zbus::Result<String>;
    #[zbus(property(emits_changed_signal = "false"))]
    fn checkpoints(&self) -> zbus::Result<Vec<OwnedObjectPath>>;
    #[zbus(property(emits_changed_signal = "false"))]
    fn active_connections(&self) -> zbus::Result<Vec<OwnedObjectPath>>;
    #[zbus(property)]
    fn startup(&self) -> zbus::Result<bool>;
    #[zbus(property(emits_changed_signal = "false"))]
    fn networking_enabled(&self) -> zbus::Result<bool>;
    fn checkpoint_create(
        &self,
        devices: &[ObjectPath<'_>],
        timeout: u32,
        flags: u32,
    ) -> zbus::Result<OwnedObjectPath>;
    fn checkpoint_destroy(&self, checkpoint: &ObjectPath<'_>) -> zbus::Result<()>;
    fn checkpoint_rollback(
        &self,
        checkpoint: &ObjectPath<'_>,
    ) -> zbus::Result<HashMap<String, u32>>;
    fn activate_connection(
        &self,
        connection: &ObjectPath<'_>,
        device: &ObjectPath<'_>,
        specific: &ObjectPath<'_>,
    ) -> zbus::Result<OwnedObjectPath>;
    fn reload(&self, flags: u32) -> zbus::Result<()>;
    fn get_device_by_ip_iface(&self, name: &str) -> zbus::Result<OwnedObjectPath>;
    fn get_all_devices(&self) -> zbus::Result<Vec<OwnedObjectPath>>;
}

#[zbus::proxy(
    interface = "org.freedesktop.NetworkManager.Checkpoint",
    default_service = "org.freedesktop.NetworkManager"
)]
pub(super) trait Checkpoint {
    #[zbus(property(emits_changed_signal = "false"))]
    fn devices(&self) -> zbus::Result<Vec<OwnedObjectPath>>;
    /// In milliseconds of `CLOCK_BOOTTIME`.
    #[zbus(property(emits_changed_signal = "false"))]
    fn created(&self) -> zbus::Result<i64>;
    #[zbus(property(emits_changed_signal = "false"))]
    fn rollback_timeout(&self) -> zbus::Result<u32>;
}

#[zbus::proxy(
    interface = "org.freedesktop.NetworkManager.Settings",
    default_service = "org.freedesktop.NetworkManager",
    default_path = "/org/freedesktop/NetworkManager/Settings"
)]
pub(super) trait ConnectionSettings {
    fn list_connections(&self) -> zbus::Result<Vec<OwnedObjectPath>>;
    fn reload_connections(&self) -> zbus::Result<bool>;
    fn get_connection_by_uuid(&self, uuid: &str) -> zbus::Result<OwnedObjectPath>;
    fn add_connection2(
        &self,
        settings: &Settings,
        flags: u32,
        arguments: HashMap<&str, OwnedValue>,
    ) -> zbus::Result<(OwnedObjectPath, HashMap<String, OwnedValue>)>;
}

#[zbus::proxy(
    interface = "org.freedesktop.NetworkManager.Settings.Connection",
    default_service = "org.freedesktop.NetworkManager"
)]
pub(super) trait SettingsConnection {
    fn get_settings(&self) -> zbus::Result<Settings>;
    fn get_secrets(&self, section: &str) -> zbus::Result<Settings>;
    fn update2(
        &self,
        settings: &Settings,
        flags: u32,
        arguments: HashMap<&str, OwnedValue>,
    ) -> zbus::Result<HashMap<String, OwnedValue>>;
    fn delete(&self) -> zbus::Result<()>;
    #[zbus(property(emits_changed_signal = "false"))]
    fn flags(&self) -> zbus::Result<u32>;
}

#[zbus::proxy(
    interface = "org.freedesktop.NetworkManager.Connection.Active",
    default_service = "org.freedesktop.NetworkManager"
)]
pub(super) trait ActiveConnection {
    #[zbus(signal, name = "StateChanged")]
    fn transition(&self, state: u32, reason: u32) -> zbus::Result<()>;
    #[zbus(property(emits_changed_signal = "false"))]
    fn state(&self) -> zbus::Result<u32>;
}

#[zbus::proxy(
    interface = "org.freedesktop.NetworkManager.Device",
    default_service = "org.freedesktop.NetworkManager"
)]
pub(super) trait Device {
    fn reapply(&self, settings: Settings, version: u64, flags: u32) -> zbus::Result<()>;
    #[zbus(property(emits_changed_signal = "false"))]
    fn interface(&self) -> zbus::Result<String>;
    #[zbus(property(emits_changed_signal = "false"))]
    fn state(&self) -> zbus::Result<u32>;
    #[zbus(property(emits_changed_signal = "false"))]
    fn state_reason(&self) -> zbus::Result<(u32, u32)>;
    #[zbus(property(emits_changed_signal = "false"))]
    fn device_type(&self) -> zbus::Result<u32>;
    #[zbus(property(emits_changed_signal = "false"))]
    fn available_connections(&self) -> zbus::Result<Vec<OwnedObjectPath>>;
    #[zbus(property(emits_changed_signal = "false"), name = "Dhcp4Config")]
    fn dhcp4_config(&self) -> zbus::Result<OwnedObjectPath>;
    #[zbus(property(emits_changed_signal = "false"), name = "Dhcp6Config")]
    fn dhcp6_config(&self) -> zbus::Result<OwnedObjectPath>;
    #[zbus(property(emits_changed_signal = "false"))]
    fn lldp_neighbors(&self) -> zbus::Result<Vec<HashMap<String, OwnedValue>>>;
    fn get_applied_connection(&self, flags: u32) -> zbus::Result<(Settings, u64)>;
}
