//! Fully activated profiles, without activating ones.

use futures_util::future::try_join_all;
use zbus::zvariant::OwnedObjectPath;

use super::bus::{Bus, BusError, call, unless_gone};

/// `NM_ACTIVE_CONNECTION_STATE_ACTIVATED`.
const ACTIVATED: u32 = 2;

impl Bus {
    /// UUIDs of the profiles whose activation has succeeded.
    pub(crate) async fn activated(&self) -> Result<Vec<String>, BusError> {
        let query = || call("the list of active connections");
        let paths = self.manager.active_connections().await.map_err(query())?;
        let one = async |path: OwnedObjectPath| -> Result<Option<String>, BusError> {
            let proxy = self.active_connection(path).await?;
            let answers = tokio::try_join!(proxy.uuid(), proxy.state());
            let found = unless_gone(answers.map_err(query()))?;
            Ok(found.filter(|(_, state)| *state == ACTIVATED).map(|(uuid, _)| uuid))
        };
        Ok(try_join_all(paths.into_iter().map(one)).await?.into_iter().flatten().collect())
    }
}
