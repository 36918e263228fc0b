//! The cases that can notice a mutant, each in a process of its own, with the mutants that it reaches.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, ExitStatus, Stdio},
    sync::Mutex,
    time::Duration,
};

use serde::{Deserialize, Serialize};
use wait4::Wait4 as _;

use crate::error::{Error, file};
use crate::place::Place;
use crate::{each, run};

/// Suites of the sources' form, of packages and of documentation: no mutant changes their verdict.
const NOT_ASKED: [&str; 11] = [
    "tidy::",
    "packages::",
    "sbom::",
    "derive::every_document_derives",
    "install::",
    "ramdisk::",
    "readme::",
    "corpus::",
    "boot::crash::",
    "snippets::",
    "networkmanager::",
];
/// A case that takes longer, in seconds, costs more than it notices.
const LONGEST: f64 = 20.0;
/// The time that a case may spend without the processor, in seconds.
const WAITING: f64 = 180.0;

/// A case that passes without a mutant.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Case {
    executable: PathBuf,
    directory: PathBuf,
    pub(crate) name: String,
    /// Processor time, since a busy host stretches the other.
    pub(crate) seconds: f64,
    reached: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Passed,
    Failed,
    TookTooLong,
}

impl Case {
    pub(crate) fn reaches(&self, mutant: usize) -> bool {
        self.reached.as_bytes().get(mutant) == Some(&b'1')
    }

    /// Runs the case with a mutant.
    pub(crate) fn judge(
        &self,
        place: &Place,
        worker: usize,
        mutant: usize,
    ) -> Result<Verdict, Error> {
        let limit = 10.0 + 20.0 * self.seconds;
        let variable = ("MUTANT", mutant.to_string());
        let (status, _) =
            start(&self.executable, &self.directory, &self.name, place, worker, limit, variable)?;
        Ok(match status.code() {
            Some(0) => Verdict::Passed,
            // timeout(1), and SIGXCPU of prlimit(1)
            Some(124 | 137 | 152) => Verdict::TookTooLong,
            _ => Verdict::Failed,
        })
    }
}

/// The cases to ask.
pub(crate) struct Cases {
    pub(crate) cases: Vec<Case>,
    /// This build's cases ran in an earlier run, and all of them: its verdicts hold.
    pub(crate) are_kept: bool,
}

impl Cases {
    /// The cases of this build, or of CASES: from the run before, or from a run of each without a mutant.
    pub(crate) fn read(place: &Place) -> Result<Cases, Error> {
        let only = env::var("CASES").unwrap_or_default();
        let path = place.cases();
        let json = |source| Error::Json { command: path.display().to_string(), source };
        if path.exists() {
            let text = fs::read(&path).map_err(file("read", &path))?;
            let mut cases: Vec<Case> = serde_json::from_slice(&text).map_err(json)?;
            cases.retain(|case| is_asked(&case.name, &only));
            return Ok(Cases { cases, are_kept: only.is_empty() });
        }
        let cases = passing(place, &only)?;
        if only.is_empty() {
            let text = serde_json::to_vec(&cases).map_err(json)?;
            fs::write(&path, text).map_err(file("write", &path))?;
        }
        Ok(Cases { cases, are_kept: false })
    }
}

fn is_asked(name: &str, only: &str) -> bool {
    (only.is_empty() || only.split_whitespace().any(|it| name.starts_with(it)))
        && !NOT_ASKED.iter().any(|suite| name.starts_with(suite))
}

fn passing(place: &Place, only: &str) -> Result<Vec<Case>, Error> {
    let text = fs::read_to_string(place.suites()).map_err(file("read", place.suites()))?;
    let mut names = Vec::new();
    for (manifest, executable) in text.lines().filter_map(|line| line.split_once('\t')) {
        let directory = Path::new(manifest).parent().unwrap_or(Path::new("/")).to_owned();
        let mut list = Command::new(executable);
        let output = run::output(list.current_dir(&directory).args(["--list", "--format=terse"]))?;
        for line in String::from_utf8_lossy(&output).lines() {
            let Some(name) = line.strip_suffix(": test") else { continue };
            if is_asked(name, only) {
                names.push((PathBuf::from(executable), directory.clone(), name.to_owned()));
            }
        }
    }
    let cases = Mutex::new(Vec::new());
    each::each(names, |worker, (executable, directory, name)| {
        let file = place.temporary().join(format!("reached-{worker}"));
        let _ = fs::remove_file(&file);
        let variable = ("MUTANTS_REACHED", file.display().to_string());
        let (status, time) =
            start(&executable, &directory, &name, place, worker, 20.0 * LONGEST, variable)?;
        let seconds = time.as_secs_f64();
        let reached = fs::read(&file).unwrap_or_default();
        let reached = String::from_utf8_lossy(&reached).into_owned();
        match (status.success(), seconds <= LONGEST) {
            (false, _) => println!("mutants: {name} fails without a mutant, and is not asked"),
            (true, false) => println!("mutants: {name} takes {seconds:.0} s, and is not asked"),
            (true, true) => {
                let case = Case { executable, directory, name, seconds, reached };
                each::lock(&cases).push(case);
            }
        }
        Ok(())
    })?;
    Ok(cases.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner))
}

/// Runs a case alone, with its own directory for temporary files; its result and the processor time of all its programs.
fn start(
    executable: &Path,
    directory: &Path,
    name: &str,
    place: &Place,
    worker: usize,
    limit: f64,
    (variable, value): (&str, String),
) -> Result<(ExitStatus, Duration), Error> {
    let temporary = place.temporary().join(worker.to_string());
    let _ = fs::remove_dir_all(&temporary);
    fs::create_dir_all(&temporary).map_err(file("create", &temporary))?;
    let mut command = Command::new("timeout");
    // On a busy host, little processor time is much time.
    command.args(["--kill-after=1", &(WAITING + limit).to_string()]);
    command.args(["prlimit", &format!("--cpu={limit:.0}")]).arg(executable);
    command.args(["--exact", name, "--test-threads=1"]).current_dir(directory);
    command.env("NMGEN_PROGRAM", place.nmgen()).env("PROGRAMS_BUILT", "1");
    command.env("TMPDIR", &temporary).env("LAB", "off").env(variable, value);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let used = command.spawn().and_then(|mut child| child.wait4());
    let used = used.map_err(|source| Error::Start { command: format!("{command:?}"), source })?;
    Ok((used.status, used.rusage.utime + used.rusage.stime))
}
