//! Faults of years that come together.

use super::{Action, Life, Other, Part};

/// Whether both can meet a node at once, with a known end.
pub(super) fn agree(one: &Life, other: &Life) -> bool {
    let is_either = |is: fn(&Life) -> bool| is(one) || is(other);
    let has = |part: Part| one.part == part || other.part == part;
    one.part != other.part
        // An older version has the faults that this one has no more.
        && !has(Part::Version)
        // A machine whose document was never in force is known by its name alone; and nobody rolls a new machine back.
        && !(is_either(is_clone) && (has(Part::Name) || has(Part::Etc)))
        // So is one whose board and card are others.
        && !(is_either(replaces_the_board) && has(Part::Name))
        // And one whose record is damaged: `applied` has the document's text, and not its name.
        && !(has(Part::State) && has(Part::Name))
        // Day two has moved the gateway on one machine and in one deployment: others know that of their document alone.
        && !(is_either(|life| is_clone(life) || is_of_another_deployment(life))
            && is_either(loses_its_gateway))
        // Nothing can be written to a full disk, by the fault's own script neither.
        && !(has(Part::Disk) && is_either(is_written))
}

fn is_clone(life: &Life) -> bool {
    life.begin.iter().any(|action| matches!(action, Action::Machine(Other::Machine)))
}

/// Whether the board is replaced, and the card with it.
pub(super) fn replaces_the_board(life: &Life) -> bool {
    life.begin.iter().any(|action| matches!(action, Action::Machine(Other::Board)))
}

fn is_of_another_deployment(life: &Life) -> bool {
    life.begin.iter().any(|action| matches!(action, Action::Deployment(_)))
}

/// Whether day two moves the gateway, and the one of before is gone.
pub(super) fn loses_its_gateway(life: &Life) -> bool {
    life.begin.iter().any(|action| matches!(action, Action::Gateway(false)))
}

/// Whether it begins with files that are written in the next boot.
fn is_written(life: &Life) -> bool {
    is_clone(life)
        || life
            .begin
            .iter()
            .any(|action| matches!(action, Action::Early(_) | Action::Deployment(_)))
}
