//! Reads the inputs of a plan: the kernel, NetworkManager, Open vSwitch, files. Changes nothing.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use nmgen::source::bounded;
use thiserror::Error;

use super::inputs::{Files, Inputs, Options};
use crate::{
    client::{
        dbus::{Bus, BusError},
        netlink::{Netlink, NetlinkError},
        ovsdb::{Ovsdb, OvsdbError},
    },
    model::{Bridge, Route},
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

/// An interface's name has 15 bytes, and comments may stand behind it.
const LIMIT: usize = 64 << 10;

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
    let manager =
        async { Ok::<_, GatherError>(tokio::try_join!(bus.connections(), bus.active())?) };
    let (bridges, (links, addresses, mut default_routes), (profiles, active)) =
        tokio::try_join!(bridges(paths), kernel, manager)?;
    default_routes.retain(|route: &Route| !route.is_multipath);
    let mut drivers = BTreeMap::new();
    for link in &links {
        let driver = driver(&paths.sys_net().join(&link.name).join("device/uevent"))?;
        drivers.extend(driver.map(|driver| (link.name.clone(), driver)));
    }
    let options = Options { datapath_type: settings.bridge.datapath_type.clone() };
    let files = files(paths)?;
    Ok(Inputs {
        links,
        drivers,
        addresses,
        default_routes,
        profiles,
        active,
        files,
        bridges,
        options,
    })
}

/// `DRIVER=` of the device below a link; a virtual link has none.
fn driver(uevent: &Path) -> Result<Option<String>, GatherError> {
    let text = content(uevent)?.unwrap_or_default();
    Ok(text.lines().find_map(|line| line.strip_prefix("DRIVER=")).map(str::to_owned))
}

/// The bridges in OVSDB; none if it does not run.
async fn bridges(paths: &Paths) -> Result<Vec<Bridge>, GatherError> {
    let mut ovsdb = match Ovsdb::connect(&paths.ovsdb_socket()).await {
        Ok(ovsdb) => ovsdb,
        Err(error @ OvsdbError::Connect { .. }) => {
            tracing::debug!("{error}");
            return Ok(Vec::new());
        }
        Err(error) => return Err(error.into()),
    };
    Ok(ovsdb.bridges().await?)
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
    match bounded::read(path, LIMIT) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if is_absent(&error) => Ok(None),
        Err(source) => Err(GatherError::Read { path: path.to_owned(), source }),
    }
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
