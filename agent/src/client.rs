//! Those the agent talks to: NetworkManager, the kernel, Open vSwitch's database. One module for
//! each library.

pub(crate) mod dbus;
pub(crate) mod event_fd;
pub(crate) mod netlink;
pub(crate) mod ovsdb;
pub(crate) mod watch;
