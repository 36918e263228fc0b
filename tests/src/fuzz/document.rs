//! A document's text: checked, converted to profiles, and shown.

use nmgen::Reading;
use nmgen::diagnostic::Style;
use nmgen::source::{Hosts, Source};
use nmstate::NetworkState;

use super::invariants;

pub(super) fn run(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else { return };
    let source = Source { name: "worker-0.yml".into(), text: text.into() };
    let hosts = Hosts::document(&source);
    let found = nmgen::diagnose(&hosts);
    invariants::are_inside(&[text], &found);
    invariants::converts(&hosts);
    let read = Reading::parse(&source);
    assert!(read.is_ok() || found.has_errors(), "{read:?}");
    let Ok(reading) = read else { return };
    let checked = reading.check();
    invariants::are_inside(&[text], &checked);
    let _ = reading.tree("worker-0", Style::Plain);
    // A node may read the text with nmstate's own parser. No text at all desires nothing.
    if !checked.has_errors() && !reading.is_policy() {
        let theirs = serde_yaml::from_str::<Option<NetworkState>>(text);
        let ours = reading.deserialize::<Option<NetworkState>>();
        assert!(ours.is_ok(), "{ours:?}");
        assert_eq!(theirs.ok(), ours.ok());
    }
}
