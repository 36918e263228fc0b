//! Interfaces, routes and rules with `state: absent`, which only a node can resolve.

use nmgen_document::Path;
use nmgen_document::diagnostic::rules;

use super::subject::{Report, Subject};

rules! {
    warning ABSENT_OFFLINE = "absent-offline";
}

const HELP: &str = "profiles only add; remove it on the node, or leave it out of this document";

pub(super) fn check(subject: &Subject<'_>, report: &mut Report<'_>) {
    if !subject.is_offline() {
        return;
    }
    for interface in subject.interfaces.iter().filter(|interface| interface.is_absent()) {
        let message =
            format!("nothing removes {}: profiles are made without the node", interface.name);
        report.add(ABSENT_OFFLINE, &interface.path.key("state"), message, HELP);
    }
    for (section, what) in [("routes", "route"), ("route-rules", "route rule")] {
        let list = subject.root.items_at(&[section, "config"]);
        for (index, node) in list.iter().enumerate() {
            if node.text_at("state") == Some("absent") {
                let path = Path::default().key(section).key("config").index(index).key("state");
                let message =
                    format!("nothing removes this {what}: profiles are made without the node");
                report.add(ABSENT_OFFLINE, &path, message, HELP);
            }
        }
    }
}
