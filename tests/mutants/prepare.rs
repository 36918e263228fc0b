//! A copy of the tree with every mutant switched in, compiled once; mutants that do not compile are left out.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

use crate::edit::Switched;
use crate::error::{Error, file};
use crate::list::{self, Mutant};
use crate::place::Place;
use crate::{run, switch};

/// The module that chooses the mutant.
const MODULE: &str = include_str!("switch.in");
/// Arithmetic that always fails is a mutant like the others, and more parentheses than people would write are no fault.
const ALLOWED: &str = "#![allow(warnings, arithmetic_overflow, unconditional_panic)] ";
/// The roots of the crates that have mutants.
const ROOTS: [&str; 6] = [
    "nmgen/crates/document/src/lib.rs",
    "nmgen/crates/core/src/lib.rs",
    "nmgen/crates/fleet/src/lib.rs",
    "nmgen/boot/src/lib.rs",
    "nmgen/src/lib.rs",
    "agent/src/lib.rs",
];
/// Programs alone, each a crate of its own.
const PROGRAMS: [&str; 3] = ["nmgen/src/main.rs", "nmgen/boot/src/main.rs", "agent/src/main.rs"];

pub(crate) fn prepare(place: &Place) -> Result<(), Error> {
    fs::create_dir_all(place.copy()).map_err(file("create", place.copy()))?;
    let mutants = list::list(&place.root)?;
    list::save(&mutants, &place.mutants())?;
    let files = copy(place)?;
    let mut left_out = refused_before(place, &mutants)?;
    println!("mutants: {} by cargo-mutants", mutants.len());
    loop {
        let switched = write(place, &mutants, &files, &left_out)?;
        let placed: BTreeSet<usize> = switched.values().flat_map(switch::placed).collect();
        let refused = compile(place, &switched)?;
        println!("mutants: {} are switched, {} do not compile", placed.len(), refused.len());
        if refused.is_empty() {
            left_out = (0..mutants.len()).filter(|number| !placed.contains(number)).collect();
            break;
        }
        left_out.extend(refused);
    }
    let text: String =
        left_out.iter().map(|number| format!("{}\n", mutants[*number].name)).collect();
    fs::write(place.left_out(), text).map_err(file("write", place.left_out()))?;
    build(place)
}

/// The mutants that did not compile in the run before, so that each is tried once.
fn refused_before(place: &Place, mutants: &[Mutant]) -> Result<BTreeSet<usize>, Error> {
    let path = place.left_out();
    if !path.exists() {
        return Ok(BTreeSet::new());
    }
    let text = fs::read_to_string(&path).map_err(file("read", &path))?;
    let names: BTreeSet<&str> = text.lines().collect();
    let known = mutants.iter().enumerate().filter(|(_, it)| names.contains(it.name.as_str()));
    Ok(known.map(|(number, _)| number).collect())
}

/// Copies the tree's files, as git knows them; returns the Rust files that mutants are in.
fn copy(place: &Place) -> Result<Vec<PathBuf>, Error> {
    let mut git = Command::new("git");
    git.current_dir(&place.root).args([
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ]);
    let names = String::from_utf8_lossy(&run::output(&mut git)?).into_owned();
    let mut sources = Vec::new();
    for name in names.split_terminator('\0') {
        let (from, to) = (place.root.join(name), place.copy().join(name));
        if !from.exists() {
            continue;
        }
        let is_source = ["nmgen/", "agent/src/"].iter().any(|folder| name.starts_with(folder));
        if is_source && name.ends_with(".rs") {
            sources.push(PathBuf::from(name));
            continue;
        }
        let new = fs::read(&from).map_err(file("read", &from))?;
        if fs::read(&to).is_ok_and(|old| old == new) {
            continue;
        }
        let parent = to.parent().unwrap_or(&to);
        fs::create_dir_all(parent).map_err(file("create", parent))?;
        fs::copy(&from, &to).map_err(file("write", &to))?;
        ask_cases_again(place)?;
    }
    Ok(sources)
}

/// Forgets the cases' results without a mutant: the build is about to change.
fn ask_cases_again(place: &Place) -> Result<(), Error> {
    match place.cases().exists() {
        true => fs::remove_file(place.cases()).map_err(file("remove", place.cases())),
        false => Ok(()),
    }
}

/// Writes the sources with all mutants but these; a file that stays the same keeps its time, and cargo its work.
fn write(
    place: &Place,
    mutants: &[Mutant],
    files: &[PathBuf],
    left_out: &BTreeSet<usize>,
) -> Result<BTreeMap<PathBuf, Switched>, Error> {
    let mut by_file: BTreeMap<&Path, BTreeMap<usize, &Mutant>> = BTreeMap::new();
    for (number, mutant) in mutants.iter().enumerate() {
        if !left_out.contains(&number) && !PROGRAMS.contains(&mutant.file.as_str()) {
            by_file.entry(Path::new(&mutant.file)).or_default().insert(number, mutant);
        }
    }
    let mut written = BTreeMap::new();
    for path in files {
        let from = place.root.join(path);
        let source = fs::read_to_string(&from).map_err(file("read", &from))?;
        let none = BTreeMap::new();
        let mut switched = switch::switch(&source, by_file.get(path.as_path()).unwrap_or(&none))
            .map_err(|source| Error::Syntax { path: from, source })?;
        if ROOTS.iter().any(|root| path == Path::new(root)) {
            switched.prepend(ALLOWED);
            switched.text.push_str(&MODULE.replace("COUNT", &mutants.len().to_string()));
        }
        let to = place.copy().join(path);
        if !fs::read_to_string(&to).is_ok_and(|old| old == switched.text) {
            let parent = to.parent().unwrap_or(&to);
            fs::create_dir_all(parent).map_err(file("create", parent))?;
            fs::write(&to, &switched.text).map_err(file("write", &to))?;
            ask_cases_again(place)?;
        }
        written.insert(path.clone(), switched);
    }
    Ok(written)
}

/// The mutants that the compiler refuses.
fn compile(
    place: &Place,
    switched: &BTreeMap<PathBuf, Switched>,
) -> Result<BTreeSet<usize>, Error> {
    let mut check = place.cargo("check");
    check.args(["--lib", "--bins", "--message-format=json", "--keep-going"]);
    let output = run::any(&mut check)?;
    let mut refused = BTreeSet::new();
    let mut others = Vec::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let Ok(message) = serde_json::from_str::<Value>(line) else { continue };
        let message = &message["message"];
        let spans = message["spans"].as_array().map(Vec::as_slice).unwrap_or_default();
        if message["level"] != "error" || spans.is_empty() {
            continue;
        }
        let (first, second): (Vec<&Value>, Vec<&Value>) =
            spans.iter().partition(|span| span["is_primary"] == true);
        match first.into_iter().chain(second).find_map(|span| mutants_at(span, switched)) {
            Some(found) => refused.extend(found),
            None => others.push(message["rendered"].as_str().unwrap_or_default().to_owned()),
        }
    }
    if refused.is_empty() && !output.status.success() {
        return Err(Error::Compiler(others.concat()));
    }
    Ok(refused)
}

/// The mutants of the smallest construct around a place of the compiler's.
fn mutants_at(span: &Value, switched: &BTreeMap<PathBuf, Switched>) -> Option<Vec<usize>> {
    let file = switched.get(Path::new(span["file_name"].as_str()?))?;
    let start = usize::try_from(span["byte_start"].as_u64()?).ok()?;
    let end = usize::try_from(span["byte_end"].as_u64()?).ok()?;
    let around = file.ranges.iter().filter(|(range, _)| range.start <= start && end <= range.end);
    around.min_by_key(|(range, _)| range.len()).map(|(_, mutants)| mutants.clone())
}

/// Links the programs and the suites, and notes their paths.
fn build(place: &Place) -> Result<(), Error> {
    let mut test = place.cargo("test");
    test.args(["--no-run", "--lib", "--bins", "--test", "nmgen", "--message-format=json"]);
    let output = run::output(&mut test)?;
    let mut suites = String::new();
    for line in String::from_utf8_lossy(&output).lines() {
        let Ok(artifact) = serde_json::from_str::<Value>(line) else { continue };
        if let (Some(path), Some(manifest)) =
            (artifact["executable"].as_str(), artifact["manifest_path"].as_str())
        {
            suites.push_str(&format!("{manifest}\t{path}\n"));
        }
    }
    fs::write(place.suites(), suites).map_err(file("write", place.suites()))?;
    let mut program = place.cargo("build");
    program.args(["--bin", "nmgen", "--example", "nmgen-manuals"]);
    run::output(&mut program).map(drop)
}
