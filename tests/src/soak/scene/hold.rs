//! The node is held to its promises, and gets the agent's next start or the next boot where the damage came from outside.

use std::{
    thread,
    time::{Duration, Instant},
};

use super::{DECISION, Scene};
use crate::{
    lab::{Error, Inside},
    soak::{
        invariant::{self, Broken, Told},
        node::Document,
    },
};

/// Bound on a decision where nobody but a boot brings the network back.
const STUCK: Duration = Duration::from_secs(30);
/// Bound on a promise once the agent has decided.
const HELD: Duration = Duration::from_secs(60);
/// Bound where damage may have to wait for the agent's next start.
const DAMAGED: Duration = Duration::from_secs(3);
/// Interval of questions about a promise.
const QUESTION: Duration = Duration::from_millis(500);

impl Scene<'_, '_> {
    /// Whether damage has come behind the back of the run that decided.
    fn is_damaged(&self) -> Result<bool, Error> {
        let start = self.case.inside()?.unit(self.kind.units()[0])?.exec_start;
        Ok(self.damage.is_some_and(|damage| start.is_none_or(|start| start < damage)))
    }

    /// Waits until the agent lets the boot go on.
    pub(super) fn wait_decided(&mut self, limit: Duration) -> Result<(), Error> {
        if self.is_booting {
            self.case.wait_started(limit)?;
        }
        let inside = self.case.inside()?;
        self.kind.units().iter().try_for_each(|unit| {
            inside.wait_unit(unit, "active", limit)?;
            Ok(())
        })
    }

    /// Holds the node to its promises, from the state in which the faults have left it.
    pub(super) fn hold(&mut self) -> Result<Option<Broken>, Error> {
        self.hold_within(DECISION)
    }

    /// Does so with another bound on the decision.
    pub(super) fn hold_within(&mut self, limit: Duration) -> Result<Option<Broken>, Error> {
        // The network of a node without a document is others' until br-ex is made: only a boot brings that back.
        let is_others = self.damage.is_some() && !self.kind.has_document();
        let decided = self.wait_decided(if is_others { STUCK } else { limit });
        let is_damaged = self.is_damaged()?;
        let broken = match decided {
            Err(Error::Timeout { what, after }) => {
                Some(format!("waited {} s in vain for {what}", after.as_secs()))
            }
            Err(error) => return Err(error),
            Ok(()) => match self.kubelet(is_damaged)? {
                Some(broken) => Some(broken),
                None => self.lasting(if is_damaged { DAMAGED } else { HELD }, false)?,
            },
        };
        let Some(broken) = broken else {
            return if self.is_settled()? { Ok(None) } else { self.mend(is_others) };
        };
        if is_damaged || is_others {
            self.say(&format!("damaged: {broken}"));
            return self.mend(is_others);
        }
        Ok(Some(broken))
    }

    /// The next start of the agent, or the next boot where that start may not try it.
    fn mend(&mut self, by_boot: bool) -> Result<Option<Broken>, Error> {
        self.counts.mended += 1;
        self.say(if by_boot { "booted again" } else { "started again" });
        if by_boot {
            self.case.cut_power()?;
            self.power_on()?;
        } else {
            self.start(self.kind.units()[0])?;
        }
        self.wait_decided(DECISION)?;
        if let Some(broken) = self.kubelet(false)? {
            return Ok(Some(broken));
        }
        // A document that the network has failed three times is tried once more in each boot.
        if !by_boot && self.told()?.is_ok_and(|told| told.outcome == "given-up") {
            return self.mend(true);
        }
        self.lasting(HELD, true)
    }

    /// Waits until the promises hold; `in_force`: that of the document too.
    fn lasting(&mut self, limit: Duration, in_force: bool) -> Result<Option<Broken>, Error> {
        let start = Instant::now();
        loop {
            let broken = self.broken(in_force)?;
            if broken.is_none() || start.elapsed() >= limit {
                return Ok(broken);
            }
            thread::sleep(QUESTION);
        }
    }

    fn broken(&mut self, in_force: bool) -> Result<Option<Broken>, Error> {
        let told = match self.told()? {
            Ok(told) => told,
            Err(broken) => return Ok(Some(broken)),
        };
        if told.outcome == "committed" && !self.is_damaged()? {
            self.other_profiles = false;
        }
        if in_force && !told.is_in_force && self.document != Document::Refused {
            return Ok(Some(format!("{} is not in force: {}", self.document, told.outcome)));
        }
        let broken =
            invariant::network(self.case, (self.kind, self.machine), &told, !self.other_profiles)?;
        if let (None, Some(applied)) = (&broken, told.applied) {
            self.committed = applied;
        }
        Ok(broken)
    }

    /// The node's account, if it can be true.
    fn told(&self) -> Result<Result<Told, Broken>, Error> {
        let told = match invariant::told(&self.case.inside()?, self.kind, self.machine)? {
            Ok(told) => told,
            Err(broken) => return Ok(Err(broken)),
        };
        if let Some(applied) = told.applied {
            let expected = if told.is_in_force { self.document } else { self.committed };
            if applied != expected {
                return Ok(Err(format!("{applied} is applied in place of {expected}: {told:?}")));
            }
        }
        Ok(Ok(told))
    }

    /// Whether what the node was asked for is in force; a document that does not hold never is.
    pub(super) fn is_settled(&self) -> Result<bool, Error> {
        let told = self.told()?;
        Ok(told.is_ok_and(|told| told.is_in_force) || self.document == Document::Refused)
    }

    /// After a boot: kubelet runs, and has started on a network, unless that was damaged meanwhile.
    fn kubelet(&mut self, is_damaged: bool) -> Result<Option<Broken>, Error> {
        if !std::mem::take(&mut self.is_booting) {
            return Ok(None);
        }
        let inside = self.case.inside()?;
        if inside.wait_unit("kubelet.service", "active", HELD).is_err() {
            if !self.others_fail {
                return Ok(Some("kubelet did not start".into()));
            }
            self.say("kubelet started by hand");
            if let Err(error) = started(&inside) {
                return Ok(Some(format!("kubelet cannot be started: {error}")));
            }
            return Ok(None);
        }
        if is_damaged { Ok(None) } else { invariant::kubelet(&inside) }
    }
}

fn started(inside: &Inside) -> Result<(), Error> {
    inside.run_within(&["systemctl", "start", "kubelet.service"], HELD)?.success()?;
    Ok(())
}
