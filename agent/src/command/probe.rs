//! `dayone probe`: the wire now, without a change.

use std::time::Duration;

use serde::Serialize;

use super::{
    output::{as_json, print_page},
    status::wrapped,
};
use crate::{
    cli::Form,
    client::netlink::Netlink,
    error::{Error, Result},
    network::NetworkError,
    paths::Paths,
    probe::wire::{self, Asked, Finding, Verdict, Wire},
    run::in_force::wants_of_document,
    settings::Usable,
};

/// The lines of a console, without the next prompt.
const LINES: usize = 24;
const WIDTH: usize = 80;
/// The least bound: a setting for the haste of an apply is none for a person's question.
const LEAST: Duration = Duration::from_secs(15);
/// The width of a result and of a probe's name.
const RESULT: usize = 8;
const NAME: usize = 10;

/// `dayone probe --format json`; `doc/probe.schema.json` describes it.
#[derive(Debug, Serialize)]
struct ProbeReport {
    schema: u32,
    ok: bool,
    findings: Vec<Finding>,
}

/// Asks and prints.
pub(crate) async fn probe(paths: &Paths, form: Form) -> Result {
    let settings = Usable::load(paths).told();
    let netlink = Netlink::connect().map_err(NetworkError::from)?;
    let bound = settings.timeout.probe.get().max(LEAST);
    // The gateways of its routes are asked anyway.
    let (wants, is_in_force) = wants_of_document(paths, &netlink).await?;
    let gateways = if is_in_force { Vec::new() } else { wants.planned_gateways() };
    let asked = Asked { gateways, ..Asked::of(&settings.probe) };
    let wires = [&Wire::ALL[..], &[Wire::Gateway]].concat();
    let look = wire::look(&wires, &asked, paths, &netlink);
    let late = |_| NetworkError::NotReady { what: "the probes of the wire".to_owned(), bound };
    let mut findings =
        tokio::time::timeout(bound, look).await.map_err(late)?.map_err(NetworkError::from)?;
    findings.sort_by_key(|finding| finding.result);
    let failed = findings.iter().filter(|finding| finding.result == Verdict::Failed).count();
    let report = ProbeReport { schema: 1, ok: failed == 0, findings };
    print_page(&match form {
        Form::Text => page(&report.findings),
        Form::Json => as_json(&report)?,
    })?;
    if failed == 0 { Ok(()) } else { Err(Error::Wire { failed }) }
}

/// Failures come first, and a console of 25 lines has all of the page.
fn page(findings: &[Finding]) -> String {
    let count = |result| findings.iter().filter(|finding| finding.result == result).count();
    let (failed, unknown) = (count(Verdict::Failed), count(Verdict::Unknown));
    let first = match (failed, findings.len()) {
        (_, 0) => "WIRE: nothing to ask: no bond, no VLAN, no address, no default route".to_owned(),
        (0, all) => format!("WIRE OK: {} of {all} answer as they should", all - unknown),
        (failed, all) => format!("WIRE FAILED: {failed} of {all}"),
    };
    let mut lines = vec![first];
    for finding in findings {
        let result = match finding.result {
            Verdict::Failed => "FAILED",
            Verdict::Unknown => "unknown",
            Verdict::Ok => "ok",
        };
        let next = finding.next.as_ref().map(|next| format!("Next: {next}"));
        let texts = [Some(finding.detail.clone()), next];
        let indent = RESULT + NAME;
        let texts = texts.iter().flatten().flat_map(|text| wrapped(text, WIDTH - indent));
        for (row, text) in texts.enumerate() {
            lines.push(match row {
                0 => format!("{result:RESULT$}{:NAME$}{text}", finding.probe.name()),
                _ => format!("{:indent$}{text}", ""),
            });
        }
    }
    if lines.len() > LINES {
        let left = lines.len() - (LINES - 1);
        lines.truncate(LINES - 1);
        lines.push(format!("... {left} more lines: dayone probe --format json"));
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(result: Verdict) -> Finding {
        let next = (result == Verdict::Failed).then(|| "check the cable at ".repeat(6));
        let detail = "VLAN 104 of eno1 does not answer ".repeat(4);
        let target = "eno1.104".to_owned();
        Finding { probe: Wire::Duplicate, target, result, detail, next, milliseconds: 7 }
    }

    #[test]
    fn a_page_fits_a_console() {
        for count in [0, 1, 3, 40] {
            let mut findings = vec![finding(Verdict::Failed); count];
            findings.extend(vec![finding(Verdict::Ok); count]);
            let page = page(&findings);
            assert!(page.lines().count() <= LINES, "{page}");
            assert!(page.lines().all(|line| line.chars().count() <= WIDTH), "{page}");
            assert_eq!(page.contains("more lines"), count > 2, "{page}");
            assert_eq!(page.starts_with("WIRE FAILED"), count > 0, "{page}");
        }
        let page = page(&[finding(Verdict::Unknown), finding(Verdict::Ok)]);
        assert!(page.starts_with("WIRE OK: 1 of 2 answer"), "{page}");
    }
}
