//! The page around the hosts.

use std::collections::HashMap;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use nmgen_document::format::counted;
use sha2::{Digest as _, Sha256};

use super::entry::Entry;
use crate::picture;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// A page of few hosts shows them at once.
const MOST_OPEN: usize = 10;

/// The part of a page that is about all hosts.
pub(super) struct Summary {
    pub(super) title: String,
    /// One sentence each.
    pub(super) lines: Vec<String>,
    /// Findings that belong to no host.
    pub(super) findings: Option<Markup>,
    /// The heads of the cells between a host's addresses and its state.
    pub(super) columns: &'static [&'static str],
    /// The head of the states.
    pub(super) state: &'static str,
    /// The states that hosts can be filtered by: their classes, and their name.
    pub(super) states: &'static [(&'static str, &'static str)],
}

/// Ends in a line break.
pub(super) fn page(summary: &Summary, entries: &mut [Entry]) -> String {
    sort(entries);
    let has_several = entries.iter().map(|entry| entry.hosts.len()).sum::<usize>() > 1;
    let style = format!("{}{STYLE}", picture::STYLE);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy(&style));
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                title { (summary.title) }
                style { (PreEscaped(&style)) }
            }
            body {
                header {
                    h1 { (summary.title) }
                    @for line in &summary.lines { p { (line) } }
                    @if has_several { (search(summary, entries)) }
                }
                @if has_several { (table(summary, entries)) }
                details.legend {
                    summary { "Legend" }
                    div.picture tabindex="0" { @for svg in picture::legend() { (PreEscaped(svg)) } }
                }
                main id="hosts" {
                    @if let Some(findings) = &summary.findings { (findings) }
                    (clusters(entries))
                }
                footer { p { "nmgen " (env!("CARGO_PKG_VERSION")) } }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    let mut page = page.into_string();
    page.push('\n');
    page
}

/// The field and the filters, which the script shows.
fn search(summary: &Summary, entries: &[Entry]) -> Markup {
    html! {
        form id="search" role="search" hidden {
            label for="words" { "Search" }
            input id="words" type="search" autocomplete="off" spellcheck="false"
                aria-describedby="hint" aria-controls="hosts";
            (choice("role", "Role", roles(entries).into_iter().map(|role| (role, role))))
            (choice("state", summary.state, summary.states.iter().copied()))
            button type="button" id="open" { "Open all" }
            button type="button" id="close" { "Close all" }
            output for="words" id="count" {}
            p id="hint" {
                "Names, addresses, roles, files, rules; every word has to be there. Key / leads here, Escape clears."
            }
        }
    }
}

fn choice<'c>(id: &str, name: &str, choices: impl Iterator<Item = (&'c str, &'c str)>) -> Markup {
    html! {
        label for=(id) { (name) }
        select id=(id) {
            option value="" { "all" }
            @for (value, text) in choices { option value=(value) { (text) } }
        }
    }
}

/// In the order of their first hosts.
fn roles(entries: &[Entry]) -> Vec<&str> {
    let roles = grouped(entries.iter().filter(|entry| !entry.role.is_empty()), |entry| &entry.role);
    roles.into_iter().map(|(role, _)| role).collect()
}

/// Every host in a row, which has the number of its entry.
fn table(summary: &Summary, entries: &[Entry]) -> Markup {
    html! {
        div.table tabindex="0" role="region" aria-label="Table of hosts" {
            table {
                thead {
                    tr {
                        @for head in ["Host", "Role", "Addresses"] { th scope="col" { (head) } }
                        @for head in summary.columns { th scope="col" { (head) } }
                        @for head in [summary.state, "File"] { th scope="col" { (head) } }
                    }
                }
                tbody {
                    @for (number, entry) in entries.iter().enumerate() {
                        @for host in &entry.hosts { (host.markup(&entry.role, number)) }
                    }
                }
            }
        }
    }
}

/// Nothing is loaded, sent or run but the page's own style and script.
fn policy(style: &str) -> String {
    let digest = |text: &str| BASE64_STANDARD.encode(Sha256::digest(text.as_bytes()));
    format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; base-uri 'none'; form-action 'none'; \
         require-trusted-types-for 'script'",
        digest(style),
        digest(SCRIPT),
    )
}

/// By cluster and role, in the order of their first entries.
fn sort(entries: &mut [Entry]) {
    let mut order = HashMap::new();
    for (number, entry) in entries.iter().enumerate() {
        order.entry((entry.cluster.clone(), None)).or_insert(number);
        order.entry((entry.cluster.clone(), Some(entry.role.clone()))).or_insert(number);
    }
    entries.sort_by_cached_key(|entry| {
        let of =
            |role: Option<&String>| order.get(&(entry.cluster.clone(), role.cloned())).copied();
        (of(None), of(Some(&entry.role)))
    });
}

/// A section each cluster, and in it each role.
fn clusters(entries: &[Entry]) -> Markup {
    let is_few = entries.len() <= MOST_OPEN;
    let hosts = |entries: &[&Entry]| entries.iter().map(|entry| entry.hosts.len()).sum();
    html! {
        @for (cluster, entries) in &grouped(entries.iter(), |entry| &entry.cluster) {
            section.cluster {
                h2 { (cluster) " " small { (counted(hosts(entries), "host")) } }
                @for (role, entries) in &grouped(entries.iter().copied(), |entry| &entry.role) {
                    section.role {
                        @if !role.is_empty() { h3 { (role) } }
                        @for entry in entries { (entry.markup(is_few || entry.is_open)) }
                    }
                }
            }
        }
    }
}

/// Groups in the order of their first entries.
fn grouped<'e>(
    entries: impl Iterator<Item = &'e Entry>,
    key: impl Fn(&'e Entry) -> &'e str,
) -> Vec<(&'e str, Vec<&'e Entry>)> {
    let mut groups: Vec<(&str, Vec<&Entry>)> = Vec::new();
    let mut known = HashMap::new();
    for entry in entries {
        let index = *known.entry(key(entry)).or_insert(groups.len());
        match groups.get_mut(index) {
            Some((_, members)) => members.push(entry),
            None => groups.push((key(entry), vec![entry])),
        }
    }
    groups
}
