//! A path to a value, in the notation of NMState users: `interfaces[0].vlan.id`.

use std::fmt;

use crate::text::secret;

/// One step down.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// Into a mapping.
    Key(Box<str>),
    /// Into a list.
    Index(usize),
}

/// From the document's root to a value.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Path(Vec<Step>);

impl Path {
    /// The steps from the root.
    pub fn steps(&self) -> &[Step] {
        &self.0
    }

    /// The path one step further down.
    #[must_use]
    pub fn join(&self, step: Step) -> Self {
        let mut steps = self.0.clone();
        steps.push(step);
        Self(steps)
    }

    /// The path one key further down.
    #[must_use]
    pub fn key(&self, key: &str) -> Self {
        self.join(Step::Key(key.into()))
    }

    /// The first steps of the path.
    #[must_use]
    pub fn up_to(&self, steps: usize) -> Self {
        Self(self.0[..steps].to_vec())
    }

    /// The path to an item of the list.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        self.join(Step::Index(index))
    }

    /// True when `prefix` is this path or an ancestor.
    pub fn starts_with(&self, prefix: &Self) -> bool {
        self.0.starts_with(&prefix.0)
    }

    /// True for the value of a secret, or a value below.
    pub fn is_secret(&self) -> bool {
        let is_key = |step: &Step| matches!(step, Step::Key(key) if secret::is_key(key));
        let is_unknown = |pair: &[Step]| match pair {
            [Step::Key(section), Step::Key(key)] => {
                secret::is_section(section) && !secret::is_harmless(key)
            }
            _ => false,
        };
        self.0.iter().any(is_key) || self.0.windows(2).any(is_unknown)
    }

    /// The value at this path, for a message.
    pub fn shown(&self, value: &str) -> String {
        let is_public =
            |step: &Step| matches!(step, Step::Key(key) if secret::is_public(key, value));
        match self.is_secret() && !self.0.last().is_some_and(is_public) {
            true => secret::HIDDEN.to_owned(),
            false => value.escape_debug().to_string(),
        }
    }

    /// The last step and the path to its parent.
    pub fn split_last(&self) -> Option<(&Step, Self)> {
        let (last, parent) = self.0.split_last()?;
        Some((last, Self(parent.to_vec())))
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, step) in self.0.iter().enumerate() {
            match step {
                Step::Key(key) if position == 0 => f.write_str(key)?,
                Step::Key(key) => write!(f, ".{key}")?,
                Step::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}
