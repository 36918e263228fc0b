//! The hosts of a fleet, with their findings.

use std::collections::HashMap;

use nmgen_core::show;
use nmgen_core::source::{Host, HostNetwork};
use nmgen_document::diagnostic::{Diagnostic, Place, Style};
use nmgen_document::format::{counted, printable};
use nmgen_document::text::Span;

use super::budget::{Bounds, Budget, PAGE};
use super::entry::{self, Entry, View};
use super::finding;
use super::frame::{self, Summary};
use crate::picture::{self, Row};
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
    let mut entries: Vec<Entry> =
        rows.iter().zip(&of_rows).map(|(row, its)| entry(row, its, &mut budget)).collect();
    draw(&rows, &mut entries, bounds);
    let machines = counted(rows.len(), "host");
    let (errors, warnings) = finding_counts(findings);
    let mut lines = vec![match findings {
        [] => format!("{machines}, no errors, no warnings."),
        _ => format!("{machines}, {errors}, {warnings}."),
    }];
    lines.extend(without_picture(&entries));
    let title = printable(&format!("Network of {}", sources.join(", ")));
    let only = Some("only hosts with findings").filter(|_| !findings.is_empty());
    frame::page(&Summary { title, lines, findings: others, only }, &entries)
}

/// Tells what the bounds of a page leave out.
pub(super) fn without_picture(entries: &[Entry]) -> Option<String> {
    let trees = entries.iter().filter(|entry| matches!(entry.view, View::Tree(_))).count();
    (trees > 0).then(|| {
        format!("{} are drawn as text: --host NAME draws one of them.", counted(trees, "host"))
    })
}

/// The findings of each row, and those of none.
fn by_row<'d>(
    rows: &[Row<'_>],
    findings: &'d [Diagnostic],
) -> (Vec<Vec<&'d Diagnostic>>, Vec<&'d Diagnostic>) {
    let (mut by_name, mut by_file) = (HashMap::<&str, Vec<usize>>::new(), HashMap::new());
    for (index, row) in rows.iter().enumerate() {
        for host in &row.hosts {
            by_file.entry(&*host.place.file).or_insert_with(Vec::new).push(index);
            if let Some(name) = host.name.as_deref() {
                by_name.entry(name).or_default().push(index);
            }
        }
    }
    let has_file =
        |row: &Row<'_>, file: &str| row.hosts.iter().any(|host| &*host.place.file == file);
    let has_line =
        |row: &Row<'_>, place: &Place| row.hosts.iter().any(|host| is_within(host, place));
    let row_of = |finding: &Diagnostic| {
        let file = &*finding.place.file;
        match finding.host.as_deref() {
            Some(name) => {
                let named = by_name.get(name)?;
                named.iter().find(|index| has_file(&rows[**index], file)).or(named.first()).copied()
            }
            None => match by_file.get(file)?[..] {
                [only] => Some(only),
                ref several => {
                    several.iter().find(|index| has_line(&rows[**index], &finding.place)).copied()
                }
            },
        }
    };
    let mut of_rows = vec![Vec::new(); rows.len()];
    let mut of_none = Vec::new();
    for finding in findings {
        match row_of(finding) {
            Some(index) => of_rows[index].push(finding),
            None => of_none.push(finding),
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

fn entry(row: &Row<'_>, findings: &[&Diagnostic], budget: &mut Budget) -> Entry {
    let (title, file) = (title(row), file(row));
    let errors = findings.iter().filter(|finding| finding.is_error()).count();
    let mut labels = Vec::new();
    for (class, count) in [("error", errors), ("warning", findings.len() - errors)] {
        if count > 0 {
            labels.push((class, counted(count, class)));
        }
    }
    let lists = match findings {
        [] => Vec::new(),
        _ => vec![finding::list(findings, budget)],
    };
    let (cluster, role) = (cluster(row), role(row));
    let names = [&*title, &*role, &*cluster, &*file].into_iter();
    let rules = findings.iter().flat_map(|finding| [finding.rule.name, &*finding.message]);
    let words = entry::words(names.chain(row.words()).chain(rules));
    let addresses = entry::addresses(row);
    let is_kept = !findings.is_empty();
    // Drawn later.
    let view = View::Nothing("");
    let is_open = is_kept;
    Entry { title, cluster, role, file, addresses, labels, words, lists, view, is_kept, is_open }
}

/// Pictures for hosts with findings first, as many as a page has room for.
fn draw(rows: &[Row<'_>], entries: &mut [Entry], bounds: Bounds) {
    let (mut pictures, mut trees) = (Budget(bounds.pictures), Budget(bounds.trees));
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by_key(|index| !entries[*index].is_kept);
    for index in order {
        entries[index].view = view(&rows[index], &mut pictures, &mut trees);
    }
}

fn view(row: &Row<'_>, pictures: &mut Budget, trees: &mut Budget) -> View {
    let Some(host) = row.hosts.first().filter(|_| row.has_picture()) else {
        return View::Nothing(match row.hosts.first().map(|host| &host.network) {
            Some(HostNetwork::Unreadable) => "Its network cannot be read.",
            _ => "Its source has no network for it.",
        });
    };
    if pictures.0 > 0 {
        let svg = row.svg();
        if pictures.has_room(&svg) {
            return View::Picture(svg);
        }
    }
    let tree = host
        .document()
        .map(|document| show::tree(&show::title(host, document), document, Style::Plain));
    match tree.filter(|tree| trees.has_room(tree)) {
        Some(tree) => View::Tree(tree),
        None => View::Nothing("The page has no room for it: --host NAME shows it."),
    }
}

fn title(row: &Row<'_>) -> String {
    let host = row.hosts.first();
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

fn file(row: &Row<'_>) -> String {
    let mut files: Vec<&str> = row.hosts.iter().map(|host| &*host.place.file).collect();
    files.dedup();
    printable(&files.join(", "))
}

/// The first host's; documents that name no cluster are together by their directory.
fn cluster(row: &Row<'_>) -> String {
    let name = row.hosts.iter().find_map(|host: &&Host| host.cluster.as_deref());
    let directory = || {
        let file = &*row.hosts.first()?.place.file;
        file.rsplit_once('/').map(|(directory, _)| directory)
    };
    printable(name.or_else(directory).unwrap_or("Hosts"))
}

fn role(row: &Row<'_>) -> String {
    printable(row.hosts.iter().find_map(|host| host.role.as_deref()).unwrap_or(""))
}

fn finding_counts(findings: &[Diagnostic]) -> (String, String) {
    let errors = findings.iter().filter(|finding| finding.is_error()).count();
    (counted(errors, "error"), counted(findings.len() - errors, "warning"))
}

#[cfg(test)]
mod tests {
    use nmgen_core::source::HostNetwork;
    use nmgen_document::text::Source;

    use super::*;

    /// Hosts alike, each with a picture of some kilobytes.
    fn hosts(count: usize) -> Hosts {
        let host = |number| {
            let text = "interfaces: [{name: eno1, type: ethernet}]";
            let source = Source { name: format!("{number}.yml").into(), text: text.into() };
            let document =
                nmgen_document::parse(&source).unwrap_or_else(|it| unreachable!("{it:?}"));
            let host = Host::new(Some(format!("host-{number}")), Place::file(source.name.clone()));
            Host { network: HostNetwork::Written(document.into_owned()), ..host }
        };
        Hosts { hosts: (0..count).map(host).collect(), ..Hosts::default() }
    }

    #[test]
    fn a_page_without_room_for_all_pictures_has_trees_and_tells_it() {
        let hosts = hosts(9);
        let page = |pictures, trees| {
            let bounds = Bounds { pictures, trees, ..PAGE };
            within(&hosts, &[], &["hosts".to_owned()], bounds)
        };
        let picture = picture::rows(&hosts.hosts)[0].svg().len();
        let page_of_four = page(4 * picture + picture / 2, PAGE.trees);
        assert_eq!(page_of_four.matches("<svg").count(), 4);
        assert_eq!(page_of_four.matches("<details").count(), 9);
        assert_eq!(page_of_four.matches("eno1  ethernet").count(), 5, "{page_of_four}");
        assert!(page_of_four.contains("<p>5 hosts are drawn as text"), "{page_of_four}");
        assert_eq!(page(PAGE.pictures, 0).matches("<svg").count(), 9);
        let without_trees = page(0, 1);
        assert!(!without_trees.contains("eno1  ethernet"));
        assert_eq!(without_trees.matches("The page has no room for it").count(), 9);
    }
}
