//! Each mutant against the cases that reach it, until one notices.

use std::{
    collections::{BTreeMap, HashMap},
    fs::{self, OpenOptions},
    io::Write as _,
    sync::Mutex,
};

use crate::cases::{self, Case, Verdict};
use crate::each;
use crate::error::{Error, file};
use crate::list::{self, Mutant};
use crate::place::Place;

/// Seconds of cases that do not notice, after which a mutant has survived; SECONDS= changes it.
const SECONDS: usize = 60;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Noticed,
    Survived,
    NotReached,
}

/// Judges the mutants, and prints those that survive; true if no more than one in twenty does.
pub(crate) fn judge(place: &Place) -> Result<bool, Error> {
    let temporary = place.temporary();
    fs::create_dir_all(&temporary).map_err(file("create", &temporary))?;
    let mutants = list::load(&place.mutants())?;
    let left_out = fs::read_to_string(place.left_out()).map_err(file("read", place.left_out()))?;
    let left_out: Vec<&str> = left_out.lines().collect();
    let cases = cases::cases(place)?;
    let seconds: f64 = cases.iter().map(|case| case.seconds).sum();
    println!("mutants: {} cases take {seconds:.0} s", cases.len());
    let judged = place.judged();
    let log = OpenOptions::new().create(true).write(true).truncate(true).open(&judged);
    let log = Mutex::new(log.map_err(file("create", &judged))?);
    let kills = Mutex::new(HashMap::new());
    let fates = Mutex::new(BTreeMap::new());
    let waiting: Vec<(usize, &Mutant)> = mutants
        .iter()
        .enumerate()
        .filter(|(_, mutant)| !left_out.contains(&mutant.name.as_str()))
        .collect();
    let bound = each::number("SECONDS")?.unwrap_or(SECONDS) as f64;
    each::each(waiting, |worker, (number, mutant)| {
        let (fate, by) = try_one(place, &cases, worker, (number, mutant), &kills, bound)?;
        each::lock(&fates).insert(number, fate);
        let line = format!("{fate:?}\t{}\t{by}\n", mutant.name);
        each::lock(&log).write_all(line.as_bytes()).map_err(file("write", &judged))
    })?;
    let fates = fates.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    Ok(report(&mutants, &fates, left_out.len()))
}

/// The case that notices a mutant, sought first among those that noticed others of its file.
fn try_one<'c>(
    place: &Place,
    cases: &'c [Case],
    worker: usize,
    (number, mutant): (usize, &Mutant),
    kills: &Mutex<HashMap<(String, &'c str), f64>>,
    bound: f64,
) -> Result<(Fate, &'c str), Error> {
    let mut able: Vec<&Case> = cases.iter().filter(|case| case.reaches(number)).collect();
    if able.is_empty() {
        return Ok((Fate::NotReached, ""));
    }
    let of = |case: &'c Case| (mutant.file.clone(), case.name.as_str());
    {
        let kills = each::lock(kills);
        let cost = |case: &&'c Case| {
            (case.seconds + 0.01) / (0.1 + kills.get(&of(case)).copied().unwrap_or_default())
        };
        able.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
    }
    let mut spent = 0.0;
    for case in able {
        if spent > bound {
            break;
        }
        if case.judge(place, worker, number)? != Verdict::Passed {
            *each::lock(kills).entry(of(case)).or_default() += 1.0;
            return Ok((Fate::Noticed, &case.name));
        }
        spent += case.seconds;
    }
    Ok((Fate::Survived, ""))
}

fn report(mutants: &[Mutant], fates: &BTreeMap<usize, Fate>, left_out: usize) -> bool {
    let mut folders: BTreeMap<String, [usize; 3]> = BTreeMap::new();
    for (number, fate) in fates {
        let mutant = &mutants[*number];
        let folder: Vec<&str> = mutant.file.split('/').take(3).collect();
        folders.entry(folder.join("/")).or_default()[*fate as usize] += 1;
        if *fate != Fate::Noticed {
            println!("{fate:?}: {}", mutant.name);
        }
    }
    println!("{:>8} {:>8} {:>8}", "noticed", "survived", "unreached");
    let mut all = [0; 3];
    for (folder, counts) in &folders {
        println!("{:>8} {:>8} {:>8}  {folder}", counts[0], counts[1], counts[2]);
        all = [all[0] + counts[0], all[1] + counts[1], all[2] + counts[2]];
    }
    let survived = all[1] + all[2];
    let total = all[0] + survived;
    let share = 100.0 * survived as f64 / total.max(1) as f64;
    println!(
        "mutants: {survived} of {total} survive, {share:.1} %; {left_out} do not compile behind a switch"
    );
    survived * 20 <= total
}
