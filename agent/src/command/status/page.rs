//! The status for people: the verdict, the reason, what to do; then the details.

use std::fmt;

use super::{
    report::{NodeStatus, TrialReport},
    verdict::{Assessment, Tone, outcome},
};
use crate::{
    model::ProbeResult,
    status::{Open, Outcome, Status, progress::Done, trial::TrialState},
};

/// The width of a console without a size of its own.
const WIDTH: usize = 80;
const KEY: usize = 10;

/// `key: value`, the value on as many lines as it needs; words are never cut.
fn entry(key: &str, value: &str) -> String {
    let indent = KEY + 2;
    let mut lines = wrapped(value, WIDTH - indent).into_iter();
    let mut text = format!("{key:>KEY$}: {}\n", lines.next().unwrap_or_default());
    for line in lines {
        text.push_str(&format!("{:indent$}{line}\n", ""));
    }
    text
}

/// An [`entry`] for each value.
fn entries<T: fmt::Display>(key: &str, values: impl IntoIterator<Item = T>) -> String {
    values.into_iter().map(|value| entry(key, &value.to_string())).collect()
}

/// Lines of at most `width` characters; a longer word has a line of its own. Control characters, which a
/// name in a document may have, do not reach the terminal.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace().map(nmgen::printable) {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => lines.push(word),
        }
    }
    lines
}

pub(super) fn page(assessment: &Assessment, node: &NodeStatus, coloured: bool) -> String {
    let mut page = String::new();
    for line in wrapped(&assessment.line, WIDTH) {
        page += &format!("{}\n", painted(coloured, assessment.verdict.row().tone, &line));
    }
    let next = if assessment.next.is_empty() {
        String::new()
    } else {
        format!("Next: {}", assessment.next)
    };
    for text in [&assessment.reason, &next] {
        wrapped(text, WIDTH).iter().for_each(|line| page += &format!("{line}\n"));
    }
    page.push('\n');
    document(&mut page, node, &assessment.reason);
    run(&mut page, node, coloured);
    state(&mut page, node);
    page += &entry("in force", &in_force(node));
    page
}

/// The choice; a warning that is the verdict's reason is not repeated.
fn document(page: &mut String, node: &NodeStatus, reason: &str) {
    let NodeStatus { report, chosen, .. } = node;
    match &chosen.document {
        Some(document) => {
            *page += &entry("document", &document.path.display().to_string());
            *page += &entry("digest", &document.digest.to_string());
        }
        None => *page += &entry("document", "none"),
    }
    if chosen.reason != reason {
        *page += &entry("chosen", &chosen.reason);
    }
    let boot = &report.boot;
    if let Some(bridge) = report.bridge() {
        *page += &entry("bridge", &boot.reason);
        *page += &entry("profiles", &bridge.profiles.join(", "));
        *page += &entries("warning", &bridge.losses);
    }
    let of_boot = boot.warnings.iter().filter(|warning| !chosen.warnings.contains(warning));
    let warnings = chosen.warnings.iter().chain(of_boot).filter(|warning| *warning != reason);
    *page += &entries("warning", warnings);
}

/// This boot's run.
fn run(page: &mut String, node: &NodeStatus, coloured: bool) {
    let boot = &node.report.boot;
    *page += &entry("this boot", outcome(boot));
    if !boot.phases.is_empty() {
        *page += &marked(coloured, &entry("phases", &timeline(&boot.phases)));
    }
    *page += &marked(coloured, &probes(boot));
    for probe in boot.probes_before.iter().chain(&boot.probes_after) {
        if let Some(warning) = &probe.warning {
            *page += &entry("warning", &format!("{}: {warning}", probe.name));
        }
    }
    *page += &entries("last good", &boot.last_good);
}

/// The state of the document, and what is to be said of it.
fn state(page: &mut String, node: &NodeStatus) {
    let report = &node.report;
    if let Some(failures) = node.failures() {
        let digest = failures.digest.to_string();
        *page += &entry("failures", &format!("{} of document {digest:.12}", failures.count));
    }
    *page += &entries("pending", &report.pending);
    *page += &entries("refused", &report.refused);
    *page += &entries("saved", &report.saved);
    *page += &entries("adopted", &report.adopted);
    *page += &entries("next boot", &report.units);
    *page += &entries("gateway", &report.silent);
    *page += &entries("mtu", &report.mtu_migration);
    *page += &entries("kubelet", &report.kubelet);
    *page += &entries("route", &report.added_routes);
    *page += &entries("trial", report.trial.as_ref().map(trial));
    *page += &entries("removed", report.removed.as_ref().map(|path| path.display()));
}

/// Returns whether the document is in force, in words.
fn in_force(node: &NodeStatus) -> String {
    let NodeStatus { report, chosen, .. } = node;
    match (report.in_force, &report.drift_unknown, report.drift.is_empty()) {
        _ if report.not_recorded => "yes, but not recorded".to_owned(),
        (false, _, _) if report.boot.last_good_in_force => {
            "no, the last good configuration is".to_owned()
        }
        (false, _, _)
            if report.pending.is_some()
                && node.record.committed.is_some()
                && matches!(report.boot.outcome, Outcome::Succeeded(_)) =>
        {
            "no, the document of the last commit is".to_owned()
        }
        (false, _, _) => "no".to_owned(),
        (true, _, _) if matches!(report.boot.outcome, Outcome::Failed(_)) && !node.is_back() => {
            "no; it was committed before the failure".to_owned()
        }
        (true, _, _)
            if node.record.committed.is_some()
                && report.boot.outcome == Outcome::Open(Open::Running) =>
        {
            "committed; the run of this boot has no end".to_owned()
        }
        (true, _, _) if report.held => "committed; the boot waits for its network".to_owned(),
        (true, Some(why), _) => format!("committed; drift unknown: {why}"),
        (true, None, false) => format!("drifted: {}", report.drift.join(", ")),
        (true, None, true) if chosen.document.is_none() && report.boot.bridge.is_none() => {
            "there is nothing to be in force".to_owned()
        }
        (true, None, true) if report.adopted.is_some() => "yes, with an adopted change".to_owned(),
        (true, None, true) => "yes".to_owned(),
    }
}

/// The state of a trial in words.
fn trial(tried: &TrialReport) -> String {
    let document = tried.trial.document.display();
    let reason = tried.trial.reason.as_deref().unwrap_or_default();
    match tried.trial.state {
        TrialState::Asked => format!("{document}, not begun"),
        TrialState::Applying => format!("{document}, being applied"),
        TrialState::Waiting => {
            format!("{document}, {} s left", tried.left.unwrap_or_default())
        }
        TrialState::Confirmed => format!("{document}, confirmed until the next boot"),
        TrialState::Undone => format!("{document}, over, the old network is back: {reason}"),
        TrialState::Failed => format!("{document}, failed, nothing was changed: {reason}"),
        TrialState::RollBackFailed => {
            format!("{document}, over, the old network is not back: {reason}")
        }
    }
}

/// Each phase once, in the order in which they first ended, with the sum of its times and their number.
pub(super) fn once(phases: &[Done]) -> Vec<(Done, usize)> {
    let mut once: Vec<(Done, usize)> = Vec::new();
    for done in phases {
        match once.iter_mut().find(|(earlier, _)| earlier.phase == done.phase) {
            Some((earlier, times)) => {
                earlier.ok &= done.ok;
                earlier.milliseconds += done.milliseconds;
                *times += 1;
            }
            None => once.push((done.clone(), 1)),
        }
    }
    once
}

fn timeline(phases: &[Done]) -> String {
    let one = |(done, times): &(Done, usize)| {
        let times = if *times > 1 { format!(" ({times} times)") } else { String::new() };
        let failed = if done.ok { "" } else { " FAILED" };
        format!("{} {}{times}{failed}", done.phase.name(), time(done.milliseconds))
    };
    once(phases).iter().map(one).collect::<Vec<_>>().join(" > ")
}

fn time(milliseconds: f64) -> String {
    match milliseconds {
        small if small < 10.0 => format!("{small:.1} ms"),
        some if some < 1000.0 => format!("{some:.0} ms"),
        long => format!("{:.1} s", long / 1000.0),
    }
}

/// A line a probe, before and after; the reason of each silence below it.
fn probes(boot: &Status) -> String {
    let (before, after) = (&boot.probes_before, &boot.probes_after);
    let only_after = after
        .iter()
        .filter(|probe_result| !before.iter().any(|other| other.name == probe_result.name));
    let rows: Vec<&ProbeResult> = before.iter().chain(only_after).collect();
    if rows.is_empty() {
        return String::new();
    }
    // A width above 65,535 ends the program.
    let width = rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0).clamp(5, WIDTH);
    let mut table = format!("{:>10}: {:width$}  {:<10}  after\n", "probes", "probe", "before");
    for name in rows.iter().map(|row| &row.name) {
        let find =
            |probes: &'_ [ProbeResult]| probes.iter().find(|probe| probe.name == *name).cloned();
        let both = [find(before), find(after)];
        let [first, second] = both.each_ref().map(|probe| match probe {
            None => "not asked".to_owned(),
            Some(probe) if probe.ok => format!("ok {}", time(probe.milliseconds as f64)),
            Some(_) => "no answer".to_owned(),
        });
        table += format!("{:12}{name:width$}  {first:<10}  {second}", "").trim_end();
        table.push('\n');
        let silent = both.into_iter().flatten().filter(|probe| !probe.ok);
        let mut reasons: Vec<String> = silent.map(|probe| probe.detail).collect();
        reasons.dedup();
        for line in reasons.iter().flat_map(|reason| wrapped(reason, WIDTH - 14)) {
            table += &format!("{:14}{line}\n", "");
        }
    }
    table
}

/// Returns a text in the colour of its tone, on a terminal that has colours.
fn painted(coloured: bool, tone: Tone, text: &str) -> String {
    let start = match tone {
        Tone::Good => "\x1b[1;32m",
        Tone::Hint | Tone::Notice => "\x1b[1;33m",
        Tone::Bad => "\x1b[1;31m",
    };
    if coloured { format!("{start}{text}\x1b[0m") } else { text.to_owned() }
}

/// Marks failures within finished lines.
fn marked(coloured: bool, text: &str) -> String {
    let mark = |text: String, word: &str| text.replace(word, &painted(coloured, Tone::Bad, word));
    ["FAILED", "no answer"].iter().fold(text.to_owned(), |text, word| mark(text, word))
}

#[cfg(test)]
mod tests;
