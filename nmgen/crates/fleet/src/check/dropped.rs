//! What nmstate takes and drops in silence, or what has no effect on any node.

use std::collections::BTreeSet;

use nmgen_core::interface;
use nmgen_document::Document;
use nmgen_document::diagnostic::{Diagnostics, rules};

rules! {
    warning RULE_WITHOUT_ROUTE = "rule-without-route";
    warning SRIOV_VF_ID = "sriov-vf-id";
}

/// The kernel's own tables: all, default, main and local.
const OF_KERNEL: &[u64] = &[0, 253, 254, 255];

pub(super) fn check(document: &Document<'_>, diagnostics: &mut Diagnostics) {
    virtual_functions(document, diagnostics);
    rules_without_routes(document, diagnostics);
}

/// nmstate fills a list of `total-vfs` functions by their numbers, and leaves out the others (its `ifaces/sriov.rs`).
fn virtual_functions(document: &Document<'_>, diagnostics: &mut Diagnostics) {
    for card in interface::all(&document.root) {
        let Some(section) = card.at(&["ethernet", "sr-iov"]) else { continue };
        let Some(total) = section.number_at(&["total-vfs"]) else { continue };
        let ids = section.items_at(&["vfs"]).iter();
        for node in ids.filter_map(|function| function.get("id")) {
            let Some(id) = node.number().filter(|id| *id >= total && total > 0) else { continue };
            let message = format!("nmstate drops the virtual function {id}: total-vfs is {total}");
            let help = format!("the first one is 0, the last one {}", total - 1);
            diagnostics.add(SRIOV_VF_ID, document.place(node.span), message, help);
        }
    }
}

/// A rule for a table that nothing in the document fills, while the document fills another one.
fn rules_without_routes(document: &Document<'_>, diagnostics: &mut Diagnostics) {
    let list = |section| document.root.items_at(&[section, "config"]);
    let of_routes = list("routes").iter().filter_map(|route| route.get("table-id")?.number());
    let of_interfaces = interface::all(&document.root).iter().flat_map(|node| {
        [
            &["ipv4", "auto-route-table-id"],
            &["ipv6", "auto-route-table-id"],
            &["vrf", "route-table-id"],
        ]
        .into_iter()
        .filter_map(|keys| node.at(keys)?.number())
    });
    let filled: BTreeSet<u64> =
        of_routes.chain(of_interfaces).filter(|table| !OF_KERNEL.contains(table)).collect();
    if filled.is_empty() {
        return;
    }
    for node in list("route-rules").iter().filter_map(|rule| rule.get("route-table")) {
        let is_empty = |table: &u64| !filled.contains(table) && !OF_KERNEL.contains(table);
        let Some(table) = node.number().filter(is_empty) else { continue };
        let message = format!("no route of this document is in table {table}");
        let others: Vec<String> = filled.iter().map(u64::to_string).collect();
        let help =
            format!("its routes are in {}; an empty table changes nothing", others.join(", "));
        diagnostics.add(RULE_WITHOUT_ROUTE, document.place(node.span), message, help);
    }
}
