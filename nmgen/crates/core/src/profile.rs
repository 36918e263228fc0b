//! From a document to connection profiles that are safe to write.

mod carry;
mod generated;
mod keyfile;
mod repair;
mod written;

use nmgen_document::Document;
use nmgen_document::diagnostic::{Diagnostics, Rule};

pub use self::keyfile::{Entry, Keyfile, Section};
pub use self::written::{Profile, SystemFile};
use crate::state::{Refusal, State};

/// Rules that only conversion can check.
pub fn rules() -> Vec<Rule> {
    [carry::RULES, generated::RULES].concat()
}

/// The result of converting a document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Configuration {
    /// In nmstate's order: controllers before their ports.
    pub profiles: Vec<Profile>,
    /// Files beside the profiles, in the order of their paths.
    pub files: Vec<SystemFile>,
}

/// Converts a document that has passed the checks.
///
/// # Errors
/// nmstate's refusal in its own words.
pub fn convert(
    document: &Document<'_>,
    mut state: State,
    diagnostics: &mut Diagnostics,
) -> Result<Configuration, Refusal> {
    let interfaces = state.interfaces();
    carry::copy_mac_from(document, &mut state, &interfaces, diagnostics);
    let mut profiles = Vec::new();
    let (generated, rules_missing) = repair::generate(&state)?;
    for generated in generated {
        match generated::profile(&generated) {
            Ok(profile) => profiles.push(profile),
            Err(reason) => {
                diagnostics.push(generated::unsafe_profile(document, &generated, &reason));
            }
        }
    }
    repair::all(&mut profiles);
    if rules_missing > 0 {
        diagnostics.push(generated::rules_lost(document, rules_missing));
    }
    generated::all_there(document, &interfaces, &profiles, diagnostics);
    profiles.iter_mut().for_each(|profile| profile.keyfile.shrink_to_fit());
    Ok(Configuration { profiles, files: carry::files(document, &state, &interfaces, diagnostics) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use nmgen_document::text::Source;

    /// The rules of the findings about a document's conversion.
    fn found_in(text: String) -> Result<Vec<&'static str>, Refusal> {
        let source = Source { name: "".into(), text: text.into() };
        let document = nmgen_document::parse(&source);
        let document = document.unwrap_or_else(|document| unreachable!("{document:?}"));
        let mut found = Diagnostics::default();
        convert(&document, State::parse(&document.root)?, &mut found)?;
        Ok(found.iter().map(|fault| fault.rule.name).collect())
    }

    #[test]
    fn a_rule_that_no_profile_holds_is_told() -> Result<(), Refusal> {
        let told = |family: &str, address: &str| -> Result<Vec<&str>, Refusal> {
            let text = format!(
                "interfaces: [{{name: eth0, type: ethernet, state: up, {family}: {{enabled: true, \
                 address: [{{ip: '{address}', prefix-length: 24}}]}}}}]\n\
                 route-rules: {{config: [{{ip-from: 192.0.2.0/24, priority: 100}}]}}\n"
            );
            found_in(text)
        };
        assert_eq!(told("ipv4", "192.0.2.1")?, [""; 0]);
        assert_eq!(told("ipv6", "2001:db8::1")?, ["route-rule-lost"]);
        Ok(())
    }

    #[test]
    fn rules_are_counted_as_nmstate_tells_them_apart() -> Result<(), Refusal> {
        let told = |ipv4_of_eth1: &str, rules: &str| -> Result<Vec<&str>, Refusal> {
            let ipv4 = |last| {
                format!(
                    "ipv4: {{enabled: true, address: [{{ip: 192.0.2.{last}, prefix-length: 24}}]}}"
                )
            };
            let text = format!(
                "interfaces:\n- {{name: eth0, type: ethernet, {}}}\n- {{name: eth1, type: ethernet{ipv4_of_eth1}}}\n\
                 route-rules: {{config: [{rules}]}}\n",
                ipv4(1)
            );
            found_in(text)
        };
        let enabled = ", ipv4: {enabled: true, dhcp: true}";
        let by = |more: &str| {
            format!("{{ip-from: 192.0.2.0/24, priority: 100, route-table: 254{more}}}")
        };
        let two = |one: &str, other: &str| format!("{}, {}", by(one), by(other));
        // Rules that differ by their interface are two.
        let both = two(", iif: eth0", ", iif: eth1");
        assert_eq!(told(enabled, &both)?, [""; 0]);
        assert_eq!(told("", &both)?, ["route-rule-lost"]);
        // A rule without one may be in a profile that has the other: nmstate keeps one of the two there.
        assert_eq!(told(enabled, &two("", ", iif: eth0"))?, ["route-rule-lost"]);
        // Other spellings of a rule are that rule.
        for same in [
            "{ip-from: 192.0.2.1, priority: 9}, {ip-from: 192.0.2.1/32, priority: 9}",
            "{ip-from: 192.0.2.1, priority: 9}, {ip-from: 192.0.2.1, priority: 9, route-table: 254}",
            "{ip-from: 192.0.2.0/24, priority: 9, iif: eth0}, {ip-from: 192.0.2.7/24, priority: 9, iif: eth0}",
            "{ip-from: 192.0.2.1, ip-to: '', priority: 9}, {ip-from: 192.0.2.1, priority: 9, family: ipv4}",
            "{ip-from: 192.0.2.1}, {ip-from: 192.0.2.1}",
        ] {
            assert_eq!(told(enabled, same)?, [""; 0], "{same}");
        }
        Ok(())
    }
}
