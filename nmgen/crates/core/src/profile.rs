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

    #[test]
    fn a_rule_that_no_profile_holds_is_told() -> Result<(), Refusal> {
        let told = |family: &str, address: &str| -> Result<Vec<&str>, Refusal> {
            let text = format!(
                "interfaces: [{{name: eth0, type: ethernet, state: up, {family}: {{enabled: true, \
                 address: [{{ip: '{address}', prefix-length: 24}}]}}}}]\n\
                 route-rules: {{config: [{{ip-from: 192.0.2.0/24, priority: 100}}]}}\n"
            );
            let source = Source { name: "".into(), text: text.into() };
            let document = nmgen_document::parse(&source);
            let document = document.unwrap_or_else(|it| unreachable!("{it:?}"));
            let mut found = Diagnostics::default();
            convert(&document, State::parse(&document.root)?, &mut found)?;
            Ok(found.iter().map(|fault| fault.rule.name).collect())
        };
        assert_eq!(told("ipv4", "192.0.2.1")?, [""; 0]);
        assert_eq!(told("ipv6", "2001:db8::1")?, ["route-rule-lost"]);
        Ok(())
    }
}
