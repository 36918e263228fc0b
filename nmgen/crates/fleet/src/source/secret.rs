//! Secret with a host's network under the key `nmstate`, as the image customization controller
//! expects it: in base64 in `data`, or plain in `stringData`.

use nmgen_document::Node;
use nmgen_document::diagnostic::rules;

use super::embedded;
use super::found::{Content, Found, Secret};
use super::manifest::Manifest;

rules! {
    error SECRET_DATA_TWICE = "secret-data-twice";
}

const KEY: &str = "nmstate";

pub(super) fn load(manifest: &mut Manifest<'_>, root: &Node<'_>, found: &mut Found) {
    let Some((name, place)) = manifest.metadata(root) else { return };
    let data = manifest.get(root, "data").and_then(|data| manifest.text(data, KEY));
    let text = manifest.get(root, "stringData").and_then(|data| manifest.text(data, KEY));
    let document = manifest.document();
    let plain = text.map(|(text, node)| embedded::text(document, node, text));
    let encoded = data.map(|(text, node)| embedded::base64(document, node, text));
    let is_there = plain.is_some() || encoded.is_some();
    let plain = plain.and_then(|content| manifest.accept(content));
    let encoded = encoded.and_then(|content| manifest.accept(content));
    if let (Some(at), Some(_)) = (root.get("stringData").filter(|_| text.is_some()), data)
        && !matches!((&plain, &encoded), (Some(a), Some(b)) if a.root.means_the_same(&b.root))
    {
        let message = format!("{KEY} is in data too, with another document");
        let help = "a cluster takes stringData; keep one of them";
        manifest.add(SECRET_DATA_TWICE, manifest.key_place(at, Some(KEY)), message, help);
    }
    found.claim_member(name.namespace.as_deref(), None);
    let origin = found.origin.clone();
    found.add_secret(Secret {
        name,
        place,
        content: match plain.or(encoded) {
            Some(document) => Content::Document(document),
            None if is_there => Content::Faulty,
            None => Content::Nothing,
        },
        position: found.loaded.hosts.len(),
        origin,
    });
}
