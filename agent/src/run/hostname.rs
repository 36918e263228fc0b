//! The host name by which the document was chosen, kept for this boot.
//!
//! A name of DHCP or of reverse DNS goes with the lease that a static document ends: NetworkManager then names the node localhost,
//! and kubelet would wait for a name, or register under another one. NetworkManager leaves a name that others have set as it is.

use std::time::Duration;

use nmgen::{chain, node::HostName};
use tokio::{sync::watch, time::timeout};

use super::{in_force::recorded_in_force, last_good::last_good_if_readable, signals::stoppable};
use crate::{
    document::identity::{self, HostNameError},
    error::Error,
    paths::Paths,
    status::StatusFile,
    warn::OrWarn as _,
};

/// NetworkManager asks DNS for a name before it gives one up, and the units that wait for a name have it by then.
const LATE: Duration = Duration::from_secs(60);
/// Whoever takes the name away once more has a reason.
const TIMES: usize = 3;

/// Gives the name back if it is lost by now.
pub(super) fn put_back(paths: &Paths) {
    let Some(name) = chosen_by(paths) else { return };
    unless_there(paths, &name).or_warn_of(&format!("the host name {name} does not come back"));
}

/// Gives the name back when it is lost, for at most a minute.
pub(super) async fn keep(paths: &Paths, stop: &watch::Receiver<bool>) {
    if has_static_name(paths) {
        return;
    }
    let Some(name) = chosen_by(paths) else { return };
    let kept = async {
        for _ in 0..TIMES {
            while !unless_there(paths, &name)? {
                identity::wait_for_change(paths, &identity::current(paths)?).await?;
            }
        }
        Ok::<(), HostNameError>(())
    };
    // A stop and the bound end it too.
    let ended = stoppable(stop, async { Ok::<_, Error>(timeout(LATE, kept).await) }).await;
    if let Ok(Ok(Err(error))) = ended {
        tracing::warn!("the host name {name} is not kept: {}", chain(&error));
    }
}

/// The name of the node when its document was chosen; `None` if it had none, or if the document in force sets one.
fn chosen_by(paths: &Paths) -> Option<String> {
    let (record, _) = recorded_in_force(paths)?;
    let status = StatusFile::load(paths).ok().flatten()?;
    let sets_one = last_good_if_readable(&record).is_none_or(|state| state.wants().hostname);
    let is_name = !HostName::new(&status.hostname).is_placeholder();
    (is_name && !sets_one && status.document.is_some()).then_some(status.hostname)
}

/// Returns whether /etc/hostname names the node: no lease has given that name, and none takes it away.
fn has_static_name(paths: &Paths) -> bool {
    let stored = std::fs::read_to_string(paths.under("/etc/hostname"));
    stored.is_ok_and(|text| !HostName::new(&text).is_placeholder())
}

/// Gives the node its name if it is localhost by now, and returns whether it was.
fn unless_there(paths: &Paths, name: &str) -> Result<bool, HostNameError> {
    let now = identity::current(paths)?;
    if !now.is_placeholder() {
        return Ok(false);
    }
    tracing::warn!(
        "the host name {name}, by which the document was chosen, went with its lease: the node keeps it until the next boot; the \
         document can set it (`hostname`)"
    );
    identity::put_back(paths, name)?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_static_name_is_one_of_the_node() -> std::io::Result<()> {
        let root = tempfile::tempdir()?;
        let paths = Paths::new(root.path());
        assert!(!has_static_name(&paths));
        let file = paths.under("/etc/hostname");
        std::fs::create_dir_all(paths.under("/etc"))?;
        for (text, is_static) in
            [("", false), ("localhost.localdomain\n", false), ("worker-0.example.com\n", true)]
        {
            std::fs::write(&file, text)?;
            assert_eq!(has_static_name(&paths), is_static, "{text}");
        }
        Ok(())
    }
}
