//! Advisories have the form that SECURITY.md promises.

use std::fs;

use serde_json::Value;
use tests::{program::root, tree::files};

#[tests::case]
fn each_advisory_has_its_fields_its_fixed_version_and_a_line_of_the_changelog() {
    let place = root().join("doc/advisories");
    let changelog = fs::read_to_string(root().join("CHANGELOG.md")).unwrap();
    let advisories = files(&place).unwrap();
    assert!(!advisories.is_empty());
    for path in advisories.into_keys() {
        let advisory: Value =
            serde_json::from_slice(&fs::read(place.join(&path)).unwrap()).unwrap();
        let id = path.file_stem().unwrap().to_str().unwrap();
        assert_eq!(advisory["id"], id);
        for field in ["schema_version", "published", "modified", "summary", "details"] {
            assert!(advisory[field].is_string(), "{id}: {field}");
        }
        for affected in advisory["affected"].as_array().unwrap() {
            let events = affected["ranges"][0]["events"].as_array().unwrap();
            assert!(events.iter().any(|event| event["introduced"].is_string()), "{id}");
            assert!(events.iter().any(|event| event["fixed"].is_string()), "{id}");
        }
        assert!(changelog.contains(id), "{id} is not in CHANGELOG.md");
    }
}
