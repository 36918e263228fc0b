//! Virtual functions of SR-IOV: they exist once NetworkManager has set the number of their card, so nothing
//! waits for them before it starts.

use nmgen_core::{interface, stack};
use nmgen_document::Node;

/// nmstate's word for the function of a card, whatever its name: `sriov:eno1:0`.
const BY_CARD: &str = "sriov:";

/// True for the name of a virtual function that the document asks for: udev's name, `eno1v0`, or nmstate's
/// word.
pub(crate) fn is_one(cards: &[(&str, u64)], name: &str) -> bool {
    name.starts_with(BY_CARD) || card_of(cards, name).is_some()
}

/// The names on this machine of the functions whose card has another name here.
pub(crate) fn renamed(
    root: &Node<'_>,
    cards: &[(&str, u64)],
    here: impl Fn(&str) -> Option<String>,
) -> Vec<(String, String)> {
    let named = interface::all(root).iter().filter_map(|interface| interface.text_at("name"));
    // A port need not be described.
    let ports = interface::all(root).iter().flat_map(stack::below).map(|reference| reference.name);
    let renamed = named.chain(ports).filter_map(|name| {
        let (card, number) = card_of(cards, name)?;
        Some((name.to_owned(), format!("{}v{number}", stem(&here(card)?))))
    });
    renamed.collect()
}

/// The cards for which the document asks for functions, with their number: without one nmstate takes the highest described.
pub(crate) fn cards<'r>(root: &'r Node<'_>) -> Vec<(&'r str, u64)> {
    let card = |interface: &'r Node<'_>| {
        let functions = interface.at(&["ethernet", "sr-iov"])?;
        let number = |function: &Node<'_>| function.get("id")?.number()?.checked_add(1);
        let count = functions.number_at(&["total-vfs"]);
        let count = count.or_else(|| functions.get("vfs")?.items().iter().filter_map(number).max());
        Some((interface.text_at("name")?, count?))
    };
    interface::all(root).iter().filter_map(card).collect()
}

/// The card of `<card>v<number>`, if the document asks for that many functions.
fn card_of<'r>(cards: &[(&'r str, u64)], name: &str) -> Option<(&'r str, u64)> {
    let (card, number) = name.rsplit_once('v')?;
    let number: u64 = number.parse().ok()?;
    let found = cards.iter().find(|(name, count)| stem(name) == card && number < *count);
    found.map(|(name, _)| (*name, number))
}

/// A card's name without its port (systemd.net-naming-scheme(7)): `ens1f0np0` has the functions `ens1f0v0`,
/// `ens1f0v1` and so on.
fn stem(card: &str) -> &str {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match card.rsplit_once("np") {
        Some((stem, port)) if is_number(port) => stem,
        _ => card,
    }
}
