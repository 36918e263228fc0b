//! Inputs of a test.

use crate::{
    bridge::{
        inputs::Inputs,
        plan::BridgePlan,
        planner::plan,
        uplink::{Choice, Patience, choose},
    },
    model::{
        Active, Address, Bridge, Family, Link, Mac, OnLink, Profile, Route, Scope,
        connection::{ConnectionSettings, Record, Value},
    },
};

/// A MAC address that ends in this number.
pub(super) fn mac(last: u8) -> Mac {
    Mac::of_ethernet(&[0x52, 0x54, 0, 0, 0, last]).expect("an address")
}

/// A profile that is bound to an interface.
pub(super) fn profile(id: &str, kind: &str, interface: &str) -> Profile {
    let mut settings = ConnectionSettings::default();
    settings.set("connection", "id", id);
    settings.set("connection", "uuid", format!("uuid-of-{id}"));
    settings.set("connection", "type", kind);
    settings.set("connection", "interface-name", interface);
    settings.set("connection", "timestamp", Value::U64(1));
    Profile { path: format!("/{id}"), settings, is_saved: false }
}

/// An Ethernet profile with DHCP and without IPv6.
pub(super) fn dhcp(interface: &str) -> Profile {
    profile(interface, "802-3-ethernet", interface)
        .with("ipv4", "method", "auto")
        .with("ipv6", "method", "disabled")
}

/// An Ethernet profile with the address 192.0.2.10.
pub(super) fn fixed(interface: &str) -> Profile {
    profile(interface, "802-3-ethernet", interface)
        .fixed("192.0.2.10", 24, "192.0.2.1")
        .with("ipv6", "method", "disabled")
}

pub(super) fn texts(texts: &[&str]) -> Value {
    Value::Texts(texts.iter().map(|text| (*text).to_owned()).collect())
}

pub(super) fn record(entries: &[(&str, Value)]) -> Record {
    entries.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect()
}

impl Profile {
    pub(super) fn with(mut self, section: &str, property: &str, value: impl Into<Value>) -> Self {
        self.settings.set(section, property, value);
        self
    }

    /// A static address with its gateway, of either family.
    pub(super) fn fixed(self, ip: &str, prefix: u32, gateway: &str) -> Self {
        let family = if ip.contains(':') { "ipv6" } else { "ipv4" };
        let address = record(&[("address", ip.into()), ("prefix", prefix.into())]);
        self.with(family, "method", "manual")
            .with(family, "address-data", Value::Records(vec![address]))
            .with(family, "gateway", gateway)
    }

    /// A port.
    pub(super) fn port_of(self, controller: &str, kind: &str) -> Self {
        self.with("connection", "master", controller).with("connection", "slave-type", kind)
    }
}

impl Inputs {
    /// An Ethernet card.
    pub(super) fn card(self, name: &str, last: u8) -> Self {
        self.link_of(name, last, None)
    }

    /// A virtual device.
    pub(super) fn device(self, name: &str, last: u8, kind: &str) -> Self {
        self.link_of(name, last, Some(kind.to_owned()))
    }

    fn link_of(mut self, name: &str, last: u8, kind: Option<String>) -> Self {
        self.links.push(Link {
            name: name.to_owned(),
            mac: Some(mac(last)),
            permanent_mac: kind.is_none().then(|| mac(last)),
            mtu: Some(1500),
            kind,
            has_carrier: true,
            ..Link::default()
        });
        self
    }

    /// Changes the link that was added last.
    pub(super) fn but(mut self, change: impl FnOnce(&mut Link)) -> Self {
        if let Some(link) = self.links.last_mut() {
            change(link);
        }
        self
    }

    /// A profile that is active on its interface.
    pub(super) fn active(self, profile: Profile) -> Self {
        let device = profile.interface_name().unwrap_or_default().to_owned();
        self.active_on(&device, profile)
    }

    /// A profile that is active on this interface.
    pub(super) fn active_on(mut self, device: &str, profile: Profile) -> Self {
        self.active.push(Active {
            uuid: profile.uuid().to_owned(),
            kind: profile.kind().to_owned(),
            device: device.to_owned(),
        });
        self.idle(profile)
    }

    /// A profile that is not active.
    pub(super) fn idle(mut self, profile: Profile) -> Self {
        self.profiles.push(profile);
        self
    }

    /// An address in the kernel.
    pub(super) fn address(mut self, link: &str, ip: &str) -> Self {
        let ip: std::net::IpAddr = ip.parse().expect("an address");
        let is_local = ip.to_string().starts_with("fe80:");
        self.addresses.push(Address {
            on: OnLink { link: link.to_owned(), ip, prefix: if ip.is_ipv4() { 24 } else { 64 } },
            scope: if is_local { Scope::Link } else { Scope::Global },
            tentative: false,
            duplicate: false,
            dynamic: false,
        });
        self
    }

    /// A default route in the kernel.
    pub(super) fn route(mut self, link: &str, gateway: &str, metric: u32) -> Self {
        let gateway: std::net::IpAddr = gateway.parse().expect("an address");
        self.default_routes.push(Route {
            link: link.to_owned(),
            gateway,
            family: Family::of(gateway),
            metric,
            index: 0,
            is_advertised: false,
        });
        self
    }

    /// A bridge in OVSDB.
    pub(super) fn bridge(mut self, name: &str, profile: &str, port: &str) -> Self {
        self.bridges.push(Bridge::example(
            name,
            Some(profile),
            &[(port, "system", Some("its profile"))],
        ));
        self
    }

    /// The plan after all waiting.
    pub(super) fn planned(&self) -> BridgePlan {
        match choose(self, Patience::Over).expect("an uplink") {
            Choice::Decided(uplink) => plan(self, uplink).expect("a plan"),
            Choice::Wait(awaited) => unreachable!("still waits for {awaited}"),
        }
    }
}

/// A node with an address and a default route on eno1, by this profile.
pub(super) fn node(profile: Profile) -> Inputs {
    Inputs::default().card("eno1", 1).active(profile).address("eno1", "192.0.2.10").route(
        "eno1",
        "192.0.2.1",
        100,
    )
}
