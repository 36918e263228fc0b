//! Rules: a name and a severity.

use std::fmt;

/// The severity of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Probably unintended, or lost in conversion.
    Warning,
    /// Impossible or dangerous.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

/// A rule's stable kebab-case name and severity. The documentation has a section for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Rule {
    /// The stable name.
    pub name: &'static str,
    /// The severity of every diagnostic of this rule.
    pub severity: Severity,
}

impl Rule {
    /// A rule whose diagnostics are errors.
    pub const fn error(name: &'static str) -> Self {
        Self { name, severity: Severity::Error }
    }

    /// A rule whose diagnostics are warnings.
    pub const fn warning(name: &'static str) -> Self {
        Self { name, severity: Severity::Warning }
    }
}

/// Declares a topic's rules, and `RULES` with all of them.
#[macro_export]
macro_rules! rules {
    ($($(#[$attribute:meta])* $visibility:vis $severity:ident $rule:ident = $name:literal;)+) => {
        $(
            $(#[$attribute])*
            $visibility const $rule: $crate::diagnostic::rule::Rule =
                $crate::diagnostic::rule::Rule::$severity($name);
        )+

        /// Every rule of this topic.
        pub(crate) const RULES: &[$crate::diagnostic::rule::Rule] = &[$($rule),+];
    };
}
pub use rules;
