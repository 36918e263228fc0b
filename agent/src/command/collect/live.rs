//! The facts of now, each source within its own bound.

use std::{fmt, future::Future, time::Duration};

use nmgen::chain;

use crate::{
    bridge::gather::bridges,
    client::{
        dbus::{Bus, BusError},
        netlink::Netlink,
    },
    command::{gateway, services},
    durable::record::Record,
    lock,
    model::facts::{Facts, SourceAnswer},
    paths::Paths,
    settings::Usable,
    state::{State, StateError},
    status::{StatusFile, trial::monotonic},
};

/// The answer of a source, or its error.
async fn told<T, E: std::error::Error>(
    bound: Duration,
    asked: impl Future<Output = Result<T, E>>,
) -> SourceAnswer<T> {
    match tokio::time::timeout(bound, asked).await {
        Ok(Ok(value)) => SourceAnswer::Value(value),
        Ok(Err(error)) => SourceAnswer::Error(chain(&error)),
        Err(_) => SourceAnswer::Error(late(bound)),
    }
}

fn late(bound: Duration) -> String {
    format!("no answer within {} s", bound.as_secs())
}

/// Facts of this system; each source has `bound`, all at the same time but for the gateways.
pub(super) async fn facts(paths: &Paths, bound: Duration) -> Facts {
    let kernel = async {
        tokio::join!(
            told(bound, async { Netlink::connect()?.links().await }),
            told(bound, async { Netlink::connect()?.addresses().await }),
            told(bound, async { Netlink::connect()?.default_routes().await }),
        )
    };
    let manager = async {
        tokio::join!(
            told(bound, asked(async |bus| bus.connections().await)),
            told(bound, asked(async |bus| bus.active().await)),
            told(bound, asked(async |bus| bus.activated().await)),
            told(bound, asked(async |bus| bus.lldp_neighbours().await)),
        )
    };
    let state = async |state: Result<State, StateError>| state?.to_value();
    let states = async {
        tokio::join!(
            told(bound, async { state(State::retrieve().await).await }),
            told(bound, async { state(State::retrieve_kernel().await).await }),
        )
    };
    let (kernel, manager, bridges, states, outages) =
        tokio::join!(kernel, manager, told(bound, bridges(paths)), states, async {
            tokio::join!(
                services::down_open_vswitch(paths, bound),
                services::down_network_manager(paths, bound),
            )
        },);
    // Beside the states, which take a slow node's processor for seconds, a gateway that answers would be late.
    let silent = silent(paths, bound).await;
    Facts {
        links: kernel.0,
        addresses: kernel.1,
        default_routes: kernel.2,
        profiles: manager.0,
        active: manager.1,
        activated: manager.2,
        lldp: manager.3,
        bridges,
        state: states.0,
        kernel: states.1,
        open_vswitch: outages.0,
        network_manager: outages.1,
        silent,
        missing_families: gateway::missing_families(paths, &Record::load(paths)).await,
        at_work: lock::at_work(paths),
        monotonic: monotonic(),
    }
}

/// A question to NetworkManager, which has to be there: nobody waits for it here.
async fn asked<T>(question: impl AsyncFnOnce(Bus) -> Result<T, BusError>) -> Result<T, BusError> {
    let bus = Bus::connect().await?;
    if bus.has_network_manager().await? { question(bus).await } else { Err(BusError::Absent) }
}

/// NetworkManager's version.
pub(super) async fn version(bound: Duration) -> SourceAnswer<String> {
    told(bound, asked(async |bus| bus.version().await)).await
}

/// Why no gateway of the network in force answers.
async fn silent(paths: &Paths, bound: Duration) -> Option<String> {
    let settings = Usable::load(paths).settings;
    let boot = StatusFile::load(paths).ok().flatten();
    let bridge = boot.as_ref().and_then(|boot| boot.bridge.as_ref());
    let bridge = bridge.filter(|bridge| !bridge.uplink.is_empty());
    let record = Record::load(paths);
    let look = gateway::silent(paths, &settings, &record, bridge);
    tokio::time::timeout(bound, look).await.unwrap_or_else(|_| Some(late(bound)))
}

/// The facts of a tree that is no system.
pub(super) fn none(why: &str) -> Facts {
    fn error<T>(why: &impl fmt::Display) -> SourceAnswer<T> {
        SourceAnswer::Error(why.to_string())
    }
    Facts {
        links: error(&why),
        addresses: error(&why),
        default_routes: error(&why),
        profiles: error(&why),
        active: error(&why),
        activated: error(&why),
        bridges: error(&why),
        state: error(&why),
        kernel: error(&why),
        lldp: error(&why),
        open_vswitch: None,
        network_manager: None,
        silent: None,
        missing_families: Vec::new(),
        at_work: None,
        monotonic: 0,
    }
}
