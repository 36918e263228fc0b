//! Lists of NetworkManager's objects, of which one does not answer.

use std::{collections::HashMap, error::Error};

use zbus::{
    DBusError, connection, fdo,
    zvariant::{OwnedObjectPath, OwnedValue, Value},
};

use super::bus::Bus;

const OBJECTS: [&str; 3] = ["/object/1", "/object/2", "/object/3"];

/// The second object.
#[derive(Clone, Copy, PartialEq)]
enum Second {
    Present,
    /// Another program made it.
    External,
    /// It went away after it was listed.
    Removed,
    /// NetworkManager ends before it answers for it.
    Silent,
}

/// NetworkManager, with all objects in each list. By name it knows `idle`, the first device, and `eno1`, the second.
struct Manager;

/// Its profiles.
struct Settings;

/// A profile, an active connection or a device; whether it does not answer.
struct Profile(bool);
struct Active(bool, OwnedObjectPath, u32);
struct Device(bool, &'static str);

#[derive(Debug, DBusError)]
#[zbus(prefix = "org.freedesktop.NetworkManager")]
enum Refusal {
    #[zbus(error)]
    Bus(zbus::Error),
    UnknownDevice(String),
    #[zbus(name = "Device.NotActive")]
    NotActive(String),
}

/// The second device's lease.
struct Lease;

const LEASE: &str = "/lease";

type Sections = HashMap<String, HashMap<String, OwnedValue>>;

fn objects() -> Vec<OwnedObjectPath> {
    OBJECTS.into_iter().filter_map(|path| path.try_into().ok()).collect()
}

fn answer<T>(is_silent: bool, answer: T) -> fdo::Result<T> {
    if is_silent { Err(fdo::Error::NoReply("it ended".into())) } else { Ok(answer) }
}

#[zbus::interface(name = "org.freedesktop.NetworkManager")]
impl Manager {
    #[zbus(property)]
    fn active_connections(&self) -> Vec<OwnedObjectPath> {
        objects()
    }

    #[zbus(property)]
    fn version(&self) -> &str {
        "1.52.1"
    }

    fn get_all_devices(&self) -> Vec<OwnedObjectPath> {
        objects()
    }

    fn get_device_by_ip_iface(&self, name: &str) -> Result<OwnedObjectPath, Refusal> {
        match name {
            "idle" => Ok(objects().swap_remove(0)),
            "eno1" => Ok(objects().swap_remove(1)),
            _ => Err(Refusal::UnknownDevice(name.to_owned())),
        }
    }
}

#[zbus::interface(name = "org.freedesktop.NetworkManager.Settings")]
impl Settings {
    fn list_connections(&self) -> Vec<OwnedObjectPath> {
        objects()
    }
}

#[zbus::interface(name = "org.freedesktop.NetworkManager.Settings.Connection")]
impl Profile {
    fn get_settings(&self) -> fdo::Result<Sections> {
        answer(self.0, Sections::new())
    }

    #[zbus(property)]
    fn flags(&self) -> u32 {
        0
    }
}

#[zbus::interface(name = "org.freedesktop.NetworkManager.Connection.Active")]
impl Active {
    #[zbus(property)]
    fn uuid(&self) -> &str {
        "4f3cd5a2-0000-5000-8000-000000000001"
    }

    #[zbus(property)]
    fn state(&self) -> fdo::Result<u32> {
        // Activated.
        answer(self.0, 2)
    }

    #[zbus(property, name = "Type")]
    fn kind(&self) -> &str {
        "802-3-ethernet"
    }

    #[zbus(property)]
    fn devices(&self) -> Vec<OwnedObjectPath> {
        vec![self.1.clone()]
    }

    #[zbus(property)]
    fn state_flags(&self) -> fdo::Result<u32> {
        answer(self.0, self.2)
    }
}

#[zbus::interface(name = "org.freedesktop.NetworkManager.Device")]
impl Device {
    #[zbus(property)]
    fn interface(&self) -> fdo::Result<&str> {
        answer(self.0, self.1)
    }

    #[zbus(property)]
    fn device_type(&self) -> u32 {
        // Ethernet.
        1
    }

    #[zbus(property, name = "Dhcp4Config")]
    fn dhcp4_config(&self) -> fdo::Result<OwnedObjectPath> {
        let path = if self.1 == OBJECTS[1] { LEASE } else { "/" };
        path.try_into().map_err(|_| fdo::Error::Failed(path.to_owned()))
    }

    #[zbus(property, name = "Dhcp6Config")]
    fn dhcp6_config(&self) -> fdo::Result<OwnedObjectPath> {
        "/".try_into().map_err(|_| fdo::Error::Failed("/".to_owned()))
    }

    fn get_applied_connection(&self, _flags: u32) -> Result<(Sections, u64), Refusal> {
        if self.1 != OBJECTS[1] {
            return Err(Refusal::NotActive("Device is not activated".to_owned()));
        }
        let address = HashMap::from([("address", Value::from("192.0.2.10"))]);
        let addresses = OwnedValue::try_from(Value::from(vec![address]));
        let addresses = addresses.map_err(zbus::Error::from)?;
        let section = HashMap::from([("address-data".to_owned(), addresses)]);
        Ok(answer(self.0, (HashMap::from([("ipv4".to_owned(), section)]), 1))
            .map_err(zbus::Error::from)?)
    }
}

#[zbus::interface(name = "org.freedesktop.NetworkManager.DHCP4Config")]
impl Lease {
    #[zbus(property)]
    fn options(&self) -> HashMap<String, Value<'_>> {
        HashMap::from([("ip_address".to_owned(), Value::from("192.0.2.100"))])
    }
}

/// A client and NetworkManager's side, which lives as long as it is held.
async fn bus(second: Second) -> Result<(Bus, zbus::Connection), Box<dyn Error>> {
    let (ours, theirs) = tokio::net::UnixStream::pair()?;
    let mut manager = connection::Builder::unix_stream(theirs)
        .server(zbus::Guid::generate())?
        .p2p()
        .serve_at("/org/freedesktop/NetworkManager", Manager)?
        .serve_at("/org/freedesktop/NetworkManager/Settings", Settings)?
        .serve_at(LEASE, Lease)?;
    for path in OBJECTS {
        let is_second = path == OBJECTS[1];
        if is_second && second == Second::Removed {
            continue;
        }
        let is_silent = is_second && second == Second::Silent;
        // `NM_ACTIVATION_STATE_FLAG_EXTERNAL`.
        let flags = if is_second && second == Second::External { 0x80 } else { 0 };
        manager = manager
            .serve_at(path, Profile(is_silent))?
            .serve_at(path, Active(is_silent, path.try_into()?, flags))?
            .serve_at(path, Device(is_silent, path))?;
    }
    let client = connection::Builder::unix_stream(ours).p2p();
    let (manager, client) = tokio::try_join!(manager.build(), client.build())?;
    Ok((Bus::on(client).await?, manager))
}

#[tokio::test]
async fn a_removed_object_is_passed_over_and_a_silent_one_ends_the_list()
-> Result<(), Box<dyn Error>> {
    for (second, expected) in
        [(Second::Present, Some(3)), (Second::Removed, Some(2)), (Second::Silent, None)]
    {
        let (bus, _manager) = bus(second).await?;
        let lists = [
            bus.profiles().await.map(|list| list.len()),
            bus.connections().await.map(|list| list.len()),
            bus.activated().await.map(|list| list.len()),
            bus.active().await.map(|list| list.len()),
            bus.active_and_activated().await.map(|(active, _)| active.len()),
        ];
        for (index, list) in lists.into_iter().enumerate() {
            if expected.is_none() {
                // zbus's side of the bus leaves a property without an answer out of all of an object.
                let is_of_properties = index >= 2;
                assert!(
                    list.is_err_and(|error| error.is_gone() || is_of_properties),
                    "list {index}"
                );
            } else {
                assert_eq!(list.ok(), expected, "list {index}");
            }
        }
    }
    Ok(())
}

#[tokio::test]
async fn what_another_program_made_is_activated_and_no_profile_of_the_nodes()
-> Result<(), Box<dyn Error>> {
    for (second, expected) in
        [(Second::Present, (3, 3)), (Second::External, (2, 3)), (Second::Removed, (2, 2))]
    {
        let (bus, _manager) = bus(second).await?;
        let (active, activated) = bus.active_and_activated().await?;
        assert_eq!((active.len(), activated.len()), expected);
        let devices: Vec<&str> = active.iter().map(|active| active.device.as_str()).collect();
        assert_eq!(devices.first().zip(devices.last()), Some((&OBJECTS[0], &OBJECTS[2])));
        assert!(active.iter().all(|active| active.kind == "802-3-ethernet"));
    }
    Ok(())
}

#[tokio::test]
async fn a_device_that_no_name_leads_to_is_sought_in_the_list() -> Result<(), Box<dyn Error>> {
    for second in [Second::Present, Second::Removed] {
        let (bus, _manager) = bus(second).await?;
        assert_eq!(bus.device(OBJECTS[2]).await?.as_deref(), Some(OBJECTS[2]));
        assert_eq!(bus.device("eno9").await?, None);
    }
    let (silent, _manager) = bus(Second::Silent).await?;
    assert!(silent.device(OBJECTS[2]).await.is_err_and(|error| error.is_gone()));
    Ok(())
}

#[tokio::test]
async fn only_an_idle_device_has_no_applied_profile() -> Result<(), Box<dyn Error>> {
    let (present, _manager) = bus(Second::Present).await?;
    assert!(present.own_addresses("idle").await?.is_empty());
    let own = [10, 100].map(|last| std::net::Ipv4Addr::new(192, 0, 2, last));
    assert_eq!(present.own_addresses("eno1").await?, own, "the profile's and the lease's");
    let (silent, _manager) = bus(Second::Silent).await?;
    assert!(silent.own_addresses("eno1").await.is_err());
    Ok(())
}

#[tokio::test]
async fn a_manager_without_its_objects_is_not_there_yet() -> Result<(), Box<dyn Error>> {
    let (bus, manager) = bus(Second::Present).await?;
    let path = "/org/freedesktop/NetworkManager";
    manager.object_server().remove::<Manager, _>(path).await?;
    assert!(!bus.has_objects().await?);
    manager.object_server().at(path, Manager).await?;
    assert!(bus.has_objects().await?);
    Ok(())
}
