//! Repairs values that nmstate's offline conversion writes in a form that NetworkManager cannot read,
//! or differently on each run. `doc/differences.md` lists every case.

use super::keyfile::Keyfile;
use super::written::Profile;
use crate::state::{Generated, Refusal, State};

const FAMILIES: [&str; 2] = ["ipv4", "ipv6"];
const RULE: &str = "routing-rule";
const MAIN_TABLE: &str = "254";
/// Each attempt misses a suitable profile with a probability of at most one half.
const MAX_ATTEMPTS: usize = 16;

pub(super) fn all(profiles: &mut [Profile]) {
    for profile in &mut *profiles {
        group_address(&mut profile.keyfile);
    }
    for family in FAMILIES {
        routing_rules(profiles, family);
    }
}

/// nmstate's profiles with all route rules if possible, and the number of missing rules.
///
/// nmstate silently drops a rule if the randomly chosen interface has no address section of the
/// rule's family, so the conversion is repeated.
pub(super) fn generate(state: &State) -> Result<(Vec<Generated>, usize), Refusal> {
    let wanted = state.route_rule_count();
    let mut missing = 0;
    let mut generated = Vec::new();
    for _ in 0..MAX_ATTEMPTS {
        generated = state.generate()?;
        if wanted == 0 {
            break;
        }
        missing = wanted.saturating_sub(generated.iter().map(rule_count).sum());
        if missing == 0 {
            break;
        }
    }
    Ok((generated, missing))
}

fn rule_count(generated: &Generated) -> usize {
    let keyfile = Keyfile::parse_leniently(&generated.text);
    let keys = keyfile.sections.iter().flat_map(|section| &section.entries);
    keys.filter(|(key, _)| key.starts_with(RULE)).count()
}

/// nmstate writes a list of decimal numbers; NetworkManager expects `01:80:C2:00:00:04`.
fn group_address(keyfile: &mut Keyfile) {
    let Some(value) = keyfile.get("bridge", "group-address") else { return };
    let bytes: Result<Vec<u8>, _> = value.split(';').map(str::parse::<u8>).collect();
    if let Ok(bytes) = bytes {
        let pairs: Vec<String> = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
        keyfile.set("bridge", "group-address", &pairs.join(":"));
    }
}

/// nmstate keeps rules in a hash set, and stores a rule in any interface with routes in the rule's
/// table, so both order and place are random. Here the first such profile gets the rule, and rules
/// are sorted by priority.
fn routing_rules(profiles: &mut [Profile], family: &str) {
    let mut held: Vec<(usize, String)> = Vec::new();
    for (index, profile) in profiles.iter_mut().enumerate() {
        let Some(section) = profile.keyfile.section_mut(family) else { continue };
        held.extend(section.take(RULE).into_iter().map(|rule| (index, rule)));
    }
    if held.is_empty() {
        return;
    }
    for (holder, rule) in &mut held {
        *holder = chosen(profiles, family, *holder, rule);
    }
    held.sort_by_cached_key(|(holder, rule)| (*holder, priority(rule), rule.clone()));
    let mut numbered = std::iter::repeat_n(0_usize, profiles.len()).collect::<Vec<_>>();
    for (holder, rule) in held {
        let key = format!("{RULE}{}", numbered[holder]);
        profiles[holder].keyfile.set(family, &key, &rule);
        numbered[holder] += 1;
    }
}

/// The profile for the rule, given nmstate's choice.
fn chosen(profiles: &[Profile], family: &str, holder: usize, rule: &str) -> usize {
    // The choice is not random if the rule names the interface.
    if word_after(rule, "iif").is_some() {
        return holder;
    }
    let table = word_after(rule, "table").unwrap_or(MAIN_TABLE);
    let is_candidate = |profile: &Profile| has_routes(profile) && uses(profile, family, table);
    if !is_candidate(&profiles[holder]) {
        return holder;
    }
    let first = |enabled: bool| {
        profiles.iter().position(|profile| {
            let method = profile.keyfile.get(family, "method");
            is_candidate(profile) && (method != Some("disabled")) == enabled
        })
    };
    first(true).or_else(|| first(false)).unwrap_or(holder)
}

fn has_routes(profile: &Profile) -> bool {
    FAMILIES.iter().any(|family| profile.keyfile.get(family, "route0").is_some())
}

/// True when the profile has a route in this table, or puts automatic routes into it.
fn uses(profile: &Profile, family: &str, table: &str) -> bool {
    let Some(section) = profile.keyfile.section(family) else { return false };
    let option = format!("table={table}");
    section.get("route-table").unwrap_or(MAIN_TABLE) == table
        || section.entries.iter().any(|(key, value)| {
            key.starts_with("route")
                && key.ends_with("_options")
                && value.split(',').any(|entry| entry == option)
        })
}

fn priority(rule: &str) -> u32 {
    word_after(rule, "priority").and_then(|word| word.parse().ok()).unwrap_or(u32::MAX)
}

fn word_after<'r>(rule: &'r str, name: &str) -> Option<&'r str> {
    let mut words = rule.split(' ');
    words.find(|word| *word == name)?;
    words.next()
}
