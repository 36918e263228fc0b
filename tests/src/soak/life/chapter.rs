//! A chapter of a node's story: faults of years, and what meets the node beside them.

use std::fmt;

use super::{
    Life, Meanwhile, Part,
    faults::ALL,
    together::{agree, loses_its_gateway, replaces_the_board},
};
use crate::soak::{
    node::{Document, Kind},
    random::Random,
    story::Work,
};

/// A boot, or several, with faults of years.
#[derive(Debug, PartialEq)]
pub(in crate::soak) struct Chapter {
    /// Each with a number that chooses what it hits.
    pub(in crate::soak) lives: Vec<(&'static Life, u32)>,
    /// The work in whose middle the node goes off, and its moment in thousandths.
    pub(in crate::soak) work: Work,
    pub(in crate::soak) moment: u32,
    /// Power cuts in boots with the faults, in thousandths of a boot.
    pub(in crate::soak) cuts: Vec<u32>,
    /// The agent is killed in the boot that is looked at, at this moment.
    pub(in crate::soak) kill: Option<u32>,
    /// Faults that may end while the node runs end at a boot.
    pub(in crate::soak) ends_at_boot: bool,
    /// The work in whose middle the power cut before that boot comes, if the node worked meanwhile, and its moment.
    pub(in crate::soak) last: Option<(Work, u32)>,
}

impl Chapter {
    pub(in crate::soak) fn new(kind: Kind, document: &mut Document, random: &mut Random) -> Self {
        let meeting: Vec<&'static Life> = ALL.iter().filter(|life| (life.meets)(kind)).collect();
        let mut lives = vec![random.one_of(&meeting)];
        if random.is_chosen(35) {
            let others: Vec<_> =
                meeting.into_iter().filter(|other| agree(lives[0], other)).collect();
            lives.extend((!others.is_empty()).then(|| random.one_of(&others)));
        }
        // In the order of the table.
        lives.sort_by_key(|life| ALL.iter().position(|it| it == *life));
        let mut work = match random.is_chosen(50) {
            // Half of a transaction in one deployment and half in another is nobody's life; and what somebody changes in the middle
            // of one goes with its roll back.
            true if lives
                .iter()
                .all(|life| life.meanwhile != Meanwhile::Bare && !loses_its_gateway(life)) =>
            {
                Work::change(kind, *document, random)
            }
            _ => Work::Idle,
        };
        // On another board a document that was never tried is that of a first boot, which nothing precedes.
        if work == Work::Apply(Document::Refused)
            && lives.iter().any(|life| replaces_the_board(life))
        {
            work = Work::Idle;
        }
        if let Work::Apply(other) = work {
            *document = other;
        }
        let works = lives.iter().all(|life| life.meanwhile == Meanwhile::Works);
        let last = (works && random.is_chosen(60))
            .then(|| (Work::change(kind, *document, random), random.below(1100)));
        if let Some((Work::Apply(other), _)) = last {
            *document = other;
        }
        Self {
            lives: lives.into_iter().map(|life| (life, random.below(1000))).collect(),
            work,
            moment: random.below(1100),
            cuts: (0..random.below(8)).map(|_| random.below(1100)).collect(),
            kill: random.is_chosen(25).then(|| random.below(900)),
            ends_at_boot: random.is_chosen(35),
            last,
        }
    }

    /// Whether its faults stay for three attempts, which takes minutes.
    pub(in crate::soak) fn is_long(&self) -> bool {
        self.lives
            .iter()
            .any(|(life, _)| life.part == Part::Network && life.meanwhile == Meanwhile::Told)
    }
}

impl fmt::Display for Chapter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lives: Vec<String> =
            self.lives.iter().map(|(life, n)| format!("{} ({n})", life.name)).collect();
        write!(f, "{}; at {} of 1000: power cut; {}", self.work, self.moment, lives.join(" and "))?;
        for moment in &self.cuts {
            write!(f, "; next boot, at {moment} of 1000: power cut")?;
        }
        if let Some(moment) = self.kill {
            write!(f, "; next boot, at {moment} of 1000: kill -9 dayone")?;
        }
        if self.ends_at_boot {
            f.write_str("; ends at a boot")?;
        }
        if let Some((work, moment)) = self.last {
            write!(f, "; before a boot that ends it: {work}, at {moment} of 1000: power cut")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_fault_occurs_alone_and_with_others() {
        let (mut alone, mut together) = (BTreeSet::new(), BTreeSet::new());
        for case in 0..600 {
            let mut document = Document::First;
            let chapter = Chapter::new(Kind::of(case), &mut document, &mut Random::new(1, case));
            let names = chapter.lives.iter().map(|(life, _)| life.name);
            match chapter.lives.len() {
                1 => alone.extend(names),
                _ => together.extend(names),
            }
        }
        assert_eq!(alone.len(), ALL.len(), "{alone:?}");
        let never: Vec<_> =
            ALL.iter().map(|life| life.name).filter(|name| !together.contains(name)).collect();
        assert_eq!(never, ["older version of the agent"]);
    }
}
