//! The way back for OVS bridges: one for the running agent and for the start after a power cut.

use crate::client::ovsdb::{Bridge, Ovsdb, OvsdbError};

/// Bridges of before that no profile brings back.
fn unmanaged(before: &[Bridge]) -> impl Iterator<Item = &Bridge> {
    before.iter().filter(|bridge| !bridge.managed)
}

/// Bridges of the document that were not there before.
fn new<'a>(before: &'a [Bridge], made: &'a [String]) -> impl Iterator<Item = &'a String> {
    made.iter().filter(|name| !before.iter().any(|bridge| bridge.name == **name))
}

/// Whether there may be anything to undo.
pub(crate) fn is_needed(before: &[Bridge], made: &[String]) -> bool {
    must_return(before) || new(before, made).next().is_some()
}

/// Whether a bridge of before comes back by this way alone.
pub(crate) fn must_return(before: &[Bridge]) -> bool {
    unmanaged(before).next().is_some()
}

/// Removes what was made and returns what was removed.
pub(crate) async fn undo(
    ovsdb: &mut Ovsdb,
    before: &[Bridge],
    made: &[String],
) -> Result<(), OvsdbError> {
    let new: Vec<String> = new(before, made).cloned().collect();
    ovsdb.remove(&new).await?;
    let now = ovsdb.bridges().await?;
    for bridge in unmanaged(before).filter(|old| !now.iter().any(|n| n.name == old.name)) {
        tracing::info!(bridge = %bridge.name, "the bridge comes back");
        ovsdb.restore(bridge).await?;
    }
    Ok(())
}
