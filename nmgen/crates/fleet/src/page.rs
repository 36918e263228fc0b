//! A fleet, or the change of one, as a page in HTML: one file that loads nothing, in the reader's colours, with a field to
//! search in. Without scripts it is a plain page.

mod budget;
mod change;
mod entry;
mod finding;
mod fleet;
mod frame;
mod overview;

pub use self::change::changes;
pub use self::fleet::fleet;
