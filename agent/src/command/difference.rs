//! The difference of a desired and the current state: now, and after the next activation of the saved profiles.

use std::path::Path;

use nmgen::{difference::Difference, profile::Keyfile};

use crate::{
    durable::{self, record::Record},
    error::Result,
    model::Active,
    network::{causes::is_profile, sight::Sight},
    paths::Paths,
    run::{
        last_good::last_good_state,
        mtu_migration::{BRIDGES, Migration},
    },
    settings::Settings,
    state::{Saved, State},
};

/// Parts that a state lacks.
#[derive(Debug, Default)]
pub(super) struct Lacking {
    /// Names for messages.
    pub(super) subjects: Vec<String>,
    /// Each field with both sides.
    pub(super) fields: Vec<Difference>,
}

impl Lacking {
    pub(super) fn is_empty(&self) -> bool {
        self.subjects.is_empty()
    }

    /// Each field with its values; without fields, as where an interface is to be absent, each part by its name.
    pub(super) fn lines(&self) -> impl Iterator<Item = String> {
        let subjects = self.subjects.iter().filter(|_| self.fields.is_empty());
        let subjects = subjects.map(|subject| format!("~ {subject}"));
        self.fields.iter().map(ToString::to_string).chain(subjects)
    }
}

/// The differences from the desired state.
#[derive(Debug, Default)]
pub(super) struct Differences {
    /// The values of now beside the wanted ones.
    pub(super) now: Lacking,
    /// The values of now beside those after the next activation of the saved profiles, where the latter are not the wanted ones.
    pub(super) then: Lacking,
}

impl Differences {
    /// Each difference in words, and when it comes.
    pub(super) fn lines(&self) -> Vec<String> {
        let then = self.then.lines().map(|line| format!("after the next activation: {line}"));
        self.now.lines().chain(then).collect()
    }

    pub(super) fn parts(&self) -> Vec<String> {
        let mut parts = self.now.subjects.clone();
        parts.extend(
            self.then
                .subjects
                .iter()
                .filter(|subject| !self.now.subjects.contains(subject))
                .cloned(),
        );
        parts
    }
}

/// The differences from the document in force, as it was resolved when it was applied; `None` where no state of it is left.
pub(super) async fn from_record(
    paths: &Paths,
    settings: &Settings,
    record: &Record,
) -> Result<Option<Differences>> {
    let Some(desired) = last_good_state(record)? else { return Ok(None) };
    let network = Sight::connect(paths, &settings.wait).await?;
    let desired = network.with_names_of_now(desired).await?;
    compare_in_force(paths, &network, &desired, &saved(paths, record)).await.map(Some)
}

/// Compares `desired`, which is in force, with the current state, and with what `saved` makes of it. The MTU that the operator's
/// script sets while the cluster changes its own is no difference.
pub(super) async fn compare_in_force(
    paths: &Paths,
    network: &Sight<'_>,
    desired: &State,
    saved: &[Saved],
) -> Result<Differences> {
    let current = network.current().await?;
    let current = match Migration::load(paths)?.filter(|migration| migration.by_script) {
        Some(migration) => current.without_mtu(migration.target, &BRIDGES, desired),
        None => current,
    };
    differences(desired, &current, saved)
}

/// Compares `desired` with the current state.
pub(super) async fn compare(network: &Sight<'_>, desired: &State) -> Result<Differences> {
    differences(desired, &network.current().await?, &[])
}

fn differences(desired: &State, current: &State, saved: &[Saved]) -> Result<Differences> {
    let now = match desired.missing_in(current)? {
        Some(lacking) => Lacking { subjects: lacking.subjects(), fields: lacking.beside(current)? },
        None => Lacking::default(),
    };
    if saved.is_empty() {
        return Ok(Differences { now, then: Lacking::default() });
    }
    let after = current.clone().after_activation(saved);
    let then = match desired.missing_in(&after)? {
        Some(lacking) => {
            let fields = lacking.sides(current, &after)?;
            // A part that is lacking in the same way now is told already.
            let subjects = if fields.is_empty() { Vec::new() } else { lacking.subjects() };
            Lacking { subjects, fields }
        }
        None => Lacking::default(),
    };
    Ok(Differences { now, then })
}

/// The saved profiles of the devices that the record of the commit names. A device whose profile is gone may have got another
/// one since.
pub(super) fn saved(paths: &Paths, record: &Record) -> Vec<Saved> {
    let recorded = record.uplinks();
    let recorded: &[Active] =
        recorded.map(|uplinks| uplinks.profiles.as_slice()).unwrap_or_default();
    let files: Vec<Keyfile> =
        paths.profile_directories().iter().flat_map(|directory| read(directory)).collect();
    let has = |file: &Keyfile, key: &str, value: &str| file.get("connection", key) == Some(value);
    let of = |active: &Active| {
        let own = files.iter().find(|file| has(file, "uuid", &active.uuid));
        let mut others = files.iter().filter(|file| {
            has(file, "interface-name", &active.device) && has(file, "type", &active.kind)
        });
        let keyfile = match (own, others.next(), others.next()) {
            (Some(own), _, _) => Some(own.clone()),
            (None, Some(other), None) => Some(other.clone()),
            // NetworkManager decides which one.
            (None, Some(_), Some(_)) => return None,
            (None, None, _) => None,
        };
        Some(Saved { device: active.device.clone(), kind: active.kind.clone(), keyfile })
    };
    recorded.iter().filter_map(of).collect()
}

/// The profiles of a directory; one that cannot be read is none.
fn read(directory: &Path) -> Vec<Keyfile> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path()).filter(|path| is_profile(path));
    let texts = paths.filter_map(|path| durable::read(&path).ok().flatten());
    texts.map(|text| Keyfile::parse_leniently(&String::from_utf8_lossy(&text))).collect()
}
