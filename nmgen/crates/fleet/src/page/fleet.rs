//! The hosts of a fleet, with their findings.

use std::collections::HashMap;

use nmgen_core::show;
use nmgen_core::source::{Host, HostNetwork};
use nmgen_document::diagnostic::{Diagnostic, Place};
use nmgen_document::format::{counted, printable};
use nmgen_document::text::Span;

use super::budget::{Bounds, Budget, PAGE};
use super::entry::{self, Entry, HostRow, State, View};
use super::frame::{self, Summary};
use super::{finding, overview};
use crate::picture::{self, Picture};
use crate::source::Hosts;

/// Draws each host with what `findings` say of it.
pub fn fleet(hosts: &Hosts, findings: &[Diagnostic], sources: &[String]) -> String {
    within(hosts, findings, sources, PAGE)
}

fn within(hosts: &Hosts, findings: &[Diagnostic], sources: &[String], bounds: Bounds) -> String {
    let rows = picture::rows(&hosts.hosts);
    let (of_rows, of_none) = by_row(&rows, findings);
    let mut budget = Budget(bounds.findings);
    let others = (!of_none.is_empty()).then(|| finding::list(&of_none, &mut budget));
    let mut groups = alike(&rows, &of_rows);
    // Pictures for hosts with findings first, as many as a page has room for.
    let mut pictures = Budget(bounds.pictures);
    let mut order: Vec<usize> = (0..groups.len()).collect();
    order.sort_by_key(|index| groups[*index].findings.is_empty());
    let mut views: Vec<Option<View>> = groups.iter().map(|_| None).collect();
    for index in order {
        views[index] = Some(groups[index].view(&mut pictures));
    }
    let views = views.into_iter().flatten();
    let mut entries: Vec<Entry> =
        groups.drain(..).zip(views).map(|(group, view)| group.entry(view, &mut budget)).collect();
    let machines = counted(rows.len(), "host");
    let errors = findings.iter().filter(|finding| finding.is_error()).count();
    let warnings = counted(findings.len() - errors, "warning");
    let lines = vec![match findings {
        [] => format!("{machines}, no errors, no warnings."),
        _ => format!("{machines}, {}, {warnings}.", counted(errors, "error")),
    }];
    let title = printable(&format!("Network of {}", sources.join(", ")));
    let states = &[
        ("error warning", "with findings"),
        ("error", "with errors"),
        ("clean", "without findings"),
    ];
    frame::page(
        &Summary {
            title,
            lines,
            findings: others,
            columns: &overview::COLUMNS,
            state: "Verdict",
            states,
        },
        &mut entries,
    )
}

/// The findings of each row, and those of none.
fn by_row<'d>(
    rows: &[Vec<&Host>],
    findings: &'d [Diagnostic],
) -> (Vec<Vec<&'d Diagnostic>>, Vec<&'d Diagnostic>) {
    let (mut by_name, mut by_file) = (HashMap::<&str, Vec<usize>>::new(), HashMap::new());
    for (index, row) in rows.iter().enumerate() {
        for host in row {
            by_file.entry(&*host.place.file).or_insert_with(Vec::new).push(index);
            if let Some(name) = host.name.as_deref() {
                by_name.entry(name).or_default().push(index);
            }
        }
    }
    let has_file = |row: &[&Host], file: &str| row.iter().any(|host| &*host.place.file == file);
    let has_line = |row: &[&Host], place: &Place| row.iter().any(|host| is_within(host, place));
    let row_of = |host: Option<&str>, place: &Place| match host {
        Some(name) => {
            let named = by_name.get(name)?;
            named
                .iter()
                .find(|index| has_file(&rows[**index], &place.file))
                .or(named.first())
                .copied()
        }
        None => match by_file.get(&*place.file)?[..] {
            [only] => Some(only),
            ref several => several.iter().find(|index| has_line(&rows[**index], place)).copied(),
        },
    };
    let mut of_rows = vec![Vec::new(); rows.len()];
    let mut of_none = Vec::new();
    for finding in findings {
        let row = row_of(finding.host.as_deref(), &finding.place);
        let other =
            finding.other.as_deref().and_then(|other| row_of(other.name.as_deref(), &other.place));
        match row {
            Some(row) => of_rows[row].push(finding),
            None => of_none.push(finding),
        }
        if let Some(other) = other.filter(|other| Some(*other) != row) {
            of_rows[other].push(finding);
        }
    }
    (of_rows, of_none)
}

/// True for a place between the host's declaration and the end of its document, in a file of several hosts: a finding between hosts
/// is at one of them.
fn is_within(host: &Host, place: &Place) -> bool {
    let line = |place: &Place| place.position.as_ref().map(|at| at.start.line);
    let last = host.document().and_then(|document| {
        let end = document.root.span.end;
        line(&document.place(Span { start: end, end }))
    });
    let first = line(&host.place);
    let lines = first..=last.max(first);
    place.file == host.place.file && place.position.is_some() && lines.contains(&line(place))
}

/// Hosts that differ only in names and addresses, and that have the same findings at the same interfaces.
struct Group<'h, 'd> {
    first: Vec<&'h Host>,
    picture: Picture,
    hosts: Vec<HostRow>,
    /// Of all of them.
    findings: Vec<&'d Diagnostic>,
}

fn alike<'h, 'd>(rows: &[Vec<&'h Host>], findings: &[Vec<&'d Diagnostic>]) -> Vec<Group<'h, 'd>> {
    let mut groups: Vec<Group<'_, '_>> = Vec::new();
    let mut known = HashMap::new();
    for (row, its) in rows.iter().zip(findings) {
        let mut picture = Picture::of(row);
        picture.mark(row, its);
        let mut rules: Vec<&str> = its.iter().map(|finding| finding.rule.name).collect();
        rules.sort_unstable();
        let key = (cluster(row), role(row), rules, picture.shape());
        let host = host_row(row, &picture, its);
        let index = *known.entry(key).or_insert(groups.len());
        match groups.get_mut(index) {
            Some(group) => {
                group.picture.add(picture);
                group.hosts.push(host);
                group.findings.extend(its);
            }
            None => groups.push(Group {
                first: row.clone(),
                picture,
                hosts: vec![host],
                findings: its.clone(),
            }),
        }
    }
    // A finding between two hosts of one group is one of the group.
    for group in &mut groups {
        group.findings.sort_unstable_by_key(|finding| std::ptr::from_ref(*finding));
        group.findings.dedup_by(|one, other| std::ptr::eq(*one, *other));
    }
    groups
}

fn host_row(row: &[&Host], picture: &Picture, findings: &[&Diagnostic]) -> HostRow {
    let labels = finding_labels(findings);
    let state = match labels.first() {
        None => State { class: "clean", text: "no findings".to_owned() },
        Some((class, _)) => {
            let text = labels.iter().map(|(_, label)| &**label).collect::<Vec<_>>().join(", ");
            State { class, text }
        }
    };
    // The running node's.
    let document = row.iter().rev().find_map(|host| host.document());
    let cells = document.map_or_else(
        || vec![String::new(); overview::COLUMNS.len()],
        |document| {
            overview::cells(&document.shown().root).iter().map(|cell| printable(cell)).collect()
        },
    );
    let messages = findings.iter().map(|finding| &*finding.message);
    let words = entry::words(picture.words().chain(messages));
    HostRow {
        name: title(row),
        addresses: entry::addresses(picture),
        cells,
        state,
        file: file(row),
        words,
    }
}

/// Counts of errors and of warnings.
fn finding_labels(findings: &[&Diagnostic]) -> Vec<(&'static str, String)> {
    let errors = findings.iter().filter(|finding| finding.is_error()).count();
    let counts = [("error", errors), ("warning", findings.len() - errors)].into_iter();
    counts
        .filter(|(_, count)| *count > 0)
        .map(|(class, count)| (class, counted(count, class)))
        .collect()
}

impl Group<'_, '_> {
    fn view(&self, pictures: &mut Budget) -> View {
        if self.picture.is_empty() {
            return View::Nothing(match self.first.first().map(|host| &host.network) {
                Some(HostNetwork::Unreadable) => "Its network cannot be read.",
                _ => "Its source has no network for it.",
            });
        }
        View::of(&self.picture, pictures)
    }

    fn entry(self, view: View, budget: &mut Budget) -> Entry {
        let lists = match &self.findings[..] {
            [] => Vec::new(),
            findings => vec![finding::list(findings, budget)],
        };
        let (cluster, role) = (cluster(&self.first), role(&self.first));
        let rules = self.findings.iter().map(|finding| finding.rule.name).take(finding::MOST);
        let words = entry::words([&*cluster].into_iter().chain(rules));
        let labels = finding_labels(&self.findings);
        let is_open = !self.findings.is_empty();
        Entry { hosts: self.hosts, cluster, role, labels, words, lists, view, is_open }
    }
}

fn title(row: &[&Host]) -> String {
    let host = row.first();
    let named = host.and_then(|host| {
        let title = show::title(host, host.document()?);
        // The cluster is the section's title.
        let cluster = host.cluster.as_deref().map(|name| format!("{name}: "));
        let short = cluster.and_then(|cluster| title.strip_prefix(&cluster).map(str::to_owned));
        Some(short.unwrap_or(title))
    });
    let named = named.or_else(|| host?.name.clone());
    printable(&named.unwrap_or_else(|| "a host without a name".to_owned()))
}

fn file(row: &[&Host]) -> String {
    let mut files: Vec<&str> = row.iter().map(|host| &*host.place.file).collect();
    files.dedup();
    printable(&files.join(", "))
}

/// The first host's; documents that name no cluster are together by their directory.
fn cluster(row: &[&Host]) -> String {
    let name = row.iter().find_map(|host| host.cluster.as_deref());
    let directory = || {
        let file = &*row.first()?.place.file;
        file.rsplit_once('/').map(|(directory, _)| directory)
    };
    printable(name.or_else(directory).unwrap_or("Hosts"))
}

fn role(row: &[&Host]) -> String {
    printable(row.iter().find_map(|host| host.role.as_deref()).unwrap_or(""))
}

#[cfg(test)]
mod tests {
    use nmgen_core::source::HostNetwork;
    use nmgen_document::text::Source;

    use super::*;

    /// Hosts of one interface each, with a name of its own.
    fn hosts(count: usize) -> Hosts {
        let host = |number| {
            let text = format!("interfaces: [{{name: eno{number}, type: ethernet}}]");
            let source = Source { name: format!("{number}.yml").into(), text: text.into() };
            let document =
                nmgen_document::parse(&source).unwrap_or_else(|it| unreachable!("{it:?}"));
            let host = Host::new(Some(format!("host-{number}")), Place::file(source.name.clone()));
            Host { network: HostNetwork::Written(document.into_owned()), ..host }
        };
        Hosts { hosts: (0..count).map(host).collect(), ..Hosts::default() }
    }

    #[test]
    fn a_page_without_room_for_all_pictures_tells_it() {
        let hosts = hosts(9);
        let page = |pictures| {
            let bounds = Bounds { pictures, ..PAGE };
            within(&hosts, &[], &["hosts".to_owned()], bounds)
        };
        let picture = Picture::of(&picture::rows(&hosts.hosts)[0]).stages()[0].len();
        let legend = 1;
        let page_of_four = page(4 * picture + picture / 2);
        assert_eq!(page_of_four.matches("<svg").count(), 4 + legend);
        assert_eq!(page_of_four.matches("<details class=\"host\"").count(), 9);
        assert_eq!(
            page_of_four.matches("The page has no room for its picture").count(),
            5,
            "{page_of_four}"
        );
        assert_eq!(page(PAGE.pictures).matches("<svg").count(), 9 + legend);
    }
}
