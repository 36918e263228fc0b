//! A report for people: tables, and at most a few names of each row.

use nmgen_document::format::cut;
use nmgen_fleet::report::{Node, Report, short};

/// Names in a row.
const SHOWN: usize = 4;

/// The longest cell in bytes, and the longest sentence; the JSON has more.
const CELL: usize = 100;
const SENTENCE: usize = 1000;

/// Rows of groups and of nodes that are late; the JSON has all.
const ROWS: usize = 20;

pub(super) fn text(nodes: &[Node], report: &Report) -> String {
    let named = |of: &[usize]| {
        let first: Vec<&str> = of.iter().take(SHOWN).map(|index| &*nodes[*index].name).collect();
        let more = of.len().saturating_sub(SHOWN);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        first.join(" ") + &more
    };
    let outcomes = report.outcomes.iter().map(|outcome| {
        let reason = outcome.reason.clone().unwrap_or_default();
        // Nobody looks for the names of nodes that are well.
        let names = if outcome.good { String::new() } else { named(&outcome.nodes) };
        [outcome.verdict.clone(), reason, outcome.nodes.len().to_string(), names]
    });
    let mut text = table(["OUTCOME", "REASON", "NODES", ""], &outcomes.collect::<Vec<_>>());
    let more = |all: usize| {
        let more = all.saturating_sub(ROWS);
        if more > 0 { format!("  and {more} more\n") } else { String::new() }
    };
    if !report.groups.is_empty() {
        text += "\nalike:\n";
        for group in report.groups.iter().take(ROWS) {
            text += &format!(
                "  {}  {}\n      {}\n",
                group.nodes.len(),
                shortened(&group.words, SENTENCE),
                named(&group.nodes)
            );
        }
        text += &more(report.groups.len());
    }
    if !report.late.is_empty() {
        text += "\nlate:\n";
        for late in report.late.iter().take(ROWS) {
            text += &format!("  {}  {}\n", nodes[late.node].name, shortened(&late.why, SENTENCE));
        }
        text += &more(report.late.len());
    }
    if !report.documents.is_empty() {
        let rows = report.documents.iter().map(|document| {
            let digest = document.digest.as_deref().map(short).unwrap_or_default();
            let role = document.role.clone().unwrap_or_default();
            [role, document.document.clone(), digest.to_owned(), document.nodes.len().to_string()]
        });
        text += "\n";
        text += &table(["ROLE", "DOCUMENT", "DIGEST", "NODES"], &rows.collect::<Vec<_>>());
    }
    text
}

fn shortened(text: &str, bytes: usize) -> String {
    if text.len() <= bytes { text.to_owned() } else { format!("{}…", cut(text, bytes)) }
}

/// Columns as wide as their longest cell; none for a column without any.
fn table<const N: usize>(head: [&str; N], rows: &[[String; N]]) -> String {
    let rows: Vec<[String; N]> =
        rows.iter().map(|row| row.each_ref().map(|cell| shortened(cell, CELL))).collect();
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        let widest = cells.max().unwrap_or_default();
        if widest == 0 { 0 } else { widest.max(head[column].chars().count()) }
    };
    let widths: [usize; N] = std::array::from_fn(width);
    let line = |cells: [&str; N]| {
        let shown = cells.iter().zip(widths).filter(|(_, width)| *width > 0);
        let padded: Vec<String> = shown.map(|(cell, width)| format!("{cell:width$}")).collect();
        padded.join("  ").trim_end().to_owned() + "\n"
    };
    let head = line(head);
    let rows = rows.iter().map(|row| line(std::array::from_fn(|column| &*row[column])));
    head + &rows.collect::<String>()
}
