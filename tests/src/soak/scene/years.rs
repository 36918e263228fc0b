//! A chapter: faults of years begin, are there for some boots, and end.

use std::{
    thread,
    time::{Duration, Instant},
};

use super::{RECOVERY, Scene, pass};
use crate::{
    lab::Error,
    soak::{
        fault::{Fault, Process},
        invariant::{self, Broken},
        life::{Action, Chapter, Ends, Life, Meanwhile, OWN_SETTINGS, Version},
        node::Document,
        story::Work,
        truth,
    },
};

/// Bound on the time that a fault stays.
const STAYS: Duration = Duration::from_secs(120);
/// Attempts after which it may end.
const ATTEMPTS: u32 = 3;
/// Interval of questions while it is there.
const QUESTION: Duration = Duration::from_secs(1);
/// Bound on the boot of a node without a document.
const BARE: Duration = Duration::from_secs(90);
/// systemd answers: the boot has begun.
const IS_ASKED: &str = "systemctl list-jobs >/dev/null 2>&1";
/// Pauses of the agent in this boot, each after an attempt in vain.
const PAUSES: &str = "journalctl --boot --output=cat SYSLOG_IDENTIFIER=dayone \
    | grep -c -e '^the next attempt is in' -e '^the network is asked again in' || :";

impl Scene<'_, '_> {
    pub(super) fn chapter(&mut self, chapter: &Chapter) -> Result<Option<Broken>, Error> {
        // A profile that is lost is made again from the document at a boot, and day two changes no profile that is lost.
        if self.other_profiles {
            self.work(Work::Boot)?;
            if let Some(broken) = self.hold()? {
                return Ok(Some(broken));
            }
        }
        // Damage of the parts before is mended, and whatever was not saved ends with this boot.
        self.damage = None;
        self.keep_deployment()?;
        self.work(chapter.work)?;
        if chapter.work != Work::Idle {
            pass(self.transaction, chapter.moment);
        }
        let lives = self.begin_all(chapter)?;
        for moment in &chapter.cuts {
            self.power_on()?;
            pass(self.boot, *moment);
            self.cut_power()?;
        }
        self.power_on()?;
        if let Some(moment) = chapter.kill {
            pass(self.boot, moment);
            match Fault::Kill(Process::Agent).begin(self.case)? {
                true => self.counts.faults += 1,
                false => self.counts.missed += 1,
            }
        }
        if let Some(broken) = self.meanwhile(&lives)? {
            return Ok(Some(format!("with {}: {broken}", names(&lives))));
        }
        let ended = self.end_all(&lives, chapter)?;
        let broken = if ended { self.as_ever()? } else { None };
        // The quick settings are the fault's, and a change of them would start an attempt.
        self.case.inside()?.sh(&format!("cp {OWN_SETTINGS} /etc/dayone/dayone.toml"))?;
        Ok(broken.map(|broken| format!("after {}: {broken}", names(&lives))))
    }

    /// Begins those that can, and leaves the node off.
    fn begin_all(&mut self, chapter: &Chapter) -> Result<Vec<&'static Life>, Error> {
        let mut lives = Vec::new();
        for (life, n) in &chapter.lives {
            if life.begin.iter().all(|action| self.can(*action)) {
                lives.push((*life, *n));
            } else {
                self.counts.missed += 1;
                self.say(&format!("{}: not here", life.name));
            }
        }
        let actions = || {
            let numbered =
                lives.iter().flat_map(|(life, n)| life.begin.iter().map(|action| (*action, *n)));
            numbered.enumerate()
        };
        // First everything that is written: one of the faults is a full disk.
        for is_now in [false, true] {
            for (place, (action, n)) in actions() {
                if matches!(action, Action::Now(_)) == is_now {
                    self.inside(action, place, n)?;
                }
            }
        }
        self.cut_power()?;
        for action in lives.iter().flat_map(|(life, _)| life.begin) {
            self.outside(*action)?;
        }
        self.counts.faults += lives.len();
        Ok(lives.into_iter().map(|(life, _)| life).collect())
    }

    fn meanwhile(&mut self, lives: &[&'static Life]) -> Result<Option<Broken>, Error> {
        self.case.inside()?.wait_sh(IS_ASKED, BARE)?;
        let is = |meanwhile: Meanwhile| lives.iter().any(|life| life.meanwhile == meanwhile);
        // An older version finds no last good document in this one's record: the boot waits for a document that holds.
        let waits = self.version == Version::Older && self.document == Document::Refused;
        if waits || is(Meanwhile::Told) {
            self.watch()
        } else if is(Meanwhile::Bare) {
            self.bare()
        } else {
            self.as_ever()
        }
    }

    /// The node works as if there were no fault.
    fn as_ever(&mut self) -> Result<Option<Broken>, Error> {
        match self.hold_within(RECOVERY)? {
            Some(broken) => Ok(Some(broken)),
            None => self.truth(),
        }
    }

    /// The status is true until the agent has decided, or until it has tried often enough.
    fn watch(&mut self) -> Result<Option<Broken>, Error> {
        let start = Instant::now();
        loop {
            let broken = self.truth()?;
            let attempts: u32 = self.case.inside()?.sh(PAUSES)?.parse().unwrap_or_default();
            if broken.is_some()
                || attempts >= ATTEMPTS
                || self.goes_on()?
                || start.elapsed() >= STAYS
            {
                self.say(&format!("{attempts} attempts in vain, {:.0?}", start.elapsed()));
                return Ok(broken);
            }
            thread::sleep(QUESTION);
        }
    }

    /// Whether the boot goes on.
    fn goes_on(&self) -> Result<bool, Error> {
        Ok(self.case.inside()?.unit("kubelet.service")?.active_state == "active")
    }

    fn truth(&self) -> Result<Option<Broken>, Error> {
        // An older version has no words for a boot that waits.
        if self.version == Version::Older {
            return Ok(None);
        }
        truth::status(self.case, self.kind, (self.machine, self.seed))
    }

    /// kubelet starts on the network of before any document.
    fn bare(&mut self) -> Result<Option<Broken>, Error> {
        let inside = self.case.inside()?;
        if let Err(error) = inside.wait_unit("kubelet.service", "active", BARE) {
            return Ok(Some(error.to_string()));
        }
        if !invariant::is_reached(self.case, self.kind, self.machine)? {
            return Ok(Some("the peer does not reach the node without a document".into()));
        }
        let status = inside.run(&["dayone", "status"])?;
        Ok((!status.status.success()).then(|| format!("no document is a failure: {status}")))
    }

    /// Ends the faults; false: they stay.
    fn end_all(&mut self, lives: &[&'static Life], chapter: &Chapter) -> Result<bool, Error> {
        let at_boot = chapter.ends_at_boot || lives.iter().any(|life| life.ends == Ends::Boot);
        if lives.iter().all(|life| life.ends == Ends::Stays) {
            return Ok(false);
        }
        if let Some((work, moment)) = chapter.last.filter(|_| at_boot) {
            self.work(work)?;
            pass(self.transaction, moment);
        }
        for (place, action) in lives.iter().flat_map(|life| life.heal).enumerate() {
            self.inside(*action, place, 0)?;
        }
        self.case.inside()?.sh("rm -f /root/lab-each-*")?;
        if at_boot {
            self.cut_power()?;
        }
        for action in lives.iter().flat_map(|life| life.heal) {
            self.outside(*action)?;
        }
        if at_boot {
            self.power_on()?;
        }
        self.say(if at_boot { "ended at a boot" } else { "ended" });
        Ok(true)
    }
}

fn names(lives: &[&'static Life]) -> String {
    lives.iter().map(|life| life.name).collect::<Vec<_>>().join(" and ")
}
