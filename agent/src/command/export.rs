//! `dayone export`: the document of the running node.

use std::io::{self, IsTerminal as _};

use super::{
    output::{print, print_bytes, print_of},
    services,
};
use crate::{
    document::{DocumentError, identity},
    durable::record::Record,
    error::{Error, Result},
    export::{self, export as exported},
    network::sight::Sight,
    paths::Paths,
    settings::Usable,
    state::{State, StateError},
};

/// Prints the document of the last commit; to a file byte for byte.
pub(crate) fn export_last_good(paths: &Paths) -> Result {
    let document = Record::load(paths).document().ok_or(Error::NoLastGood)?;
    match io::stdout().is_terminal() {
        true => print(&document.text),
        false => print_bytes(document.text.as_bytes()),
    }
}

/// Prints the document; `policy` makes it a NodeNetworkConfigurationPolicy.
pub(crate) async fn export(paths: &Paths, policy: bool) -> Result {
    let settings = Usable::load(paths).told();
    services::required(paths, false).await?;
    let network = Sight::connect(paths, &settings.wait).await?;
    let (profiles, active) = network.profiles().await?;
    services::required(paths, export::needs_ovs(&active)).await?;
    let current = network.current().await?.to_value()?;
    let exported = exported(&current, &profiles, &active);
    // nmstate judges the document, and hides its secrets.
    let yaml = State::collected(exported.document.clone())?.to_shown_yaml()?;
    let hostname = identity::current(paths).map_err(DocumentError::from)?;
    let text = match policy {
        true => export::manifest(&exported, &yaml, hostname.as_str())
            .map_err(|source| StateError::Encode { source })?,
        false => export::page(&exported, &yaml, hostname.as_str()),
    };
    print_of(paths, &text)
}
