//! What this node's network had in this boot, by which its next attempts are judged. Pure: the caller has the clock and the file.

use std::{collections::BTreeMap, time::Duration};

use serde::{Deserialize, Serialize};

use super::{before::Lead, probe::ProbeResult};

/// The best network of this boot, of one document or of the automatic br-ex.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub(crate) struct Memory {
    /// The digest of the document that the answers belong to; `None`: the automatic br-ex.
    input: Option<String>,
    /// The probes that the network without the change has answered.
    answers: BTreeMap<String, Answer>,
    /// The number of roll backs in a row that have failed: the network of now is not the one that this node had.
    failed_roll_backs: u32,
    /// The preferred default routes before the change that they were to undo.
    lost_leads: Vec<Lead>,
    /// The uplink of the automatic br-ex that a default route has chosen.
    uplink: Option<String>,
    /// The time since when that uplink has no default route.
    uplink_silent_since: Option<Duration>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
struct Answer {
    /// The link of the gateway that answered.
    link: Option<String>,
    /// The time since when the old network does not answer any more.
    silent_since: Option<Duration>,
    /// The old network answered, and that of the change did not.
    has_refused: bool,
    /// It is not asked for any more, until it comes again.
    is_given_up: bool,
}

impl Memory {
    /// Begins an attempt. Another input is judged by what answers now, unless a roll back has failed.
    pub(crate) fn begin(&mut self, input: Option<&str>) {
        if self.input.as_deref() != input {
            if !self.is_lost() {
                self.answers.clear();
            }
            self.input = input.map(str::to_owned);
        }
    }

    /// Forgets all: somebody has changed an input, or asks for it.
    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }

    /// Takes in what the old network answers, at the time `now` of this boot.
    pub(crate) fn hear(&mut self, answers: &[ProbeResult], now: Duration) {
        for result in answers {
            match (result.ok, self.answers.get_mut(&result.name)) {
                (true, Some(answer)) => {
                    answer.silent_since = None;
                    answer.is_given_up = false;
                    answer.link = result.link.clone().or_else(|| answer.link.take());
                }
                (true, None) => {
                    let answer = Answer { link: result.link.clone(), ..Answer::default() };
                    self.answers.insert(result.name.clone(), answer);
                }
                (false, Some(answer)) => {
                    answer.silent_since.get_or_insert(now);
                }
                (false, None) => {}
            }
        }
    }

    /// Gives the answers up that the old network has not given for the time `bound`, and returns the probes of all that are.
    pub(crate) fn give_up(&mut self, now: Duration, bound: Duration) -> Vec<String> {
        for answer in self.answers.values_mut() {
            let silence = answer.silent_since.map(|since| now.saturating_sub(since));
            answer.is_given_up |= silence.is_some_and(|silence| silence >= bound);
        }
        let given_up = self.answers.iter().filter(|(_, answer)| answer.is_given_up);
        given_up.map(|(name, _)| name.clone()).collect()
    }

    /// Returns the time after which the first answer is given up.
    pub(crate) fn patience(&self, now: Duration, bound: Duration) -> Option<Duration> {
        let awaited = self.answers.values().filter(|answer| !answer.is_given_up);
        let since = awaited.filter_map(|answer| answer.silent_since);
        let since = since.chain(self.uplink_silent_since).min()?;
        Some((since + bound).saturating_sub(now))
    }

    /// Returns these answers with those of this boot in the place of silence.
    pub(crate) fn best(&self, now: &[ProbeResult]) -> Vec<ProbeResult> {
        let best = |result: &ProbeResult| match self.answers.get(&result.name) {
            Some(answer) if !result.ok && !answer.is_given_up => {
                ProbeResult { ok: true, link: answer.link.clone(), ..result.clone() }
            }
            Some(_) | None => result.clone(),
        };
        now.iter().map(best).collect()
    }

    /// Takes in that the network of the change did not answer these probes, and the old one does.
    pub(crate) fn refuse<'n>(&mut self, names: impl IntoIterator<Item = &'n str>) {
        for name in names {
            self.answers.entry(name.to_owned()).or_default().has_refused = true;
            // The old network is the better one: its routes choose again.
            self.uplink = None;
        }
    }

    /// Whether the old network has answered where that of the change did not.
    pub(crate) fn has_refused(&self) -> bool {
        self.answers.values().any(|answer| answer.has_refused)
    }

    /// Whether the old network has answered this probe and does not any more.
    pub(crate) fn is_silent(&self, name: &str) -> bool {
        self.answers.get(name).is_some_and(|answer| answer.silent_since.is_some())
    }

    /// Takes in the end of a change: what it puts in force is the network from now on.
    pub(crate) fn commit(&mut self, answers: &[ProbeResult], now: Duration) {
        self.roll_back(&[], true);
        self.uplink_silent_since = None;
        for answer in self.answers.values_mut() {
            *answer = Answer { link: answer.link.take(), ..Answer::default() };
        }
        self.hear(answers, now);
    }

    /// Takes in a roll back, which has brought these preferred default routes back, or not.
    pub(crate) fn roll_back(&mut self, leads: &[Lead], is_proved: bool) {
        self.failed_roll_backs =
            if is_proved { 0 } else { self.failed_roll_backs.saturating_add(1) };
        self.lost_leads = if is_proved { Vec::new() } else { leads.to_vec() };
    }

    /// Returns the preferred default routes that a roll back has to bring back, of those of now.
    pub(crate) fn leads(&self, now: Vec<Lead>) -> Vec<Lead> {
        if self.is_lost() { self.lost_leads.clone() } else { now }
    }

    /// Whether the last roll back has failed.
    fn is_lost(&self) -> bool {
        self.failed_roll_backs > 0
    }

    /// Whether a roll back has failed again: nothing returns what lacks, and the next attempt proves the network.
    pub(crate) fn is_lost_for_good(&self) -> bool {
        self.failed_roll_backs > 1
    }

    /// Keeps the uplink that a default route has chosen.
    pub(crate) fn choose_uplink(&mut self, link: &str) {
        self.uplink = Some(link.to_owned());
        self.uplink_silent_since = None;
    }

    /// Returns the uplink that a default route chose earlier in this boot, until it had none for the time `bound`.
    pub(crate) fn uplink(&mut self, now: Duration, bound: Duration) -> Option<&str> {
        if self.uplink_silent_since.is_some_and(|since| now.saturating_sub(since) >= bound) {
            self.uplink = None;
            self.uplink_silent_since = None;
        }
        self.uplink.as_deref()
    }

    /// Takes in that the uplink has no default route.
    pub(crate) fn miss_uplink(&mut self, now: Duration) {
        if self.uplink.is_some() {
            self.uplink_silent_since.get_or_insert(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Family;

    const BOUND: Duration = Duration::from_secs(900);

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn result(name: &str, ok: bool) -> ProbeResult {
        let (name, detail) = (name.to_owned(), String::new());
        ProbeResult { name, ok, detail, warning: None, link: None, milliseconds: 0 }
    }

    /// The probes that count as answered before the change.
    fn asked(memory: &Memory, now: &[ProbeResult]) -> Vec<String> {
        memory.best(now).into_iter().filter(|result| result.ok).map(|result| result.name).collect()
    }

    fn heard(answers: &[ProbeResult]) -> Memory {
        let mut memory = Memory::default();
        memory.begin(Some("a"));
        memory.hear(answers, at(1));
        memory
    }

    #[test]
    fn an_answer_of_this_boot_counts_until_its_bound() {
        let mut memory = heard(&[result("api", true), result("dns", false)]);
        let silent = [result("api", false), result("dns", false)];
        memory.begin(Some("a"));
        memory.hear(&silent, at(10));
        assert_eq!(asked(&memory, &silent), ["api"]);
        assert_eq!(memory.patience(at(10), BOUND), Some(BOUND));
        assert_eq!(memory.give_up(at(909), BOUND), [""; 0]);
        assert_eq!(memory.patience(at(909), BOUND), Some(at(1)));
        // An answer in between begins a new time.
        memory.hear(&[result("api", true)], at(909));
        assert_eq!(memory.patience(at(909), BOUND), None);
        memory.hear(&silent, at(1000));
        assert_eq!(memory.give_up(at(1899), BOUND), [""; 0]);
        assert_eq!(memory.give_up(at(1900), BOUND), ["api"]);
        assert_eq!(asked(&memory, &silent), [""; 0]);
        assert_eq!(memory.patience(at(1900), BOUND), None);
        // It is asked for again as soon as it is there.
        memory.hear(&[result("api", true)], at(2000));
        assert_eq!(asked(&memory, &silent), ["api"]);
    }

    #[test]
    fn another_document_is_judged_by_what_answers_now_unless_a_roll_back_has_failed() {
        let silent = [result("api", false)];
        let mut memory = heard(&[result("api", true)]);
        memory.begin(Some("b"));
        assert_eq!(asked(&memory, &silent), [""; 0]);
        let mut memory = heard(&[result("api", true)]);
        let lead = Lead { family: Family::Ipv4, link: "eno1".to_owned(), metric: 100 };
        memory.roll_back(std::slice::from_ref(&lead), false);
        memory.begin(Some("b"));
        assert_eq!(asked(&memory, &silent), ["api"]);
        assert_eq!(memory.leads(Vec::new()), [lead]);
        assert!(!memory.is_lost_for_good());
        memory.roll_back(&[], false);
        assert!(memory.is_lost_for_good());
        memory.commit(&[result("api", true)], at(5));
        assert!(!memory.is_lost_for_good() && memory.leads(Vec::new()).is_empty());
        memory.forget();
        assert_eq!(memory, Memory::default());
    }

    #[test]
    fn a_refusal_is_an_answer_of_the_old_network() {
        let mut memory = heard(&[result("api", true)]);
        memory.choose_uplink("eno1");
        memory.hear(&[result("api", false)], at(2));
        assert!(memory.is_silent("api") && !memory.has_refused() && !memory.is_silent("dns"));
        memory.hear(&[result("api", true)], at(3));
        memory.refuse(["api"]);
        assert!(!memory.is_silent("api") && memory.has_refused());
        assert_eq!(memory.uplink(at(3), BOUND), None, "the old network is the better one");
    }

    #[test]
    fn an_uplink_without_a_route_is_kept_until_its_bound() {
        let mut memory = Memory::default();
        memory.miss_uplink(at(1));
        assert_eq!(memory.patience(at(1), BOUND), None);
        memory.choose_uplink("eno1");
        memory.miss_uplink(at(1));
        memory.miss_uplink(at(60));
        assert_eq!(memory.uplink(at(900), BOUND), Some("eno1"));
        assert_eq!(memory.patience(at(900), BOUND), Some(at(1)));
        assert_eq!(memory.uplink(at(901), BOUND), None);
        assert_eq!(memory.patience(at(901), BOUND), None);
    }
}
