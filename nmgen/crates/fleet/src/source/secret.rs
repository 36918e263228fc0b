//! Secret with a host's network under the key `nmstate`, as the image customization controller
//! expects it: in base64 in `data`, or plain in `stringData`.

use nmgen_document::diagnostic::rules;
use nmgen_document::{Document, Node};

use super::encoding::BASE64;
use super::found::Found;
use super::manifest::Manifest;
use super::secrets::{Content, Secret};
use super::{embedded, unread};

rules! {
    error SECRET_DATA_TWICE = "secret-data-twice";
}

const KEY: &str = "nmstate";

pub(super) fn load(manifest: &mut Manifest<'_>, root: &Node<'_>, found: &mut Found) {
    let Some((name, place)) = manifest.metadata(root) else { return };
    let (data, string_data) = (manifest.get(root, "data"), manifest.get(root, "stringData"));
    let has_key = |data: &Node<'_>| data.get(KEY).is_some();
    let is_there = data.is_some_and(has_key) || string_data.is_some_and(has_key);
    let plain = string_data.and_then(|data| manifest.document_text(data, KEY));
    let encoded = data.and_then(|data| encoded(manifest, root, data));
    if let (Some(at), Some(_)) = (
        string_data.filter(|data| data.text_at(KEY).is_some()),
        data.and_then(|data| data.text_at(KEY)),
    ) && !matches!((&plain, &encoded), (Some(a), Some(b)) if a.root.means_the_same(&b.root))
    {
        let message = format!("{KEY} is in data too, with another document");
        let help = "a cluster takes stringData; keep one of them";
        manifest.add(SECRET_DATA_TWICE, manifest.key_place(at, Some(KEY)), message, help);
    }
    found.claim_member(name.namespace.as_deref(), None);
    let unread = [data, string_data].into_iter().flatten().find_map(unread::state_of);
    let unread = unread.map(|(key, span)| (key.to_owned(), manifest.document().place(span)));
    let origin = found.origin.clone();
    found.secrets.add(Secret {
        name,
        place,
        content: match plain.or(encoded) {
            Some(document) => Content::Document(document),
            None if is_there => Content::Faulty,
            None => Content::Nothing,
        },
        unread: unread.filter(|_| !is_there),
        position: found.hosts.len(),
        origin,
    });
}

/// The document in `data`, whose values are base64.
fn encoded(
    manifest: &mut Manifest<'_>,
    root: &Node<'_>,
    data: &Node<'_>,
) -> Option<Document<'static>> {
    let text = data.text_at(KEY).unwrap_or_default();
    if text.contains(": ") || text.contains(":\n") {
        let message = "data has values in base64, and this is text";
        let place = manifest.key_place(root, Some("data"));
        manifest.add(BASE64, place, message, "write stringData for data");
        // Its own faults come after this one.
        let read = data.get(KEY).map(|node| embedded::text(manifest.document(), node, text));
        return read.and_then(Result::ok);
    }
    let (text, node) = manifest.text(data, KEY)?;
    let content = embedded::base64(manifest.document(), node, text);
    manifest.accept(content)
}
