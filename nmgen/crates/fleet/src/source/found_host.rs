//! A host of the sources, before its Secret and its cluster are known.

use nmgen_core::source::Host;
use nmgen_document::diagnostic::Place;

use super::manifest::Name;
use super::origin::Origin;

/// A host while its parts are put together.
#[derive(Debug)]
pub(super) struct FoundHost {
    pub(super) host: Host,
    pub(super) origin: Origin,
    /// The Secret with its document, for a host whose object has none.
    pub(super) secret: Option<HostSecret>,
    /// The address of its management controller.
    pub(super) controller: Option<(String, Place)>,
}

impl FoundHost {
    pub(super) fn new(host: Host, origin: Origin) -> Self {
        Self { host, origin, secret: None, controller: None }
    }
}

/// The Secret with the document of a BareMetalHost.
#[derive(Debug)]
pub(super) enum HostSecret {
    /// The object refers to it.
    Referred { secret: Name, place: Place },
    /// The object refers to none: the host's Secret by the installer's convention, and that of its `networkData`. The place is that
    /// of `networkData`, else of the host's name.
    Unreferred { secrets: Vec<Name>, place: Place },
}
