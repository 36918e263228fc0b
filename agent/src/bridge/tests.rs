//! Choosing and planning: nodes in, plans out.

mod again;
mod choosing;
mod comparison;
mod families;
mod kinds;
mod making;
mod nmcli;
mod node;
mod picture;
mod refused;
mod settings;
mod topologies;
