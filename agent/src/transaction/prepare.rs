//! Preparation before the first change: prerequisites, snapshot, journal.

use std::{future::Future, path::Path};

use nmgen::chain;

use super::{
    BridgeChange, DocumentChange, Probed, Transaction,
    bounds::{GRACE, LONG},
    failure::{PhaseError, Phased},
};
use crate::{
    document::digest::Digest,
    durable::{
        automatic,
        commit::{self, Commit},
        journal::{self, ChangeKind, Journal},
    },
    model::{Before, OvsKey, OvsSetting, Wants, WayBack},
    network::{Network, NetworkError, boot_time, takeover::Leftovers},
    probe::{self, Probe},
    settings::Timeouts,
    state::{Parsed, State},
    status::{phase::Phase, trial::TrialFile},
};

/// nmstate's own checkpoint, under which it applies a document, has each device that NetworkManager knows.
const EACH_DEVICE: Option<&[String]> = None;

/// The results of the preparation.
pub(super) struct Prepared {
    pub(super) desired: State,
    pub(super) wants: Wants,
    pub(super) before: Before,
    pub(super) leftovers: Leftovers,
    pub(super) plan: Vec<Probe>,
    pub(super) commit: Commit,
    /// The bounds of this change.
    pub(super) timeout: Timeouts,
}

impl<N: Network> Transaction<'_, N> {
    /// Prepares a document, on trial or not.
    pub(super) async fn prepare(
        &self,
        change: &DocumentChange<'_>,
        trial: Option<&TrialFile>,
        probed: &mut Probed,
    ) -> Phased<Prepared> {
        let DocumentChange { document, parsed, service_files, previous } = change;
        let first = parsed.first_wants();
        self.ready(&first, EACH_DEVICE).await?;
        let current = match parsed.needs_current() {
            true => Some(self.captured(parsed).await?),
            false => None,
        };
        let desired = self
            .phase(Phase::Snapshot, self.settings.timeout.snapshot.get(), async {
                let desired = self.network.resolve_links(parsed.resolve(current.as_ref())?).await?;
                Ok::<_, PhaseError>(match (desired.lacks_types(), current) {
                    (false, _) => desired,
                    (true, Some(current)) => desired.with_types_of(&current),
                    (true, None) => desired.with_types_of(&self.network.current().await?),
                })
            })
            .await?;
        // After the resolution, since the document's names of links may differ from the kernel's.
        let mut wants = desired.wants();
        // Settings of the document before may go, and a roll back returns them.
        let own = wants.ovs_settings.clone();
        let former = previous.iter().flat_map(|previous| previous.wants().ovs_settings);
        wants
            .ovs_settings
            .extend(former.filter(|ovs_key| ovs_key.key.is_some() && !own.contains(ovs_key)));
        if parsed.needs_current() {
            self.ready(&wants, EACH_DEVICE).await?;
        }
        let mut plan =
            probe::plan(&self.settings.probe, &wants.gateways, &wants.name_servers, self.paths);
        plan.retain(|probe| {
            !wants.without_gateway.iter().any(|family| probe.is_gateway_of(*family))
        });
        let timeout = self.settings.timeout.with_virtual_functions(desired.virtual_functions());
        let way_back = WayBack {
            // The checkpoint outlasts the wait for the confirmation.
            checkpoint_seconds: timeout.checkpoint_seconds()
                + trial.map_or(0, |trial| trial.get().seconds),
            // A trial may be undone when its checkpoint is gone.
            reapply: !service_files.due.is_empty() || trial.is_some(),
        };
        let leftovers = async |before: &Before| self.network.leftovers(&wants, before).await;
        let input = Some(document.digest.to_string());
        let (mut before, leftovers) =
            self.look(&wants, &plan, way_back, leftovers, (input.as_deref(), probed)).await?;
        wants.judge_dynamic(&before);
        // A roll back needs Open vSwitch for what this change touches alone.
        let going = previous.map(|state| desired.former_settings(state, &before.ovs_settings));
        let going = going.unwrap_or_default();
        before.ovs_settings.retain(|setting| is_of(&own, setting) || is_of(&going, setting));
        let commit = self
            .journal(async {
                let (before, probes) = (before.clone(), probed.before.clone());
                let bridges = wants.bridges.clone();
                let kind = if trial.is_some() { ChangeKind::Trial } else { ChangeKind::Document };
                let of = (document.digest.clone(), document.path.clone());
                let journal = Journal::new(self.paths, kind, of, bridges, before, probes);
                let resolved = desired.to_yaml()?;
                let texts = [&*document.text, &*resolved, &*service_files.text()];
                Ok(journal::open(self.paths, &journal, &texts, |new| match kind {
                    // A trial writes nothing beside the journal.
                    ChangeKind::Trial => Ok(Commit::default()),
                    ChangeKind::Document | ChangeKind::Bridge => {
                        commit::stage(self.paths, new, document, &resolved)
                    }
                })?)
            })
            .await?;
        Ok(Prepared { desired, wants, before, leftovers, plan, commit, timeout })
    }

    /// Prepares the automatic bridge.
    pub(super) async fn prepare_bridge(
        &self,
        change: &BridgeChange<'_>,
        probed: &mut Probed,
    ) -> Phased<Prepared> {
        let BridgeChange { plan: profiles, replaces_document } = change;
        let desired = self
            .phase(Phase::Snapshot, self.settings.timeout.snapshot.get(), async {
                // The rest is verified with the profiles.
                let picture = Parsed::new(&profiles.document)?.resolve(None)?;
                Ok::<_, PhaseError>(picture.visible())
            })
            .await?;
        let wants = desired.wants();
        self.ready(&wants, Some(&wants.links)).await?;
        // A gateway of the old network decides only if it answered before: the bridge must not ask
        // more of a network than the network was.
        let plan = probe::plan(&self.settings.probe, &[], &[], self.paths);
        let leftovers = async |before: &Before| Ok(Leftovers::of(&profiles.remove, before));
        let checkpoint_seconds = self.settings.timeout.checkpoint_seconds();
        let way_back = WayBack { checkpoint_seconds, reapply: false };
        let (before, leftovers) =
            self.look(&wants, &plan, way_back, leftovers, (None, probed)).await?;
        let (commit, fault) = self
            .journal(async {
                let (before, probes) = (before.clone(), probed.before.clone());
                let (bridges, picture) = (wants.bridges.clone(), &profiles.document);
                let kind = ChangeKind::Bridge;
                let of = (Digest::of(picture.as_bytes()), self.paths.bridge());
                let journal = Journal::new(self.paths, kind, of, bridges, before, probes);
                let stage = |new: &Path| {
                    automatic::stage(self.paths, new, profiles, *replaces_document)
                        .map(|()| Commit::default())
                };
                let texts = [picture.as_str()];
                if *replaces_document {
                    // Profiles in /etc go with the document: a power cut must not leave half of them.
                    return Ok((journal::open(self.paths, &journal, &texts, stage)?, None));
                }
                Ok(journal::open_anywhere(self.paths, &journal, &texts, stage)?)
            })
            .await?;
        if let Some(fault) = fault {
            probed.warn(format!("{}; the journal is in /run", chain(&fault)));
        }
        let timeout = self.settings.timeout.clone();
        Ok(Prepared { desired, wants, before, leftovers, plan, commit, timeout })
    }

    /// Waits for the end of other programs' checkpoints on `devices`, and for what the change needs.
    async fn ready(&self, wants: &Wants, devices: Option<&[String]>) -> Phased<()> {
        // Each inner wait has its own bound.
        let say = |text: &str, bound| self.progress.say(text, bound);
        let work = async {
            self.network.released(devices, &say).await?;
            self.network.ready(wants, &say).await
        };
        self.phase(Phase::Ready, LONG, work).await
    }

    async fn captured(&self, policy: &Parsed) -> Phased<State> {
        let say = |text: &str, bound| self.progress.say(text, bound);
        self.phase(Phase::Ready, LONG, self.network.captured(policy, &say)).await
    }

    /// Takes the snapshot and probes the old network, for an input: a document's digest.
    async fn look(
        &self,
        wants: &Wants,
        plan: &[Probe],
        way_back: WayBack,
        leftovers: impl AsyncFnOnce(&Before) -> Result<Leftovers, NetworkError>,
        (input, probed): (Option<&str>, &mut Probed),
    ) -> Phased<(Before, Leftovers)> {
        let t = &self.settings.timeout;
        let mut asked = probe::baseline(plan);
        asked.extend(probe::of_planned(&self.settings.probe, wants.planned()));
        // In parallel: both are independent, and the probes mostly wait for answers.
        let snapshot = self.phase(Phase::Snapshot, t.snapshot.get(), async {
            let before = self.network.snapshot(wants, way_back).await?;
            let leftovers = leftovers(&before).await?;
            Ok::<_, NetworkError>((before, leftovers))
        });
        let baseline = self.phase(Phase::Baseline, t.baseline.get() + GRACE, async {
            Ok::<_, PhaseError>(self.network.probe(&asked, t.baseline.get()).await)
        });
        let (mut looked, answers) = tokio::try_join!(snapshot, baseline)?;
        let taken = probe::taken(&self.settings.probe, &answers);
        probed.before = answers;
        self.recall(input, &mut looked.0, probed);
        match taken {
            Some((found, true)) => Err((Phase::Baseline, PhaseError::Probes(vec![found]))),
            Some((found, false)) => {
                probed.warn(format!("{}: {}", found.name, found.detail));
                Ok(looked)
            }
            None => Ok(looked),
        }
    }

    /// Adds what this node had in this boot to the network of now, before anything is changed.
    fn recall(&self, input: Option<&str>, before: &mut Before, probed: &mut Probed) {
        probed.best.clone_from(&probed.before);
        let (now, bound) = (boot_time(), self.settings.wait.answer.get());
        self.remember(|memory| {
            memory.begin(input);
            memory.hear(&probed.before, now);
            probed.unproved = memory.give_up(now, bound);
            probed.best = memory.best(&probed.before);
            before.leads = memory.leads(std::mem::take(&mut before.leads));
        });
        for name in probed.unproved.clone() {
            probed.warn(format!(
                "probe {name} answered earlier in this boot, and the network without this change has had no answer for {:.0} s: it \
                 is not asked for any more",
                bound.as_secs_f64()
            ));
        }
    }

    /// Opens the journal.
    async fn journal<T>(&self, open: impl Future<Output = Result<T, PhaseError>>) -> Phased<T> {
        self.phase(Phase::Journal, self.settings.timeout.snapshot.get(), open).await
    }
}

/// Whether one of the keys is that of this setting.
fn is_of(keys: &[OvsKey], setting: &OvsSetting) -> bool {
    keys.iter()
        .any(|key| key.map == setting.map && key.key.as_ref().is_none_or(|key| *key == setting.key))
}
