//! br-ex without a document.

mod made;
