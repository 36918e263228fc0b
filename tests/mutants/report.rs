//! The last lines of a run.

use std::collections::BTreeMap;

use crate::judged::Fate;
use crate::list::{Mutant, Part};
use crate::survivors::Survivors;

/// Percentage of mutants that may survive without a reason.
const UNEXPLAINED: usize = 5;

#[derive(Debug, Default, Clone, Copy)]
struct Counts {
    noticed: usize,
    explained: usize,
    unexplained: usize,
}

/// Prints the survivors without a reason, the list's entries that are not true, and the counts; true if the run succeeded.
pub(crate) fn report(
    mutants: &[Mutant],
    fates: &BTreeMap<usize, Fate>,
    survivors: &Survivors,
    part: &Part,
    left_out: usize,
) -> bool {
    let mut folders: BTreeMap<String, Counts> = BTreeMap::new();
    for (number, fate) in fates {
        let mutant = &mutants[*number];
        let folder: Vec<&str> = mutant.file.split('/').take(3).collect();
        let counts = folders.entry(folder.join("/")).or_default();
        match (fate, survivors.explain(*number)) {
            (Fate::Noticed, _) => counts.noticed += 1,
            (_, true) => counts.explained += 1,
            (_, false) => {
                counts.unexplained += 1;
                println!("{fate:?}: {}", mutant.name);
            }
        }
    }
    let outdated = survivors
        .outdated(|file| part.has(file), |number| fates.get(&number) == Some(&Fate::Noticed));
    for entry in &outdated {
        println!("tests/mutants/survivors.toml: {entry}");
    }
    println!("{:>8} {:>9} {:>11}", "noticed", "explained", "unexplained");
    let mut all = Counts::default();
    for (folder, counts) in &folders {
        let Counts { noticed, explained, unexplained } = *counts;
        println!("{noticed:>8} {explained:>9} {unexplained:>11}  {folder}");
        all.noticed += noticed;
        all.explained += explained;
        all.unexplained += unexplained;
    }
    let Counts { noticed, explained, unexplained } = all;
    let total = noticed + explained + unexplained;
    let share = 100.0 * unexplained as f64 / total.max(1) as f64;
    println!(
        "mutants: {total}, of which {unexplained} ({share:.1} %) survive without a reason; {left_out} do not compile behind a switch"
    );
    let bound = if part.is_of_files() { 0 } else { UNEXPLAINED };
    outdated.is_empty() && unexplained * 100 <= total * bound
}
