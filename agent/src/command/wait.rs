//! `dayone wait`: run by dayone-wait.service, which kubelet requires.

use crate::{client::watch::until, error::Result, paths::Paths, run::marks};

/// Returns when the boot may go on: a run of the service or a manual run has removed the mark.
pub(crate) async fn wait(paths: &Paths) -> Result {
    until(&paths.undecided(), || Ok((!marks::is_boot_held(paths)).then_some(()))).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::decision::{Decision, HoldReason, ReleaseReason};

    #[tokio::test]
    async fn returns_when_the_mark_goes() -> Result<(), Box<dyn std::error::Error>> {
        let root = tempfile::tempdir()?;
        let paths = Paths::new(root.path());
        wait(&paths).await?;
        marks::publish(&paths, Decision::Hold(HoldReason::Document), None);
        let mut waiting = std::pin::pin!(wait(&paths));
        let bound = std::time::Duration::from_millis(50);
        assert!(tokio::time::timeout(bound, &mut waiting).await.is_err(), "it did not wait");
        marks::publish(&paths, Decision::Release(ReleaseReason::OnFailure), None);
        waiting.await?;
        Ok(())
    }
}
