//! nmstate's refusal of values that contradict each other: any of several. In an initramfs, where the order costs more of the
//! program than the message is worth.

use crate::document::Node;
use crate::state::{Refusal, State};

/// nmstate's verdict on the conversion of this document.
pub(super) fn judge(root: &Node<'_>) -> Result<(), Refusal> {
    State::parse(root)?.without_copied_addresses().generate().map(drop)
}

/// The refusal.
pub(super) fn in_order(refusal: &Refusal) -> Refusal {
    Refusal(refusal.0.clone())
}
