//! The profiles of a plan against those of configure-ovs.sh, property by property, but for the table
//! of differences in `doc/bridge.md`.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    kinds::cases,
    nmcli::{Properties, parse, shown},
};

/// Names of the profiles in the table, which does not repeat itself for the second bridge.
fn group(id: &str) -> &str {
    match id {
        "ovs-if-phys1" => "ovs-if-phys0",
        "ovs-if-br-ex1" => "ovs-if-br-ex",
        other => other,
    }
}

/// The differences of two profiles: profile, property.
fn differences(id: &str, script: &Properties, own: &Properties) -> Vec<(String, String)> {
    let names: BTreeSet<&String> = script.keys().chain(own.keys()).collect();
    let differs = |name: &&&String| script.get(**name) != own.get(**name);
    names.iter().filter(differs).map(|name| (group(id).to_owned(), (*name).to_string())).collect()
}

/// The rows of the table in the documentation: profile, property.
fn documented() -> BTreeSet<(String, String)> {
    let text = include_str!("../../../doc/bridge.md");
    let table = text.lines().skip_while(|line| *line != "## Differences from configure-ovs.sh");
    let rows = table.filter_map(|line| line.strip_prefix("| `"));
    let row = |row: &str| {
        let mut cells = row.split(" | ").map(|cell| cell.trim_matches('`').to_owned());
        Some((cells.next()?, cells.next()?))
    };
    rows.filter_map(row).collect()
}

#[test]
fn profiles_are_those_of_configure_ovs_but_for_the_documented_differences() {
    let mut seen: BTreeMap<(String, String), Vec<&str>> = BTreeMap::new();
    for case in cases() {
        let plan = case.node.planned();
        let script = parse(case.fixture);
        let ids: BTreeSet<&str> = plan.profiles.iter().map(|profile| profile.id.as_str()).collect();
        let expected: BTreeSet<&str> = script.keys().map(String::as_str).collect();
        assert_eq!(ids, expected, "{}", case.name);
        for profile in &plan.profiles {
            for difference in differences(&profile.id, &script[&profile.id], &shown(&plan, profile))
            {
                seen.entry(difference).or_default().push(case.name);
            }
        }
    }
    let documented = documented();
    // A row is a property, or a section for all of its properties.
    let is_row = |(profile, row): &(String, String), (id, property): &(String, String)| {
        let rest = property.strip_prefix(row.as_str());
        profile == id && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let undocumented: Vec<_> = seen
        .iter()
        .filter(|(difference, _)| !documented.iter().any(|row| is_row(row, difference)))
        .collect();
    assert!(undocumented.is_empty(), "not in doc/bridge.md: {undocumented:#?}");
    let unseen: Vec<_> =
        documented.iter().filter(|row| !seen.keys().any(|key| is_row(row, key))).collect();
    assert!(unseen.is_empty(), "in doc/bridge.md, but no difference: {unseen:#?}");
}
