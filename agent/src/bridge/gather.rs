//! Reads the inputs of a plan: the kernel, NetworkManager, Open vSwitch, files. Changes nothing.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use nmgen::source::bounded;
use thiserror::Error;

use super::inputs::{Files, Inputs};
use crate::{
    client::{
        dbus::{Bus, BusError},
        netlink::{Netlink, NetlinkError},
        ovsdb::{Ovsdb, OvsdbError},
    },
    model::{
        Active, Address, Bridge, Link, Profile, Route,
        facts::{Facts, NotTold},
    },
    paths::{PathError, Paths, cannot},
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
    #[error(transparent)]
    NotTold(#[from] NotTold),
    #[error(transparent)]
    Path(#[from] PathError),
}

/// An interface's name has 15 bytes, and comments may stand behind it.
const LIMIT: usize = 64 << 10;

/// Everything that is in no file.
pub(crate) struct Readings {
    links: Vec<Link>,
    addresses: Vec<Address>,
    default_routes: Vec<Route>,
    profiles: Vec<Profile>,
    active: Vec<Active>,
    bridges: Vec<Bridge>,
}

impl Readings {
    /// Takes them from a node that was collected.
    pub(crate) fn collected(facts: &Facts) -> Result<Self, GatherError> {
        let (kernel, manager) = ("the kernel", "NetworkManager");
        Ok(Self {
            links: facts.links.get(kernel)?,
            addresses: facts.addresses.get(kernel)?,
            default_routes: facts.default_routes.get(kernel)?,
            profiles: facts.profiles.get(manager)?,
            active: facts.active.get(manager)?,
            bridges: facts.bridges.get("Open vSwitch")?.unwrap_or_default(),
        })
    }

    /// The inputs, with the files beside them.
    pub(crate) fn inputs(self, paths: &Paths, settings: &Settings) -> Result<Inputs, GatherError> {
        let Self { links, addresses, default_routes, profiles, active, bridges } = self;
        let mut drivers = BTreeMap::new();
        for link in &links {
            let Some(device) = paths.device(&link.name) else { continue };
            let driver = driver(&device.join("device/uevent"))?;
            drivers.extend(driver.map(|driver| (link.name.clone(), driver)));
        }
        let files = files(paths)?.by_kernel_names(&links);
        Ok(Inputs {
            links,
            drivers,
            addresses,
            default_routes,
            profiles,
            active,
            files,
            bridges,
            datapath_type: settings.bridge.datapath_type.clone(),
            earlier: None,
        })
    }
}

/// Reads all inputs: asks the kernel, NetworkManager and Open vSwitch.
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
    let bridges = async { Ok::<_, GatherError>(bridges(paths).await?) };
    let (bridges, (links, addresses, default_routes), (profiles, active)) =
        tokio::try_join!(bridges, kernel, manager)?;
    let bridges = bridges.unwrap_or_default();
    Readings { links, addresses, default_routes, profiles, active, bridges }.inputs(paths, settings)
}

/// `DRIVER=` of the device below a link; a virtual link has none.
fn driver(uevent: &Path) -> Result<Option<String>, GatherError> {
    let text = content(uevent)?.unwrap_or_default();
    Ok(text.lines().find_map(|line| line.strip_prefix("DRIVER=")).map(str::to_owned))
}

/// The bridges in OVSDB; `None` if it does not run.
pub(crate) async fn bridges(paths: &Paths) -> Result<Option<Vec<Bridge>>, OvsdbError> {
    let mut ovsdb = match Ovsdb::connect(&paths.ovsdb_socket()).await {
        Ok(ovsdb) => ovsdb,
        Err(error @ OvsdbError::Connect { .. }) => {
            tracing::debug!("{error}");
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    ovsdb.bridges().await.map(Some)
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
        Err(error) => Err(cannot("read", path)(error).into()),
    }
}

fn exists(path: &Path) -> Result<bool, GatherError> {
    match fs::metadata(path) {
        Ok(_) => Ok(true),
        Err(error) if is_absent(&error) => Ok(false),
        Err(error) => Err(cannot("read", path)(error).into()),
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
