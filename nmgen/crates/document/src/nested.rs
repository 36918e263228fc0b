//! Files with several documents, and documents within other documents, as a fleet's sources have
//! them.

mod long_list;
mod many;
mod merge;
mod part;
mod stream;

pub use self::many::{too_many, unpacked_size};
pub use self::stream::parse_stream;
pub use super::parse::{parse_text, usable};
