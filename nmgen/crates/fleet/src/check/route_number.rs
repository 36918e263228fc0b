//! Numbers of routes and rules that nmstate takes and the kernel has no room for: NetworkManager drops the route, or refuses the
//! profile.

use nmgen_document::Document;
use nmgen_document::diagnostic::{Diagnostics, rules};

rules! {
    error ROUTE_NUMBER = "route-number-range";
}

/// The lists and keys of numbers of 32 bits.
const NUMBERS: &[(&str, &str)] = &[("routes", "metric"), ("route-rules", "priority")];

pub(super) fn check(document: &Document<'_>, diagnostics: &mut Diagnostics) {
    for (section, key) in NUMBERS {
        let list = document.root.items_at(&[section, "config"]);
        for node in list.iter().filter_map(|item| item.get(key)) {
            if let Some(number) = node.number().filter(|number| *number > u64::from(u32::MAX)) {
                let message = format!("{key} {number} is not in 0..={}", u32::MAX);
                let help = "the kernel has 32 bits for it";
                diagnostics.add(ROUTE_NUMBER, document.place(node.span), message, help);
            }
        }
    }
}
