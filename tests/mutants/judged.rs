//! `judged.tsv`: the verdict on each mutant, kept for the next run.

use std::{
    collections::HashMap,
    fs::{self, File, OpenOptions},
    hash::{DefaultHasher, Hash as _, Hasher as _},
    io::Write as _,
    sync::Mutex,
};

use crate::cases::Case;
use crate::each;
use crate::error::{Error, file};
use crate::list::Mutant;
use crate::place::Place;

/// The beginning of a file's tests.
const TESTS: &str = "\n#[cfg(test)]\nmod ";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Noticed,
    Survived,
}

/// One line a mutant: its fate, the digest of its file, its name, and the case that noticed it or the seconds that the cases had.
pub(crate) struct Judged {
    file: Mutex<File>,
    digests: HashMap<String, String>,
    kept: HashMap<String, Fate>,
    /// The case that noticed each mutant.
    noticed: HashMap<String, String>,
}

impl Judged {
    /// Opens the verdicts of earlier runs. A mutant that a case noticed is not judged again while its file is the same and the case
    /// exists, one that survived while the whole build is the same, if its cases had as many seconds as they have now.
    pub(crate) fn open(
        place: &Place,
        mutants: &[Mutant],
        cases: &[Case],
        same_build: Option<usize>,
    ) -> Result<Judged, Error> {
        let mut digests = HashMap::new();
        for mutant in mutants {
            if !digests.contains_key(&mutant.file) {
                let path = place.root.join(&mutant.file);
                let text = fs::read_to_string(&path).map_err(file("read", &path))?;
                let mut hasher = DefaultHasher::new();
                // Tests at the end of a file change no mutant.
                text.split(TESTS).next().hash(&mut hasher);
                digests.insert(mutant.file.clone(), format!("{:016x}", hasher.finish()));
            }
        }
        let path = place.judged();
        let old = match path.exists() {
            true => fs::read_to_string(&path).map_err(file("read", &path))?,
            false => String::new(),
        };
        let (mut kept, mut noticed) = (HashMap::new(), HashMap::new());
        for line in old.lines() {
            let Some((fate, digest, name, by)) = fields(line) else { continue };
            let source = name.split(':').next().unwrap_or_default();
            let is_valid = match fate {
                Fate::Noticed => cases.iter().any(|case| case.name == by),
                Fate::Survived => {
                    same_build.is_some_and(|now| by.parse().is_ok_and(|it: usize| it >= now))
                }
            };
            if is_valid && digests.get(source).is_some_and(|it| it == digest) {
                kept.insert(name.to_owned(), fate);
                if fate == Fate::Noticed {
                    noticed.insert(name.to_owned(), by.to_owned());
                }
            }
        }
        let opened = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&path)
            .map_err(file("open", &path))?;
        Ok(Judged { file: Mutex::new(opened), digests, kept, noticed })
    }

    /// The file of each mutant that was noticed, and the case.
    pub(crate) fn noticed(&self) -> impl Iterator<Item = (&str, &str)> {
        self.noticed
            .iter()
            .filter_map(|(name, case)| Some((name.split(':').next()?, case.as_str())))
    }

    pub(crate) fn fate(&self, mutant: &Mutant) -> Option<Fate> {
        self.kept.get(&mutant.name).copied()
    }

    pub(crate) fn write(
        &self,
        place: &Place,
        mutant: &Mutant,
        fate: Fate,
        by: &str,
    ) -> Result<(), Error> {
        let digest = self.digests.get(&mutant.file).map(String::as_str).unwrap_or_default();
        let line = format!("{fate:?}\t{digest}\t{}\t{by}\n", mutant.name);
        each::lock(&self.file).write_all(line.as_bytes()).map_err(file("write", place.judged()))
    }
}

fn fields(line: &str) -> Option<(Fate, &str, &str, &str)> {
    let mut fields = line.split('\t');
    let fate = match fields.next()? {
        "Noticed" => Fate::Noticed,
        "Survived" => Fate::Survived,
        _ => return None,
    };
    Some((fate, fields.next()?, fields.next()?, fields.next()?))
}
