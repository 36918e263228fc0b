//! The interfaces of a document, as the derivation sees them.

use std::net::IpAddr;

use nmgen_core::interface::{self, is_up, kind};
use nmgen_core::stack::{self, Relation};
use nmgen_document::Node;

/// The item of `interfaces` with this index.
pub(super) type Index = usize;

pub(super) struct Interfaces<'a> {
    pub(super) all: &'a [Node<'static>],
}

impl<'a> Interfaces<'a> {
    pub(super) fn of(root: &'a Node<'static>) -> Self {
        Self { all: interface::all(root) }
    }

    /// Interfaces of the kernel that are up, with their names.
    pub(super) fn up(&self) -> impl Iterator<Item = (Index, &'a str, &'a Node<'static>)> {
        let all = self.all.iter().enumerate();
        all.filter(|(_, node)| is_up(node) && kind(node) != "ovs-bridge")
            .filter_map(|(index, node)| Some((index, node.text_at("name")?, node)))
    }

    /// The interface by name, profile name or alternative name.
    pub(super) fn find(&self, name: &str) -> Option<Index> {
        let by_name = self.up().find(|(_, own, _)| *own == name);
        by_name
            .or_else(|| self.up().find(|(index, ..)| self.names(*index).contains(&name)))
            .map(|(index, ..)| index)
    }

    /// All names by which a document may refer to an interface.
    pub(super) fn names(&self, index: Index) -> Vec<&'a str> {
        let Some(node) = self.all.get(index) else { return Vec::new() };
        let alt_names = node.items_at(&["alt-names"]);
        let own = [node.text_at("name"), node.text_at("profile-name")];
        let others = alt_names.iter().map(|entry| entry.text_at("name"));
        own.into_iter().chain(others).flatten().collect()
    }

    /// The controller that has this interface as a port.
    pub(super) fn controller(&self, index: Index) -> Option<(&'a str, &'a Node<'static>)> {
        let names = self.names(index);
        let uppers = self.all.iter().filter(|node| is_up(node));
        let listed = |upper: &&Node<'static>| {
            let below = stack::below(upper);
            below.iter().any(|reference| {
                reference.role == Relation::Port && names.contains(&reference.name)
            })
        };
        uppers.filter_map(|node| Some((node.text_at("name")?, node))).find(|(_, node)| listed(node))
    }

    /// The interface below a VLAN and the like.
    pub(super) fn base(&self, index: Index) -> Option<Index> {
        let below = stack::below(self.all.get(index)?);
        let base = below.iter().find(|reference| reference.role == Relation::Base)?;
        self.find(base.name)
    }
}

/// True for DHCP or router advertisements in this family.
pub(super) fn is_automatic(node: &Node<'_>, family: &str) -> bool {
    node.is_on(&[family, "enabled"])
        && (node.is_on(&[family, "dhcp"]) || node.is_on(&[family, "autoconf"]))
}

/// The addresses of enabled families.
pub(super) fn addresses(node: &Node<'_>) -> Vec<IpAddr> {
    let families = ["ipv4", "ipv6"].into_iter().filter(|family| node.is_on(&[family, "enabled"]));
    let items = families.flat_map(|family| node.items_at(&[family, "address"]));
    items.filter_map(|item| item.text_at("ip")?.parse().ok()).collect()
}

/// True for static addresses, DHCP or router advertisements.
pub(super) fn has_addresses(node: &Node<'_>) -> bool {
    !addresses(node).is_empty() || is_automatic(node, "ipv4") || is_automatic(node, "ipv6")
}
