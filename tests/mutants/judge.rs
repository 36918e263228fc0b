//! Each mutant against the cases that reach it, until one notices.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    env, fs,
    sync::Mutex,
};

use crate::cases::{Case, Cases, Verdict};
use crate::each;
use crate::error::{Error, file};
use crate::judged::{Fate, Judged};
use crate::list::{self, Mutant, Part};
use crate::place::Place;
use crate::report;
use crate::survivors::Survivors;

/// Seconds of cases that do not notice, after which a mutant has survived; SECONDS= changes it.
const SECONDS: usize = 60;

/// Judges the mutants, and prints those that survive; true if few enough do.
pub(crate) fn judge(place: &Place) -> Result<bool, Error> {
    let temporary = place.temporary();
    fs::create_dir_all(&temporary).map_err(file("create", &temporary))?;
    let part = Part::asked_for()?;
    let mutants = list::load(&place.mutants())?;
    let survivors = Survivors::read(&place.root, &mutants)?;
    let left_out = fs::read_to_string(place.left_out()).map_err(file("read", place.left_out()))?;
    let left_out: BTreeSet<&str> = left_out.lines().collect();
    let Cases { cases, are_kept } = Cases::read(place)?;
    let seconds: f64 = cases.iter().map(|case| case.seconds).sum();
    println!("mutants: {} cases take {seconds:.0} s", cases.len());
    let bound = each::number("SECONDS")?.unwrap_or(SECONDS);
    let only = env::var("CASES").unwrap_or_default();
    let judged = Judged::open(place, &mutants, &cases, are_kept.then_some(bound))?;
    let kills = Mutex::new(Kills::default());
    for (file, case) in judged.noticed() {
        each::lock(&kills).add(file, case);
    }
    let asked = mutants.iter().enumerate().filter(|(number, it)| part.has_mutant(*number, it));
    let (out, asked): (Vec<_>, Vec<_>) =
        asked.partition(|(_, mutant)| left_out.contains(mutant.name.as_str()));
    let mut fates: BTreeMap<usize, Fate> = BTreeMap::new();
    let mut waiting = Vec::new();
    for (number, mutant) in asked {
        match judged.fate(mutant) {
            Some(fate) => drop(fates.insert(number, fate)),
            None => waiting.push((number, mutant)),
        }
    }
    println!("mutants: {} are judged already, {} are not", fates.len(), waiting.len());
    let fates = Mutex::new(fates);
    each::each(waiting, |worker, (number, mutant)| {
        match notice(place, &cases, worker, (number, mutant), &kills, bound as f64)? {
            Some(case) => {
                each::lock(&fates).insert(number, Fate::Noticed);
                judged.write(place, mutant, Fate::Noticed, case)
            }
            None => {
                each::lock(&fates).insert(number, Fate::Survived);
                // A case that was not asked may notice it.
                let bound = if only.is_empty() { bound } else { 0 };
                judged.write(place, mutant, Fate::Survived, &bound.to_string())
            }
        }
    })?;
    let fates = fates.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    Ok(report::report(&mutants, &fates, &survivors, &part, out.len()))
}

/// How many mutants each case noticed.
#[derive(Default)]
struct Kills {
    of_file: HashMap<(String, String), f64>,
    of_all: HashMap<String, f64>,
}

impl Kills {
    fn add(&mut self, file: &str, case: &str) {
        *self.of_file.entry((file.to_owned(), case.to_owned())).or_default() += 1.0;
        *self.of_all.entry(case.to_owned()).or_default() += 1.0;
    }

    /// The time of a case for each mutant that it is likely to notice.
    fn cost(&self, file: &str, case: &Case) -> f64 {
        let of_file = self.of_file.get(&(file.to_owned(), case.name.clone()));
        let of_all = self.of_all.get(&case.name);
        let likely = 0.1 + of_file.unwrap_or(&0.0) + 0.05 * of_all.unwrap_or(&0.0);
        (case.seconds + 0.01) / likely
    }
}

/// The case that notices a mutant, sought first among those that noticed others.
fn notice<'c>(
    place: &Place,
    cases: &'c [Case],
    worker: usize,
    (number, mutant): (usize, &Mutant),
    kills: &Mutex<Kills>,
    bound: f64,
) -> Result<Option<&'c str>, Error> {
    let mut able: Vec<&Case> = cases.iter().filter(|case| case.reaches(number)).collect();
    {
        let kills = each::lock(kills);
        able.sort_by_cached_key(|case| (kills.cost(&mutant.file, case) * 1e6) as u64);
    }
    let mut spent = 0.0;
    for case in able {
        if spent > bound {
            break;
        }
        if case.judge(place, worker, number)? != Verdict::Passed {
            each::lock(kills).add(&mutant.file, &case.name);
            return Ok(Some(&case.name));
        }
        spent += case.seconds;
    }
    Ok(None)
}
