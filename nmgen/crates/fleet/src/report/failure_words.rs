//! The words of a failure without what differs from node to node.

use nmgen_core::node::short_host_name;

/// `…` in place of words with a digit, such as addresses, times and interfaces, and of the node's own name.
pub(super) fn words(text: &str, name: &str) -> String {
    let own = short_host_name(name);
    let mut found: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let is_edge = |c: char| !c.is_alphanumeric();
        let inner = word.trim_matches(is_edge);
        let differs = inner.contains(|c: char| c.is_ascii_digit())
            || (!own.is_empty() && inner.split(is_edge).any(|part| part == own));
        let shown = match word.find(inner).filter(|_| differs && !inner.is_empty()) {
            Some(at) => format!("{}…{}", &word[..at], &word[at + inner.len()..]),
            None => word.to_owned(),
        };
        // A list of addresses is one.
        if shown != "…" || found.last().is_none_or(|last| last != "…") {
            found.push(shown);
        }
    }
    found.join(" ")
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn addresses_names_and_times_make_no_difference() {
        for (text, name) in [
            ("verify: gateway 192.0.2.1 did not answer within 30 s (on eno1)", "worker"),
            ("verify: gateway 2001:db8::1 did not answer within 7 s (on ens3f0)", "worker"),
        ] {
            assert_eq!(words(text, name), "verify: gateway … did not answer within … s (on …)");
        }
        assert_eq!(words("/etc/nmstate/worker.yml:3:4: bad", "worker.example"), "/…: bad");
        assert_eq!(words("no such file", "w"), "no such file");
    }
}
