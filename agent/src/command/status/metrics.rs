//! The status as metrics in Prometheus's text format, for the textfile collector of node_exporter.
//!
//! A word is a label of a metric that is 1: at the next scrape the series of the former word is gone.

use super::{
    page::once,
    report::NodeStatus,
    verdict::{Assessment, Code},
};
const MILLISECONDS: f64 = 1000.0;
const MICROSECONDS: f64 = 1_000_000.0;

#[derive(Default)]
struct Metrics(String);

impl Metrics {
    /// A gauge with its samples; one without a sample is left out.
    fn gauge<'l, const N: usize>(
        &mut self,
        name: &str,
        help: &str,
        samples: impl IntoIterator<Item = ([(&'l str, &'l str); N], f64)>,
    ) {
        let mut is_first = true;
        for (labels, value) in samples {
            if std::mem::take(&mut is_first) {
                self.0 += &format!("# HELP {name} {help}\n# TYPE {name} gauge\n");
            }
            let labels = labels.map(|(key, text)| format!("{key}=\"{}\"", escaped(text)));
            let labels = if N == 0 { String::new() } else { format!("{{{}}}", labels.join(",")) };
            self.0 += &format!("{name}{labels} {value}\n");
        }
    }

    /// A gauge of one number; `None` is left out.
    fn number(&mut self, name: &str, help: &str, value: impl Into<Option<f64>>) {
        self.gauge(name, help, value.into().map(|number| ([], number)));
    }

    fn truth(&mut self, name: &str, help: &str, is_so: bool) {
        self.number(name, help, f64::from(u8::from(is_so)));
    }
}

/// A label's value: text of others, on one line.
fn escaped(text: &str) -> String {
    nmgen::printable(text).replace('\\', "\\\\").replace('"', "\\\"")
}

/// Seconds since 1970, of a moment that was.
#[allow(
    clippy::cast_precision_loss,
    reason = "milliseconds since 1970 are exact for 285,000 years"
)]
fn seconds(milliseconds: u64) -> Option<f64> {
    (milliseconds > 0).then_some(milliseconds as f64 / MILLISECONDS)
}

#[allow(clippy::cast_precision_loss, reason = "a list has fewer parts")]
fn count<T>(all: &[T]) -> f64 {
    all.len() as f64
}

pub(super) fn metrics(assessment: &Assessment, node: &NodeStatus) -> String {
    let NodeStatus { report, chosen, .. } = node;
    let (boot, row) = (&report.boot, assessment.verdict.row());
    let mut metrics = Metrics::default();
    metrics.gauge(
        "dayone_build_info",
        "The agent's version.",
        [([("version", env!("CARGO_PKG_VERSION"))], 1.0)],
    );
    metrics.truth(
        "dayone_in_force",
        "Whether the node's network is as its document wants: dayone status exits with 0.",
        row.is_good(),
    );
    let reason = assessment.code.map_or("", Code::text);
    metrics.gauge(
        "dayone_verdict",
        "The first words of dayone status, with their reason.",
        [([("verdict", row.word), ("reason", reason)], 1.0)],
    );
    metrics.gauge(
        "dayone_outcome",
        "How far the run of this boot is, or how it ended.",
        [([("outcome", &*boot.outcome.name())], 1.0)],
    );
    let digest =
        chosen.document.as_ref().map(|document| document.digest.to_string()).unwrap_or_default();
    let document = chosen.document.as_ref().map(|document| document.path.display().to_string());
    metrics.gauge(
        "dayone_document_info",
        "The node's document, with the SHA-256 of its bytes.",
        document
            .iter()
            .map(|path| ([("document", path.as_str()), ("digest", digest.as_str())], 1.0)),
    );
    metrics.truth("dayone_boot_held", "Whether kubelet waits for the network.", report.held);
    metrics.truth(
        "dayone_document_pending",
        "Whether the document waits for the next boot.",
        report.pending.is_some(),
    );
    metrics.truth(
        "dayone_document_refused",
        "Whether the next boot will refuse the document.",
        report.refused.is_some(),
    );
    let drifted = count(&report.drift) + count(&report.saved);
    metrics.number(
        "dayone_drifted_parts",
        "Parts of the document that the network, or a saved profile, lacks; only of a document in force, and as far as it is known.",
        (report.in_force && report.drift_unknown.is_none()).then_some(drifted),
    );
    metrics.number(
        "dayone_document_failures",
        "Attempts of this document that have failed in a row.",
        node.failures().map_or(0.0, |failures| failures.count.into()),
    );
    metrics.number(
        "dayone_run_start_time_seconds",
        "Start of this boot's last run, since 1970.",
        seconds(boot.started),
    );
    metrics.number(
        "dayone_run_end_time_seconds",
        "Its end, since 1970.",
        boot.finished.and_then(seconds),
    );
    let rounded = |time: f64| (time / MILLISECONDS * MICROSECONDS).round() / MICROSECONDS;
    let phases: Vec<(String, f64)> = once(&boot.phases)
        .iter()
        .map(|(done, _)| (done.phase.name(), rounded(done.milliseconds)))
        .collect();
    metrics.gauge(
        "dayone_phase_duration_seconds",
        "Time that a phase of this run took, all its turns.",
        phases.iter().map(|(phase, time)| ([("phase", phase.as_str())], *time)),
    );
    metrics.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_has_one_line_and_ends_at_its_quotation_mark() {
        assert_eq!(escaped("a\"b\\c\nd"), "a\\\"b\\\\c\u{fffd}d");
    }

    #[test]
    fn a_metric_without_a_sample_is_not_there() {
        let mut metrics = Metrics::default();
        metrics.number("a", "A.", None);
        metrics.truth("b", "B.", true);
        metrics.gauge("c", "C.", [([("d", "e"), ("f", "g")], 0.25)]);
        let text = "# HELP b B.\n# TYPE b gauge\nb 1\n# HELP c C.\n# TYPE c gauge\nc{d=\"e\",f=\"g\"} 0.25\n";
        assert_eq!(metrics.0, text);
    }
}
