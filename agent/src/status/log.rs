//! Logging: as a service to the journal with structured fields, else to stderr.

use std::{
    fs::File,
    io::{IsTerminal, Write as _},
    sync::{Mutex, mpsc},
    thread,
    time::Duration,
};

use tracing::field::Field;
use tracing_subscriber::{
    Layer as _,
    field::MakeExt as _,
    filter::{LevelFilter, Targets},
    fmt::{MakeWriter as _, format},
    layer::SubscriberExt as _,
    util::SubscriberInitExt as _,
};

use crate::library_log;

/// One id per outcome, for `journalctl MESSAGE_ID=…` and catalog entries.
pub(crate) mod message_id {
    /// The document was committed.
    pub(crate) const COMMITTED: &str = "6f0d2f6a4e0b4b7c9b3f9a1f5d6c7e01";
    /// The document was in force already.
    pub(crate) const UNCHANGED: &str = "6f0d2f6a4e0b4b7c9b3f9a1f5d6c7e02";
    /// This node has no document.
    pub(crate) const NOTHING: &str = "6f0d2f6a4e0b4b7c9b3f9a1f5d6c7e03";
    /// The document failed before any change.
    pub(crate) const FAILED: &str = "6f0d2f6a4e0b4b7c9b3f9a1f5d6c7e04";
    /// The document was rolled back.
    pub(crate) const ROLLED_BACK: &str = "6f0d2f6a4e0b4b7c9b3f9a1f5d6c7e05";
    /// The roll back failed.
    pub(crate) const ROLL_BACK_FAILED: &str = "6f0d2f6a4e0b4b7c9b3f9a1f5d6c7e06";
    /// The document failed, and the boot goes on.
    pub(crate) const GOES_ON: &str = "6f0d2f6a4e0b4b7c9b3f9a1f5d6c7e08";
    /// An unfinished transaction was undone.
    pub(crate) const RECOVERED: &str = "6f0d2f6a4e0b4b7c9b3f9a1f5d6c7e07";
    /// Another tool has put the document in force; it was recorded.
    pub(crate) const ADOPTED: &str = "6f0d2f6a4e0b4b7c9b3f9a1f5d6c7e0a";
    /// The new network is in force, and its record is not written.
    pub(crate) const NOT_RECORDED: &str = "6f0d2f6a4e0b4b7c9b3f9a1f5d6c7e0b";
    /// The file of the document in force is gone.
    pub(crate) const REMOVED: &str = "6f0d2f6a4e0b4b7c9b3f9a1f5d6c7e09";
    /// The automatic br-ex was committed.
    pub(crate) const BRIDGE_COMMITTED: &str = "6f0d2f6a4e0b4b7c9b3f9a1f5d6c7e21";
    /// The automatic br-ex was there already.
    pub(crate) const BRIDGE_UNCHANGED: &str = "6f0d2f6a4e0b4b7c9b3f9a1f5d6c7e22";
    /// The automatic br-ex is not the agent's affair.
    pub(crate) const BRIDGE_NOTHING: &str = "6f0d2f6a4e0b4b7c9b3f9a1f5d6c7e23";
    /// The automatic br-ex failed before any change.
    pub(crate) const BRIDGE_FAILED: &str = "6f0d2f6a4e0b4b7c9b3f9a1f5d6c7e24";
    /// The automatic br-ex was rolled back.
    pub(crate) const BRIDGE_ROLLED_BACK: &str = "6f0d2f6a4e0b4b7c9b3f9a1f5d6c7e25";
    /// The roll back of the automatic br-ex failed.
    pub(crate) const BRIDGE_ROLL_BACK_FAILED: &str = "6f0d2f6a4e0b4b7c9b3f9a1f5d6c7e26";
    /// The automatic br-ex failed, and the boot goes on.
    pub(crate) const BRIDGE_GOES_ON: &str = "6f0d2f6a4e0b4b7c9b3f9a1f5d6c7e28";
    /// A document on trial is applied and waits for its confirmation.
    pub(crate) const TRIAL_WAITS: &str = "6f0d2f6a4e0b4b7c9b3f9a1f5d6c7e31";
    /// A trial was confirmed.
    pub(crate) const TRIAL_CONFIRMED: &str = "6f0d2f6a4e0b4b7c9b3f9a1f5d6c7e32";
    /// A trial failed before any change.
    pub(crate) const TRIAL_FAILED: &str = "6f0d2f6a4e0b4b7c9b3f9a1f5d6c7e34";
    /// A trial ended, and the old network is back.
    pub(crate) const TRIAL_UNDONE: &str = "6f0d2f6a4e0b4b7c9b3f9a1f5d6c7e35";
    /// The old network did not come back after a trial.
    pub(crate) const TRIAL_STAYS: &str = "6f0d2f6a4e0b4b7c9b3f9a1f5d6c7e36";
    /// The node is not as its document wants; once for each reason.
    pub(crate) const UNHEALTHY: &str = "6f0d2f6a4e0b4b7c9b3f9a1f5d6c7e41";
    /// The node is as its document wants again.
    pub(crate) const HEALTHY: &str = "6f0d2f6a4e0b4b7c9b3f9a1f5d6c7e42";
    /// A change of the network in force was adopted, or is drift again.
    pub(crate) const CHANGE_ADOPTED: &str = "6f0d2f6a4e0b4b7c9b3f9a1f5d6c7e43";
    /// A document waits for the next boot.
    pub(crate) const PENDING: &str = "6f0d2f6a4e0b4b7c9b3f9a1f5d6c7e12";
    /// The document that waits for the next boot would be refused.
    pub(crate) const REFUSED: &str = "6f0d2f6a4e0b4b7c9b3f9a1f5d6c7e13";
}

/// Whether systemd started the agent: stderr then goes to the journal.
pub(crate) fn is_service() -> bool {
    std::env::var_os("JOURNAL_STREAM").is_some() || std::env::var_os("NOTIFY_SOCKET").is_some()
}

/// Whether output to `stream` is coloured: on a terminal that has colours, unless `NO_COLOR`
/// (no-color.org) is set.
pub(crate) fn is_coloured(stream: &impl IsTerminal) -> bool {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    stream.is_terminal() && !is_dumb && !is_set("NO_COLOR")
}

/// What a command writes beside the journal of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Log {
    /// It may change the network: the journal gets everything, and a terminal the warnings.
    OfChanges,
    /// Its first line is the verdict: warnings follow at the end of the command, by [`finish`].
    AfterVerdict,
    Plain,
}

/// Warnings that follow the verdict, kept back until [`finish`].
static LATER: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Writes what was kept back.
pub(crate) fn finish() {
    let kept = LATER.lock().map(|mut kept| std::mem::take(&mut *kept)).unwrap_or_default();
    let _ = std::io::stderr().write_all(&kept);
}

/// The warnings of a run by hand, each with its error, as lines of its terminal. What ends a run says so itself.
struct Terminal;

impl<S: tracing::Subscriber> tracing_subscriber::Layer<S> for Terminal {
    fn on_event(
        &self,
        event: &tracing::Event<'_>,
        _context: tracing_subscriber::layer::Context<'_, S>,
    ) {
        if event.metadata().fields().field("dayone_exit").is_none() {
            let mut words = String::new();
            event.record(&mut |field: &Field, value: &dyn std::fmt::Debug| match field.name() {
                "message" => words.insert_str(0, &format!("{value:?}")),
                "error" => words.push_str(&format!(": {value:?}")),
                _ => {}
            });
            console(Tone::Plain, &[words]);
        }
    }
}

/// Starts logging; `DAYONE_LOG` (error, warn, info, debug, trace) sets the level, default info, and brings all of it to a terminal
/// too.
pub(crate) fn start(log: Log) {
    let asked: Option<LevelFilter> =
        std::env::var("DAYONE_LOG").ok().and_then(|level| level.parse().ok());
    let level = asked.unwrap_or(LevelFilter::INFO);
    let is_detailed = level > LevelFilter::INFO;
    let of_nmstate = |usual| if is_detailed { level } else { usual };
    let ours = Targets::new()
        // Libraries log warnings for normal events (a device without Wi-Fi, a closed subscription).
        .with_default(if is_detailed { LevelFilter::WARN } else { LevelFilter::ERROR })
        .with_target("dayone", level)
        .with_target("nmstate", of_nmstate(LevelFilter::WARN))
        // The debug form of an error, beside the error that nmstate returns.
        .with_target("nmstate::nm::nm_dbus::error", of_nmstate(LevelFilter::ERROR));
    let is_journal = is_service() || log == Log::OfChanges;
    let journal = if is_journal { tracing_journald::layer().ok() } else { None };
    let is_of_a_person = !is_service() && log == Log::OfChanges && asked.is_none();
    let is_plain = (!is_service() && !is_of_a_person) || journal.is_none();
    let terminal = (!is_plain && is_of_a_person).then(|| {
        let warnings = Targets::new().with_default(LevelFilter::ERROR);
        Terminal.with_filter(warnings.with_target("dayone", LevelFilter::WARN))
    });
    let journal = journal.map(|journal| {
        journal
            .with_field_prefix(None)
            .with_syslog_identifier("dayone".to_owned())
            .with_filter(ours.clone())
    });
    let plain = is_plain.then(|| {
        let shown = format::debug_fn(|writer, field, value| {
            let value = nmgen::printable(&format!("{value:?}"));
            match field.name() {
                "message" => write!(writer, "{value}"),
                name => write!(writer, "{name}={value}"),
            }
        });
        // Colours need a feature of the library, which says so on the terminal.
        tracing_subscriber::fmt::layer()
            .fmt_fields(shown.delimited(" "))
            .with_writer(move || -> Box<dyn std::io::Write> {
                match log {
                    Log::AfterVerdict => Box::new(LATER.make_writer()),
                    Log::OfChanges | Log::Plain => Box::new(std::io::stderr()),
                }
            })
            .with_target(false)
            .without_time()
            .with_filter(ours.clone())
    });
    tracing_subscriber::registry().with(journal).with(plain).with(terminal).init();
    if let Err(error) = library_log::start(ours) {
        tracing::warn!("records of libraries are lost: {error}");
    }
}

/// Severity of a console line.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Tone {
    Good,
    Bad,
    Plain,
}

/// Short lines for an operator at a node without a network: as a service on the console, else on
/// stderr. Coloured only on a terminal.
pub(crate) fn console(tone: Tone, lines: &[String]) {
    if is_service() {
        let lines = lines.to_vec();
        // A node without a console is normal; the journal has the full text.
        within(CONSOLE, move || {
            if let Ok(mut file) = File::options().write(true).open("/dev/console") {
                let colour = is_coloured(&file);
                let _ = file.write_all(summary(tone, &lines, colour).as_bytes());
            }
        });
    } else {
        let mut stderr = std::io::stderr();
        let colour = is_coloured(&stderr);
        let _ = stderr.write_all(summary(tone, lines, colour).as_bytes());
    }
}

/// A console that takes no byte, as a serial line which somebody has stopped or switched away, must not hold the boot.
const CONSOLE: Duration = Duration::from_secs(2);

/// Waits for the end of `work`, and leaves it alone after `bound`.
pub(crate) fn within(bound: Duration, work: impl FnOnce() + Send + 'static) {
    let (ended, end) = mpsc::channel();
    let work = move || {
        work();
        drop(ended);
    };
    if thread::Builder::new().spawn(work).is_ok() {
        let _: Result<(), _> = end.recv_timeout(bound);
    }
}

fn summary(tone: Tone, lines: &[String], colour: bool) -> String {
    let (start, end) = match (colour, tone) {
        (true, Tone::Good) => ("\x1b[32m", "\x1b[0m"),
        (true, Tone::Bad) => ("\x1b[1;31m", "\x1b[0m"),
        (true, Tone::Plain) | (false, _) => ("", ""),
    };
    lines.iter().map(|line| format!("{start}dayone:{end} {}\n", nmgen::printable(line))).collect()
}

#[cfg(test)]
mod tests {
    use super::{Tone, summary};

    #[test]
    fn a_name_controls_no_console() {
        let line = "an interface \u{1b}[2J\u{9b}31m\u{202e}\nREADY=1".to_owned();
        let shown = summary(Tone::Plain, &[line], false);
        assert_eq!(shown, "dayone: an interface \u{fffd}[2J\u{fffd}31m\u{fffd}\u{fffd}READY=1\n");
    }

    #[test]
    fn colour_only_where_asked() {
        let lines = ["a".to_owned(), "b".to_owned()];
        assert_eq!(summary(Tone::Bad, &lines, false), "dayone: a\ndayone: b\n");
        assert!(summary(Tone::Bad, &lines, true).starts_with("\x1b[1;31mdayone:\x1b[0m a"));
    }
}
