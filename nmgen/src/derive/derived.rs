//! One host's derived document.

use super::interfaces::Interfaces;
use super::wanted::{BR_EX, METRICS, Request, Wanted, chosen};
use super::{bridge, references, uplink, verify};
use crate::diagnostic::Diagnostics;
use crate::document::{Document, Node};
use crate::source::{Cluster, Host};

/// The early document with the bridges that the request asks for.
pub(super) fn derived(
    host: &Host,
    early: &Document<'static>,
    cluster: &Cluster,
    request: &Request,
) -> Result<Document<'static>, Diagnostics> {
    let mut root = early.root.clone();
    for (name, metric) in METRICS {
        let is_first = name == BR_EX;
        let choices = if is_first { &request.uplinks } else { &request.second };
        let uplink = chosen(choices, host);
        if !is_first && uplink.is_none() {
            continue;
        }
        let document = early.part(root);
        let wanted = Wanted { name, metric, uplink };
        root = one(&document, host, cluster, &wanted)?;
    }
    Ok(early.part(root))
}

fn one(
    document: &Document<'static>,
    host: &Host,
    cluster: &Cluster,
    wanted: &Wanted<'_>,
) -> Result<Node<'static>, Diagnostics> {
    let interfaces = Interfaces::of(&document.root);
    verify::name(document, &interfaces, wanted)?;
    let uplink = match wanted.uplink {
        Some(name) => uplink::named(document, host, &interfaces, name)?,
        None => uplink::found(document, host, &interfaces, cluster)?,
    };
    verify::uplink(document, &interfaces, uplink, wanted)?;
    let mut root = document.root.clone();
    let names = interfaces.names(uplink);
    references::follow(&mut root, &names, wanted);
    bridge::build(&mut root, &interfaces, uplink, wanted);
    Ok(root)
}
