//! Who this node is: host name, MAC addresses of physical NICs, DMI serial and UUID.

mod hardware;
mod hostname;

pub(crate) use hardware::{dmi_ids, physical_macs};
pub(crate) use hostname::{HostName, HostNameError, current, put_back, wait_for_change};
