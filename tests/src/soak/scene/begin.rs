//! Faults of years begin and end on a node.

use super::Scene;
use crate::{
    lab::{Error, Nic, Peer},
    program,
    soak::{
        life::{Action, Deployment, Other, Version},
        node::{CARD, Document, OTHER_CARD, STORAGE},
    },
};

/// Directories of `/etc` that each OSTree deployment has for itself.
const TREES: &str = "nmstate NetworkManager/system-connections openvswitch";
/// The `/etc` that an OS roll back brings back.
const KEPT: &str = "/root/lab-kept";
/// The `/etc` of while a deployment of before any document runs.
const PRESENT: &str = "/root/lab-present";
/// The UUID of SMBIOS, on the disk.
const UUID: &str = "/lab-dmi/dmi/id/product_uuid";
/// The agent, in the node.
const AGENT: &str = "/usr/bin/dayone";
/// Stops a run that is at work before the machine changes around it, which no machine does: its journal would be the new one's.
const FREEZE: &str = "for it in $(pidof dayone); do kill -STOP $it; done";

impl Scene<'_, '_> {
    /// Keeps the present `/etc`, if it is one that somebody would return to.
    pub(super) fn keep_deployment(&mut self) -> Result<(), Error> {
        if !self.kind.has_document() || self.document == Document::Refused || !self.is_settled()? {
            return Ok(());
        }
        self.case.inside()?.sh(&saved(KEPT))?;
        self.kept = Some(self.document);
        Ok(())
    }

    /// Whether it can begin here and now.
    pub(super) fn can(&self, action: Action) -> bool {
        match action {
            Action::Deployment(Deployment::Earlier) => self.kept.is_some(),
            Action::Version(Version::Older) => program::older_dayone().is_some(),
            Action::Now(_)
            | Action::Early(_)
            | Action::EachBoot(_)
            | Action::Peer(..)
            | Action::Cable(_)
            | Action::Gateway(_)
            | Action::OtherCard(_)
            | Action::Machine(_)
            | Action::Deployment(_)
            | Action::Version(_) => true,
        }
    }

    /// The part of an action that needs the running node. `place` tells its script from others, `n` chooses.
    pub(super) fn inside(&mut self, action: Action, place: usize, n: u32) -> Result<(), Error> {
        let inside = self.case.inside()?;
        let prepare = |when: &str, script: &str| {
            inside.write(&format!("/root/lab-{when}-{place}"), &format!("n={n}\n{script}\n"))
        };
        match action {
            Action::Now(script) => inside.sh(&format!("n={n}; {script}")).map(|_| ()),
            Action::Early(script) => prepare("once", script),
            Action::EachBoot(script) => prepare("each", script),
            Action::Deployment(Deployment::Earlier) => {
                // A transaction in the present deployment is none of that one's.
                self.document = self.kept.unwrap_or(self.document);
                self.committed = self.document;
                prepare("once", &restored(KEPT))
            }
            Action::Deployment(Deployment::Bare) => {
                let day_one = self.kind.day_one(self.machine);
                let saved = format!("[ -e {PRESENT} ] || {{ {}; }}", saved(PRESENT));
                let bare = format!("rm -rf /etc/nmstate/*\n{}", made_new(&day_one));
                prepare("once", &format!("{saved}\n{bare}"))
            }
            Action::Deployment(Deployment::Present) => {
                prepare("once", &format!("{}; rm -r {PRESENT}", restored(PRESENT)))
            }
            Action::Machine(Other::Card) => Ok(()),
            Action::Machine(Other::Board) => {
                inside.sh(FREEZE)?;
                inside.write(UUID, &self.machine.with_another_board().uuid())
            }
            Action::Machine(Other::Machine) => {
                let other = self.machine.another();
                inside.sh(FREEZE)?;
                inside.write(UUID, &other.uuid())?;
                inside.sh(&format!(
                    "echo {} >/etc/machine-id; echo {} | tee /etc/hostname >/root/lab-hostname",
                    other.machine_id(),
                    other.name()
                ))?;
                let mut script = format!(
                    "rm -rf {KEPT} /etc/nmstate/openshift/*.yml\n{}",
                    made_new(&self.kind.day_one(other))
                );
                if self.kind.has_document() {
                    let text = self.kind.text(other, Document::First);
                    script += &format!("cat >{} <<'END'\n{text}END\n", other.host_file());
                }
                prepare("once", &script)
            }
            Action::Peer(..)
            | Action::Cable(_)
            | Action::Gateway(_)
            | Action::OtherCard(_)
            | Action::Version(_) => Ok(()),
        }
    }

    /// The part of an action outside of the node, whose cards are plugged while it is off.
    pub(super) fn outside(&mut self, action: Action) -> Result<(), Error> {
        match action {
            Action::Peer(fault, on) => self.case.peer_mut().fault(fault, on)?,
            // The cable itself, since a card gets another port at each boot.
            Action::Cable(on) => self.case.connect(CARD, on)?,
            Action::Gateway(on) => self.case.peer().address("lan", Peer::GATEWAY.into(), 24, on)?,
            Action::OtherCard(true) => {
                self.case.plug(Nic::new(OTHER_CARD.0, OTHER_CARD.1).segment(STORAGE))?;
            }
            Action::OtherCard(false) => self.case.unplug(OTHER_CARD.0),
            Action::Machine(place) => {
                let before = self.machine;
                self.machine = match place {
                    Other::Card => before.with_another_card(),
                    Other::Board => before.with_another_board(),
                    Other::Machine => {
                        (self.seed, self.kept) = (Some(before), None);
                        (self.document, self.committed) = (Document::First, Document::First);
                        before.another()
                    }
                };
                self.case.unplug(CARD);
                self.case.plug(Nic::new(CARD, &self.machine.mac()))?;
            }
            Action::Version(version) => {
                let program = match version {
                    Version::Older => program::older_dayone(),
                    Version::This => Some(program::dayone()),
                };
                self.version = version;
                program.map(|program| self.case.replace(AGENT, program)).unwrap_or_default();
            }
            Action::Now(_) | Action::Early(_) | Action::EachBoot(_) | Action::Deployment(_) => {}
        }
        Ok(())
    }
}

/// A script that saves a deployment's `/etc`.
fn saved(to: &str) -> String {
    format!(
        "rm -rf {to}.new; mkdir {to}.new; (cd /etc; cp -a --parents {TREES} {to}.new); rm -rf {to}; mv {to}.new {to}"
    )
}

/// A script that puts it in the place of the present one.
fn restored(from: &str) -> String {
    format!("(cd /etc; rm -rf {TREES}; cp -a {from}/. .)")
}

/// A script that leaves the day-one profile of the card alone, and no bridge.
fn made_new(day_one: &str) -> String {
    let profiles = "/etc/NetworkManager/system-connections";
    format!(
        "rm -f /etc/openvswitch/conf.db* /etc/openvswitch/.conf.db* {profiles}/*\n\
         cat >{profiles}/{CARD}.nmconnection <<'END'\n{day_one}END\nchmod 600 {profiles}/{CARD}.nmconnection\n"
    )
}
