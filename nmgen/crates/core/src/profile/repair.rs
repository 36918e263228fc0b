//! Repairs values that nmstate's offline conversion writes in a form that NetworkManager cannot read,
//! or differently on each run. `doc/drop-in.md` lists every case.

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
    let mut generated = state.generate()?;
    let Some(alone) = state.route_rules_alone() else { return Ok((generated, 0)) };
    let count = |profiles: &[Generated]| profiles.iter().map(rule_count).sum::<usize>();
    let wanted = count(&alone.generate()?);
    let mut missing = wanted.saturating_sub(count(&generated));
    for _ in 1..MAX_ATTEMPTS {
        if missing == 0 {
            break;
        }
        generated = state.generate()?;
        missing = wanted.saturating_sub(count(&generated));
    }
    Ok((generated, missing))
}

fn rule_count(generated: &Generated) -> usize {
    generated.text.lines().filter(|line| line.starts_with(RULE)).count()
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
    let is_candidate = |profile: &Profile| {
        let mut families = FAMILIES.iter();
        families.any(|family| profile.keyfile.get(family, "route0").is_some())
            && uses(profile, family, table)
    };
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

/// True when the profile has a route in this table, or puts automatic routes into it.
fn uses(profile: &Profile, family: &str, table: &str) -> bool {
    let Some(section) = profile.keyfile.section(family) else { return false };
    let option = format!("table={table}");
    section.get("route-table").unwrap_or(MAIN_TABLE) == table
        || section.entries.iter().any(|(key, value)| {
            key.ends_with("_options") && value.split(',').any(|entry| entry == option)
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

#[cfg(test)]
mod tests {
    use super::*;
    use nmgen_document::text::Source;

    fn profile(id: &str, text: &str) -> Profile {
        Profile { id: id.to_owned(), keyfile: Keyfile::parse_leniently(text) }
    }

    /// The ids of the profiles that hold the rules, each with its rules.
    fn held(mut profiles: Vec<Profile>) -> Vec<(String, Vec<String>)> {
        all(&mut profiles);
        let rules = |profile: &Profile| -> Vec<String> {
            let sections = FAMILIES.iter().filter_map(|family| profile.keyfile.section(family));
            let entries = sections.flat_map(|section| &section.entries);
            let rules = entries.filter(|(key, _)| key.starts_with(RULE));
            rules.map(|(key, value)| format!("{key}={value}")).collect()
        };
        let found = profiles.iter().map(|profile| (profile.id.clone(), rules(profile)));
        found.filter(|(_, rules)| !rules.is_empty()).collect()
    }

    #[test]
    fn a_rule_goes_to_the_first_profile_with_routes_in_its_table() {
        let other = "[ipv4]\nmethod=manual\nroute0=192.0.2.0/24\nroute0_options=onlink=true\n";
        let table =
            "[ipv4]\nmethod=manual\nroute0=192.0.2.0/24\nroute0_options=onlink=true,table=5\n";
        let automatic = "[ipv4]\nmethod=auto\nroute-table=5\nroute0=192.0.2.0/24\n";
        let with = |text: &str, rule: &str| format!("{text}{RULE}0={rule}\n");
        let rule = "priority 9 from 192.0.2.1 table 5";
        for first in [table, automatic] {
            let profiles = vec![
                profile("other", other),
                profile("first", first),
                profile("last", &with(table, rule)),
            ];
            let expected = vec![("first".to_owned(), vec![format!("{RULE}0={rule}")])];
            assert_eq!(held(profiles), expected, "{first}");
        }
        // nmstate's choice stays: the rule names its interface, or nothing better is there.
        let named = "priority 9 from 192.0.2.1 iif eth1 table 5";
        for (first, rule) in [(table, named), (other, rule)] {
            let profiles = vec![profile("first", first), profile("last", &with(table, rule))];
            assert_eq!(held(profiles)[0].0, "last", "{rule}");
        }
        let without = vec![profile("table", table), profile("last", &with("[ipv4]\n", rule))];
        assert_eq!(held(without)[0].0, "last");
    }

    #[test]
    fn a_rule_without_a_table_is_of_the_main_one() {
        let main = "[ipv4]\nmethod=manual\nroute0=192.0.2.0/24\n";
        let other = "[ipv4]\nmethod=manual\nroute-table=5\nroute0=192.0.2.0/24\n";
        let rule = format!("{main}{RULE}0=priority 9 from 192.0.2.1\n");
        let without = profile("without", "[ipv4]\nmethod=auto\n");
        let (other, main) = (profile("other", other), profile("main", main));
        let profiles = vec![without, other, main, profile("last", &rule)];
        assert_eq!(held(profiles)[0].0, "main");
    }

    #[test]
    fn a_profile_whose_family_is_disabled_gets_a_rule_last() {
        let disabled = "[ipv4]\nmethod=disabled\n\n[ipv6]\nmethod=manual\nroute0=2001:db8::/64\n";
        let rule = "priority 9 from 192.0.2.1 table 254";
        let last = format!("[ipv4]\nmethod=manual\nroute0=192.0.2.0/24\n{RULE}0={rule}\n");
        let profiles = vec![profile("disabled", disabled), profile("last", &last)];
        assert_eq!(held(profiles)[0].0, "last");
    }

    #[test]
    fn the_rules_of_a_profile_are_in_the_order_of_their_priorities() {
        let rules = ["from 192.0.2.3", "priority 10 from 192.0.2.2", "priority 9 from 192.0.2.1"];
        let text: String =
            (0..).zip(rules).map(|(index, rule)| format!("{RULE}{index}={rule}\n")).collect();
        let found = held(vec![profile("a", &format!("[ipv4]\nmethod=manual\n{text}"))]);
        let expected: Vec<String> = (0..)
            .zip(rules.iter().rev())
            .map(|(index, rule)| format!("{RULE}{index}={rule}"))
            .collect();
        assert_eq!(found[0].1, expected);
    }

    /// nmstate chooses one of the four interfaces anew each time, and the one without IPv4 loses the rule.
    #[test]
    fn a_rule_is_kept_whatever_interface_nmstate_chooses() -> Result<(), Refusal> {
        let interface = |name: &str, family: &str, ip: &str, length: u8| {
            format!(
                "- {{name: {name}, type: ethernet, state: up, {family}: {{enabled: true, \
                 address: [{{ip: '{ip}', prefix-length: {length}}}]}}}}\n"
            )
        };
        let text = [
            "interfaces:\n",
            &interface("eth0", "ipv6", "2001:db8::1", 64),
            &interface("eth1", "ipv4", "192.0.2.1", 24),
            &interface("eth2", "ipv4", "192.0.2.2", 24),
            &interface("eth3", "ipv4", "192.0.2.3", 24),
            "routes:\n  config:\n",
            "  - {destination: '2001:db8:1::/64', next-hop-interface: eth0}\n",
            "  - {destination: 198.51.100.0/25, next-hop-interface: eth1}\n",
            "  - {destination: 198.51.100.128/25, next-hop-interface: eth2}\n",
            "  - {destination: 203.0.113.0/24, next-hop-interface: eth3}\n",
            "route-rules: {config: [{ip-from: 192.0.2.0/24, priority: 100}]}\n",
        ];
        let source = Source { name: "".into(), text: text.concat().into() };
        let document = nmgen_document::parse(&source).unwrap_or_else(|it| unreachable!("{it:?}"));
        let state = State::parse(&document.root)?;
        let held = |generated: &[Generated]| generated.iter().map(rule_count).sum::<usize>();
        let loses_it = |_| state.generate().is_ok_and(|generated| held(&generated) == 0);
        assert!((0..60).any(loses_it), "nmstate keeps the rule by itself");
        for _ in 0..3 {
            let (generated, missing) = generate(&state)?;
            assert_eq!((held(&generated), missing), (1, 0));
        }
        Ok(())
    }

    #[test]
    fn a_group_address_is_a_mac_address() {
        let repaired = |value: &str| {
            let mut profiles = [profile("a", &format!("[bridge]\ngroup-address={value}\n"))];
            all(&mut profiles);
            profiles[0].keyfile.get("bridge", "group-address").map(str::to_owned)
        };
        assert_eq!(repaired("1;128;194;0;0;4"), Some("01:80:C2:00:00:04".to_owned()));
        assert_eq!(repaired("01:80:C2:00:00:04"), Some("01:80:C2:00:00:04".to_owned()));
    }
}
