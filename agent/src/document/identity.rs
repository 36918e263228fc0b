//! This node's identity: host name, MAC addresses of physical NICs, DMI serial and UUID.

mod hardware;
mod hostname;

pub(crate) use hardware::{cards, dmi};
pub(crate) use hostname::{HostNameError, current, put_back, wait_for_change};
