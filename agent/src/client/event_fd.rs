//! Descriptors that tokio watches.

use std::{io, os::fd::OwnedFd};

use tokio::io::{Interest, unix::AsyncFd};

/// Watches a descriptor and owns it for that time.
pub(crate) fn watch(fd: impl Into<OwnedFd>, interest: Interest) -> io::Result<AsyncFd<OwnedFd>> {
    #[allow(
        deprecated,
        reason = "its replacement is unsafe for the sake of types whose descriptor may change; \
                  an OwnedFd's cannot"
    )]
    AsyncFd::with_interest(fd.into(), interest)
}
