//! One host's derived document.

use nmgen_core::source::Host;
use nmgen_document::Document;
use nmgen_document::diagnostic::Diagnostics;

use super::interfaces::Interfaces;
use super::wanted::{BR_EX, METRICS, Request, Wanted, chosen};
use super::{balance_slb, bridge, references, uplink, verify};
use crate::source::Cluster;

/// The early document with the bridges that the request asks for.
pub(super) fn derived(
    host: &Host,
    early: &Document<'static>,
    cluster: &Cluster,
    request: &Request,
) -> Result<Document<'static>, Diagnostics> {
    let mut document = early.part(early.root.clone());
    for (name, metric) in METRICS {
        let is_first = name == BR_EX;
        let choices = if is_first { &request.uplinks } else { &request.second };
        let uplink = chosen(choices, host);
        if is_first || uplink.is_some() {
            let balance_slb = request.balance_slb.as_ref().filter(|_| is_first);
            let wanted = Wanted { name, metric, uplink, balance_slb };
            add(&mut document, host, cluster, &wanted)?;
        }
    }
    Ok(document)
}

fn add(
    document: &mut Document<'static>,
    host: &Host,
    cluster: &Cluster,
    wanted: &Wanted<'_>,
) -> Result<(), Diagnostics> {
    let interfaces = Interfaces::of(&document.root);
    verify::name(document, &interfaces, wanted)?;
    let uplink = match wanted.uplink {
        Some(name) => uplink::named(document, host, &interfaces, name)?,
        None => uplink::found(document, host, &interfaces, cluster)?,
    };
    verify::uplink(document, &interfaces, uplink, wanted)?;
    let bridge = match wanted.balance_slb {
        Some(names) => balance_slb::build(document, &interfaces, uplink, wanted, names)?,
        None => bridge::build(&interfaces, uplink, wanted),
    };
    let names: Vec<String> = interfaces.names(uplink).into_iter().map(str::to_owned).collect();
    references::follow(&mut document.root, &names, wanted);
    bridge::put(&mut document.root, bridge);
    Ok(())
}
