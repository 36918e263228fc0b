//! Records of libraries, such as nmstate, without the secrets of the documents that this run has read.

use std::sync::{PoisonError, RwLock};

use log::{Level, Log, Metadata, Record, SetLoggerError};
use nmgen::secret::Secrets;
use tracing_subscriber::filter::Targets;

/// The target of nmstate's events.
const NMSTATE: &str = "nmstate";

/// More documents than a run reads one after the other.
const MOST: usize = 8;

static KNOWN: RwLock<Vec<Secrets>> = RwLock::new(Vec::new());

/// Hides the secrets of a document in all later records.
pub(crate) fn hide_secrets_of(text: &str) {
    let secrets = Secrets::of(text);
    let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
    if known.len() == MOST {
        known.remove(0);
    }
    known.push(secrets);
}

/// Gets the records of all libraries from now on; `wanted` has their targets and levels.
pub(crate) fn start(wanted: Targets) -> Result<(), SetLoggerError> {
    log::set_boxed_logger(Box::new(Records { wanted }))?;
    log::set_max_level(log::LevelFilter::Trace);
    Ok(())
}

struct Records {
    wanted: Targets,
}

impl Log for Records {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        self.wanted.would_enable(metadata.target(), &level(metadata.level()))
    }

    fn log(&self, record: &Record<'_>) {
        if !self.enabled(record.metadata()) {
            return;
        }
        let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner);
        let own = Secrets::default().hidden(record.args().to_string());
        let text = known.iter().fold(own, |text, secrets| secrets.hidden(text));
        // An event's level is a constant.
        match record.level() {
            Level::Error => tracing::error!(target: NMSTATE, "{text}"),
            Level::Warn => tracing::warn!(target: NMSTATE, "{text}"),
            Level::Info => tracing::info!(target: NMSTATE, "{text}"),
            Level::Debug => tracing::debug!(target: NMSTATE, "{text}"),
            Level::Trace => tracing::trace!(target: NMSTATE, "{text}"),
        }
    }

    fn flush(&self) {}
}

fn level(level: Level) -> tracing::Level {
    match level {
        Level::Error => tracing::Level::ERROR,
        Level::Warn => tracing::Level::WARN,
        Level::Info => tracing::Level::INFO,
        Level::Debug => tracing::Level::DEBUG,
        Level::Trace => tracing::Level::TRACE,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::{Arc, Mutex};

    use tracing_subscriber::layer::SubscriberExt as _;

    use super::*;

    #[derive(Clone, Default)]
    struct Shown(Arc<Mutex<Vec<u8>>>);

    impl Write for Shown {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_record_of_a_library_has_no_secret_of_a_document() {
        hide_secrets_of("interfaces: [{name: a, 802.1x: {password: s3cretmarker}}]\n");
        let shown = Shown::default();
        let writer = shown.clone();
        let layer = tracing_subscriber::fmt::layer().with_writer(move || writer.clone());
        let records =
            Records { wanted: Targets::new().with_target("nmstate", tracing::Level::WARN) };
        let write = |target: &str, level: Level| {
            let text = format_args!("merged s3cretmarker, http://user:s3cretmarker@h").to_string();
            let record = format!("{target} {text}");
            records.log(
                &Record::builder()
                    .target(target)
                    .level(level)
                    .args(format_args!("{record}"))
                    .build(),
            );
        };
        tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), || {
            write("nmstate::ifaces", Level::Warn);
            write("nmstate::ifaces", Level::Debug);
            write("zbus", Level::Error);
        });
        let shown = shown.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let shown = String::from_utf8_lossy(&shown).into_owned();
        assert_eq!(shown.lines().count(), 1, "{shown}");
        assert!(shown.contains("merged <hidden>, http://user:<hidden>@h"), "{shown}");
    }
}
