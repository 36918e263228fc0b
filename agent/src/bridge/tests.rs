//! Choosing and planning: nodes in, plans out.

mod again;
mod choosing;
mod comparison;
mod nmcli;
mod node;
mod picture;
mod refused;
