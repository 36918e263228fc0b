//! Reads the inputs of a plan: the kernel, NetworkManager, Open vSwitch, files. Changes nothing.

use std::{
    fs, io,
    io::Read as _,
    path::{Path, PathBuf},
};

use thiserror::Error;

use super::inputs::{
    Active, Address, DefaultRoute, Files, Inputs, Link, Options, OvsBridge, Profile,
};
use crate::{
    client::{
        dbus::{Bus, BusError},
        netlink::{Netlink, NetlinkError},
        ovsdb::{Ovsdb, OvsdbError},
    },
    paths::Paths,
    settings::Settings,
};

/// Why the inputs cannot be read.
#[derive(Debug, Error)]
pub(crate) enum GatherError {
    #[error(transparent)]
    Bus(#[from] BusError),
    #[error(transparent)]
    Netlink(#[from] NetlinkError),
    #[error(transparent)]
    Ovsdb(#[from] OvsdbError),
    #[error("cannot read {path}")]
    Read { path: PathBuf, source: io::Error },
}

/// An interface's name has 15 bytes; more than this is never one.
const LIMIT: u64 = 4096;

/// The MTU of a link that tells none, as configure-ovs.sh has it.
const MTU: u32 = 1500;

/// Reads all inputs.
pub(crate) async fn gather(
    paths: &Paths,
    settings: &Settings,
    bus: &Bus,
    netlink: &Netlink,
) -> Result<Inputs, GatherError> {
    let kernel = async {
        let links = netlink.links().await?;
        let addresses = netlink.addresses().await?;
        Ok::<_, GatherError>((links, addresses, netlink.default_routes().await?))
    };
    let manager = async {
        let (connections, active) = tokio::try_join!(bus.connections(), bus.active())?;
        Ok::<_, GatherError>((connections, active))
    };
    let (bridges, (links, addresses, routes), (connections, active)) =
        tokio::try_join!(bridges(paths), kernel, manager)?;
    let profile = |connection: crate::client::dbus::Connection| Profile {
        path: connection.path,
        settings: connection.settings,
    };
    Ok(Inputs {
        links: links.into_iter().map(|it| link(paths, it)).collect::<Result<_, _>>()?,
        addresses: addresses
            .into_iter()
            .map(|it| Address {
                link: it.on.link,
                ip: it.on.ip,
                prefix: it.on.prefix,
                scope: it.scope,
                tentative: it.tentative,
                dynamic: it.dynamic,
            })
            .collect(),
        default_routes: routes
            .into_iter()
            .filter(|it| !it.is_multipath)
            .map(|it| DefaultRoute {
                link: it.link,
                gateway: it.gateway,
                is_v4: it.is_v4,
                metric: it.metric,
            })
            .collect(),
        profiles: connections.into_iter().filter(|it| !it.is_external()).map(profile).collect(),
        active: active
            .into_iter()
            .map(|it| Active { uuid: it.uuid, kind: it.kind, device: it.device })
            .collect(),
        files: files(paths)?,
        bridges,
        options: Options { datapath_type: settings.bridge.datapath_type.clone() },
    })
}

fn link(paths: &Paths, link: crate::client::netlink::Link) -> Result<Link, GatherError> {
    Ok(Link {
        driver: driver(&paths.sys_net().join(&link.name).join("device/uevent"))?,
        name: link.name,
        mac: link.mac,
        permanent_mac: link.permanent_mac,
        mtu: link.mtu.unwrap_or(MTU),
        layer: link.layer,
        kind: link.kind,
        controller: link.controller,
        has_carrier: link.has_carrier,
        lacp: link.lacp,
    })
}

/// `DRIVER=` of the device below a link; a virtual link has none.
fn driver(uevent: &Path) -> Result<Option<String>, GatherError> {
    let text = content(uevent)?.unwrap_or_default();
    Ok(text.lines().find_map(|line| line.strip_prefix("DRIVER=")).map(str::to_owned))
}

/// The bridges in OVSDB; none if it does not run.
async fn bridges(paths: &Paths) -> Result<Vec<OvsBridge>, GatherError> {
    let mut ovsdb = match Ovsdb::connect(&paths.ovsdb_socket()).await {
        Ok(ovsdb) => ovsdb,
        Err(error @ OvsdbError::Connect { .. }) => {
            tracing::debug!("{error}");
            return Ok(Vec::new());
        }
        Err(error) => return Err(error.into()),
    };
    let owned = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect();
    let bridge = |bridge: &crate::client::ovsdb::Bridge| OvsBridge {
        name: bridge.name.clone(),
        profile: bridge.profile().map(str::to_owned),
        system_interfaces: owned(bridge.system_interfaces().collect()),
        patch_ports: owned(bridge.patch_ports().collect()),
    };
    Ok(ovsdb.bridges().await?.iter().map(bridge).collect())
}

fn files(paths: &Paths) -> Result<Files, GatherError> {
    let whole = |path: PathBuf| {
        Ok::<_, GatherError>(content(&path)?.map(|text| text.trim_end_matches('\n').to_owned()))
    };
    let extra = content(&paths.uplinks().join("extra_bridge"))?;
    Ok(Files {
        default_bridge: whole(paths.uplinks().join("default_bridge"))?,
        extra_bridge: extra.map(|text| text.lines().next().unwrap_or_default().to_owned()),
        primary_ip: whole(paths.primary_ip())?,
        hint: whole(paths.hint())?,
        boot_done: exists(&paths.boot_done())?,
        applied: exists(&paths.applied())?,
    })
}

/// A small file; `None` without one.
fn content(path: &Path) -> Result<Option<String>, GatherError> {
    let read = |source| GatherError::Read { path: path.to_owned(), source };
    let file = match fs::File::open(path) {
        Ok(file) => file,
        Err(error) if is_absent(&error) => return Ok(None),
        Err(source) => return Err(read(source)),
    };
    let mut bytes = Vec::new();
    file.take(LIMIT).read_to_end(&mut bytes).map_err(read)?;
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

fn exists(path: &Path) -> Result<bool, GatherError> {
    match fs::metadata(path) {
        Ok(_) => Ok(true),
        Err(error) if is_absent(&error) => Ok(false),
        Err(source) => Err(GatherError::Read { path: path.to_owned(), source }),
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
