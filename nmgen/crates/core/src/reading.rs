//! One document, read once: what is checked is what a caller gets.

use nmgen_document::Document;
use nmgen_document::diagnostic::{Diagnostics, Style};
use nmgen_document::text::Source;
use nmgen_document::text::secret::without_secrets;
use serde::Deserialize;
use serde::de::value::Error;

use crate::check::{self, Purpose};
use crate::difference::{self, Difference};
use crate::show;

/// A parsed document.
#[derive(Debug)]
pub struct Reading<'s>(Document<'s>);

impl<'s> Reading<'s> {
    /// Parses the document of `source`.
    ///
    /// # Errors
    /// Faults of the text as YAML.
    pub fn parse(source: &'s Source) -> Result<Self, Diagnostics> {
        nmgen_document::parse(source).map(Self)
    }

    /// True for a NetworkPolicy of nmstate, whose state is known only on the node.
    pub fn is_policy(&self) -> bool {
        check::is_policy(&self.0)
    }

    /// Checks the document for application on a node.
    pub fn check(&self) -> Diagnostics {
        let mut diagnostics = Diagnostics::default();
        check::document(&self.0, &[], Purpose::Apply, &mut diagnostics);
        diagnostics
    }

    /// The differences of this document and another one, in their fields, without secrets.
    pub fn differences(&self, after: &Reading<'_>) -> Vec<Difference> {
        difference::fields(&self.0.root, &after.0.root)
    }

    /// The stack of interfaces as a tree, under `title`; lines have at most 80 columns.
    pub fn tree(&self, title: &str, style: Style) -> String {
        show::tree(title, &self.0, style)
    }

    /// The document as a type of nmstate's, from the tree that is checked.
    ///
    /// # Errors
    /// The refusal, in nmstate's words, without secrets.
    pub fn deserialize<T: for<'de> Deserialize<'de>>(&self) -> Result<T, String> {
        let refused = |error: Error| without_secrets(&self.0.source().text, error.to_string());
        T::deserialize(&self.0.root).map_err(refused)
    }
}
