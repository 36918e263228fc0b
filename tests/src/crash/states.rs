//! The states that a crash can leave.

use std::collections::{BTreeMap, HashSet};

use super::{
    disk::{Change, Disk, Inode},
    operations::Recording,
    tree::{Bytes, Tree},
};

/// A state of the disk after a crash.
#[derive(Debug, Clone)]
pub struct State {
    /// The number of operations before the crash.
    pub at: usize,
    /// Changes that the crash took.
    lost: Vec<Loss>,
    /// The disk after the crash.
    pub tree: Tree,
}

/// Something that had not reached the disk.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Loss {
    place: usize,
    choice: usize,
}

/// The states of a recording, each different from all others.
#[derive(Debug)]
pub struct States<'r> {
    recording: &'r Recording,
    /// The disk without a loss at each crash point.
    disks: Vec<Disk>,
    /// The directories of each operation.
    directories: Vec<Vec<Inode>>,
}

/// Changes that may be missing at a crash point: by choice 0 none is.
#[derive(Debug)]
enum Place {
    /// The last changes of a directory's names, as indices of operations.
    Names { pending: Vec<usize> },
    /// The data of a file.
    Data { file: Inode, contents: Vec<(String, Bytes)> },
    /// The permissions of an inode.
    Mode { inode: Inode, old: u32 },
}

impl Place {
    fn choices(&self) -> usize {
        match self {
            Self::Names { pending } => pending.len(),
            Self::Data { contents, .. } => contents.len(),
            Self::Mode { .. } => 1,
        }
    }
}

impl<'r> States<'r> {
    /// The states of `recording`.
    pub fn new(recording: &'r Recording) -> Self {
        let operations = &recording.operations;
        let mut disks = vec![Disk::new(&recording.start)];
        for (at, operation) in operations.iter().enumerate() {
            let mut disk = disks[at].clone();
            disk.apply(&operation.change);
            disks.push(disk);
        }
        let directories =
            operations.iter().map(|operation| operation.change.directories()).collect();
        Self { recording, disks, directories }
    }

    /// The simple states of each crash point, and others up to `number` in all; those with the fewest operations first.
    pub fn all(&self, number: usize) -> Vec<State> {
        let points: Vec<_> =
            (0..=self.recording.operations.len()).map(|at| self.places(at)).collect();
        let (mut tried, mut seen) = (HashSet::new(), HashSet::new());
        let mut states = Vec::new();
        let mut add = |at: usize, choices: &[usize]| {
            if !tried.insert((at, choices.to_vec())) {
                return states.len();
            }
            let disk = self.disk(at, &points[at], choices);
            if seen.insert((disk.digest(), at == self.recording.operations.len())) {
                let losses = choices.iter().enumerate().filter(|(_, choice)| **choice > 0);
                let lost = losses.map(|(place, &choice)| Loss { place, choice }).collect();
                states.push(State { at, lost, tree: disk.tree() });
            }
            states.len()
        };
        let mut length = 0;
        for (at, places) in points.iter().enumerate() {
            for choices in simple(places) {
                length = add(at, &choices);
            }
        }
        // Until a round of all crash points finds next to nothing.
        let mut chance = Chance(0);
        while length < number {
            let before = length;
            for (at, places) in points.iter().enumerate().filter(|(_, places)| places.len() > 1) {
                for _ in 0..8 {
                    length = add(at, &chance.choices(places));
                }
            }
            if length - before <= points.len() / 8 {
                break;
            }
        }
        states.sort_by_key(|state| (state.at, state.lost.len()));
        states
    }

    /// The state at this crash point that lost least and still `is_violated`.
    pub fn shortest(&self, state: &State, is_violated: impl Fn(&State) -> bool) -> State {
        let mut best = state.clone();
        let places = self.places(best.at);
        loop {
            let smaller = best.lost.iter().enumerate().find_map(|(i, loss)| {
                (0..loss.choice).find_map(|choice| {
                    let mut lost = best.lost.clone();
                    lost[i].choice = choice;
                    lost.retain(|loss| loss.choice > 0);
                    let tree = self.disk(best.at, &places, &choices(&places, &lost)).tree();
                    let state = State { at: best.at, lost, tree };
                    is_violated(&state).then_some(state)
                })
            });
            match smaller {
                Some(state) => best = state,
                None => return best,
            }
        }
    }

    /// The operations up to the crash from the first that was lost, and what was lost.
    pub fn explain(&self, state: &State) -> String {
        let places = self.places(state.at);
        let operations = &self.recording.operations;
        let mut notes: BTreeMap<usize, String> = BTreeMap::new();
        let mut rest = Vec::new();
        for loss in &state.lost {
            match &places[loss.place] {
                Place::Names { pending } => {
                    for index in &pending[pending.len() - loss.choice..] {
                        notes.insert(*index, "not on the disk".to_owned());
                    }
                }
                Place::Data { file, contents } => {
                    let last = (0..state.at).rfind(|i| operations[*i].change.data() == Some(*file));
                    let note = contents[loss.choice - 1].0.clone();
                    notes.insert(last.unwrap_or(state.at), format!("data {note}"));
                }
                Place::Mode { inode, old } => {
                    rest.push(format!("    the mode of inode {inode} is still {old:o}\n"));
                }
            }
        }
        let first = notes.keys().next().copied().unwrap_or(state.at);
        let first = first.min(state.at.saturating_sub(3));
        let mut text = match first {
            0 => String::new(),
            _ => format!("    {first} operations, all on the disk\n"),
        };
        for (index, operation) in operations.iter().enumerate().take(state.at).skip(first) {
            let note = notes.get(&index).map_or(String::new(), |note| format!(" ({note})"));
            text += &format!("    {}. {}{note}\n", index + 1, operation.text);
        }
        text + &rest.concat() + "    crash\n"
    }

    /// Changes that may be missing at the crash point `at`.
    fn places(&self, at: usize) -> Vec<Place> {
        let done = &self.recording.operations[..at];
        let mut names: BTreeMap<Inode, Vec<usize>> = BTreeMap::new();
        let mut data: BTreeMap<Inode, Vec<usize>> = BTreeMap::new();
        let mut modes: BTreeMap<Inode, u32> = BTreeMap::new();
        for (index, operation) in done.iter().enumerate() {
            for &directory in &self.directories[index] {
                names.entry(directory).or_default().push(index);
            }
            if let Some(file) = operation.change.data() {
                data.entry(file).or_default().push(index);
            }
            match &operation.change {
                Change::Mode { inode, .. } => {
                    modes.entry(*inode).or_insert_with(|| self.disks[index].mode(*inode));
                }
                Change::SyncFile { file } => {
                    data.remove(file);
                    modes.remove(file);
                }
                Change::SyncDirectory { directory } => {
                    let synced = names.remove(directory).unwrap_or_default();
                    modes.remove(directory);
                    // A rename is on the disk in both directories, and with it everything before it there.
                    self.settle(&mut names, &synced);
                }
                Change::SyncAll => {
                    names.clear();
                    data.clear();
                    modes.clear();
                }
                Change::Create { .. } | Change::Rename { .. } | Change::Remove { .. } => {}
                Change::Write { .. } | Change::Truncate { .. } => {}
            }
        }
        let names = names.into_values().filter(|pending| !pending.is_empty());
        let names = names.map(|pending| Place::Names { pending });
        let data = data.into_iter().map(|(file, pending)| {
            let contents = self.contents(file, &pending);
            Place::Data { file, contents }
        });
        let modes = modes.into_iter().map(|(inode, old)| Place::Mode { inode, old });
        names.chain(data).chain(modes).collect()
    }

    fn settle(&self, names: &mut BTreeMap<Inode, Vec<usize>>, synced: &[usize]) {
        let mut open = synced.to_vec();
        while let Some(index) = open.pop() {
            for directory in &self.directories[index] {
                if let Some(pending) = names.get_mut(directory) {
                    let (before, after) =
                        pending.iter().partition(|operation| **operation <= index);
                    *pending = after;
                    open.extend::<Vec<usize>>(before);
                }
            }
        }
    }

    /// Each content that an unsynced file may have, but for the last.
    fn contents(&self, file: Inode, pending: &[usize]) -> Vec<(String, Bytes)> {
        // Before the first of the changes, and after each.
        let before = pending.first().copied();
        let moments = before.into_iter().chain(pending.iter().map(|index| index + 1));
        let mut stages: Vec<_> = moments.map(|at| self.disks[at].bytes(file)).collect();
        let synced = stages.iter().map(|stage| stage.len()).min().unwrap_or_default();
        let new = stages.pop().unwrap_or_default();
        // Data that was there before and was never cut off has its blocks.
        let length = new.len().max(2 * synced) / 2;
        let short = new[..length.min(new.len())].to_vec();
        let mut contents = vec![("short".to_owned(), short.into())];
        // Lengthened, but its blocks were never written.
        let mut zeros = new.to_vec();
        zeros.iter_mut().skip(synced).for_each(|byte| *byte = 0);
        contents.push(("zero-filled".to_owned(), zeros.into()));
        contents.push(("absent".to_owned(), new[..synced.min(new.len())].to_vec().into()));
        let stages = stages.into_iter().rev();
        contents.extend(stages.map(|stage| ("as of an earlier write".to_owned(), stage)));
        let mut seen = HashSet::from([new]);
        contents.retain(|(_, content)| seen.insert(content.clone()));
        contents
    }

    /// The disk with these choices.
    fn disk(&self, at: usize, places: &[Place], choices: &[usize]) -> Disk {
        let lost = places.iter().zip(choices).filter_map(|(place, choice)| match place {
            Place::Names { pending } => Some(&pending[pending.len() - choice..]),
            Place::Data { .. } | Place::Mode { .. } => None,
        });
        let lost: Vec<usize> = lost.flatten().copied().collect();
        let begin = lost.iter().copied().min().unwrap_or(at);
        let mut is_lost = vec![false; at - begin];
        lost.iter().for_each(|index| is_lost[index - begin] = true);
        // The names of a directory change in order: what is lost in one is lost in the other directory of a rename, and with it
        // everything after it there.
        let mut from: BTreeMap<Inode, usize> = BTreeMap::new();
        loop {
            let mut has_changed = false;
            for (index, is_lost) in (begin..).zip(&mut is_lost) {
                let directories = &self.directories[index];
                let is_after = directories
                    .iter()
                    .any(|directory| from.get(directory).is_some_and(|f| *f <= index));
                if !is_after && !*is_lost {
                    continue;
                }
                *is_lost = true;
                for &directory in directories {
                    let first = from.entry(directory).or_insert(usize::MAX);
                    has_changed |= index < *first;
                    *first = index.min(*first);
                }
            }
            if !has_changed {
                break;
            }
        }
        let mut disk = self.disks[begin].clone();
        for (index, _) in (begin..at).zip(is_lost).filter(|(_, is_lost)| !is_lost) {
            let change = &self.recording.operations[index].change;
            match change.data() {
                // Without the work of the write: names have no influence on it.
                Some(file) => disk.set_bytes(file, self.disks[index + 1].bytes(file)),
                None => disk.apply(change),
            }
        }
        for (place, choice) in places.iter().zip(choices) {
            match place {
                Place::Data { file, contents } if *choice > 0 => {
                    disk.set_bytes(*file, contents[choice - 1].1.clone());
                }
                Place::Mode { inode, old } if *choice > 0 => disk.set_mode(*inode, *old),
                Place::Names { .. } | Place::Data { .. } | Place::Mode { .. } => {}
            }
        }
        disk
    }
}

/// The choices of these losses.
fn choices(places: &[Place], lost: &[Loss]) -> Vec<usize> {
    let mut choices = vec![0; places.len()];
    for loss in lost {
        choices[loss.place] = loss.choice;
    }
    choices
}

/// Nothing is missing, one thing, everything, everything but one.
fn simple(places: &[Place]) -> Vec<Vec<usize>> {
    let most: Vec<usize> = places.iter().map(Place::choices).collect();
    let none = vec![0; places.len()];
    let with = |base: &[usize], place: usize, choice: usize| {
        let mut choices = base.to_vec();
        choices[place] = choice;
        choices
    };
    let each =
        || (0..places.len()).flat_map(|place| (1..=most[place]).map(move |choice| (place, choice)));
    let mut all = vec![none.clone()];
    all.extend(each().map(|(place, choice)| with(&none, place, choice)));
    all.push(most.clone());
    all.extend(each().map(|(place, choice)| with(&most, place, most[place] - choice)));
    all
}

/// Knuth's generator (MMIX): the same states in each run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or_default() % bound
    }

    /// Any combination; every second one with few losses.
    fn choices(&mut self, places: &[Place]) -> Vec<usize> {
        let few = self.below(2) == 0;
        let choice = |place: &Place| match few && self.below(places.len()) > 1 {
            true => 0,
            false => self.below(place.choices() + 1),
        };
        places.iter().map(choice).collect()
    }
}

#[cfg(test)]
mod tests;
