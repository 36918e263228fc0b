//! Clients of NetworkManager, the kernel and Open vSwitch's database, and ARP: one module for each library.

pub(crate) mod arp;
pub(crate) mod datapath;
pub(crate) mod dbus;
pub(crate) mod event_fd;
pub(crate) mod filter;
pub(crate) mod netlink;
pub(crate) mod ovsdb;
pub(crate) mod random;
pub(crate) mod vswitchd;
pub(crate) mod watch;
