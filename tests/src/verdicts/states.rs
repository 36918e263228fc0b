//! Sequences of states from outside: each is applied by nmstate's `apply()` and by the agent from the same start, and verdicts, the
//! kernel, profiles, Open vSwitch's database and the exactness of roll backs are compared.

use std::{fmt, fs, io, path::Path, time::Duration};

use super::in_userspace;
use crate::lab::{Error, Inside};

const SCRIPT: &str = concat!(include_str!("common.sh"), include_str!("states.sh"));

/// States that are applied one after another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sequence {
    /// The file's name, or the directory's.
    pub name: String,
    /// The states' texts.
    pub states: Vec<String>,
}

/// The outcome of a state.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Step {
    /// `NAME/NUMBER`.
    pub name: String,
    /// Exit status and last message of nmstate; `None` if it was not asked.
    pub nmstate: Option<(i32, String)>,
    /// Likewise of the agent.
    pub dayone: Option<(i32, String)>,
    /// Whether `dayone diff` finds a difference after its commit.
    pub drifts: bool,
    /// Facts after both have committed: `<` nmstate's alone, `>` the agent's alone.
    pub differs: Vec<String>,
    /// Facts that a roll back of the agent's did not bring back.
    pub remains: Vec<String>,
}

/// The sequences of a directory: each file `NAME.yml`, and each directory's `*.yml` in the order of their names.
///
/// # Errors
/// If something cannot be read.
pub fn sequences(directory: &Path) -> io::Result<Vec<Sequence>> {
    let mut found = Vec::new();
    for path in paths(directory)? {
        let name = if path.is_dir() { path.file_name() } else { path.file_stem() };
        let name = name.unwrap_or_default().to_string_lossy().into_owned();
        let files = if path.is_dir() { paths(&path)? } else { vec![path] };
        let is_state = |path: &&std::path::PathBuf| {
            path.extension().is_some_and(|extension| extension == "yml")
        };
        let states = files.iter().filter(is_state).map(fs::read_to_string);
        let states = states.collect::<io::Result<Vec<_>>>()?;
        if !states.is_empty() {
            found.push(Sequence { name, states });
        }
    }
    Ok(found)
}

fn paths(directory: &Path) -> io::Result<Vec<std::path::PathBuf>> {
    let entries = fs::read_dir(directory)?.map(|entry| entry.map(|it| it.path()));
    let mut paths = entries.collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

impl Sequence {
    /// Applies the states on this node; `bound` is for one of them. The datapath is in userspace: a container's host may not have
    /// the kernel's.
    ///
    /// # Errors
    /// If the node does not answer within the bound.
    pub fn compare(&self, inside: &Inside, bound: Duration) -> Result<Vec<Step>, Error> {
        inside.sh("rm -rf /root/states; mkdir /root/states")?;
        inside.write("/root/states.sh", SCRIPT)?;
        for (number, state) in self.states.iter().enumerate() {
            let path = format!("/root/states/{:03}.yml", number + 1);
            inside.write(&path, &in_userspace(state))?;
        }
        let count = u32::try_from(self.states.len()).unwrap_or(u32::MAX);
        let output = inside.run_within(&["sh", "/root/states.sh"], bound * count)?;
        Ok(steps(&self.name, &output.stdout))
    }
}

/// The script's lines, by step.
fn steps(name: &str, output: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for line in output.lines() {
        let mut words = line.splitn(3, ' ');
        let (Some(kind), Some(number), Some(rest)) = (words.next(), words.next(), words.next())
        else {
            continue;
        };
        let name = format!("{name}/{number}");
        let step = match steps.iter().position(|step| step.name == name) {
            Some(index) => &mut steps[index],
            None => {
                steps.push(Step { name, ..Step::default() });
                let last = steps.len() - 1;
                &mut steps[last]
            }
        };
        match kind {
            "verdict" => step.verdict(rest),
            "differs" => step.differs.push(rest.to_owned()),
            "remains" => step.remains.push(rest.to_owned()),
            _ => {}
        }
    }
    steps
}

impl Step {
    fn verdict(&mut self, text: &str) {
        let mut words = text.splitn(3, ' ');
        let (Some(who), Some(exit)) = (words.next(), words.next()) else { return };
        let Ok(exit) = exit.parse() else { return };
        let said = words.next().unwrap_or_default().to_owned();
        match who {
            "nmstate" => self.nmstate = Some((exit, said)),
            "dayone" => self.dayone = Some((exit, said)),
            _ => self.drifts = said != "# no difference",
        }
    }

    /// Whether both accept or both refuse, with the same result; `None` if one of them was not asked.
    #[must_use]
    pub fn agrees(&self) -> Option<bool> {
        let ((nmstate, _), (dayone, _)) = (self.nmstate.as_ref()?, self.dayone.as_ref()?);
        let is_same = (*nmstate == 0) == (*dayone == 0);
        Some(is_same && !self.drifts && self.differs.is_empty() && self.remains.is_empty())
    }
}

/// A row of the table: verdicts, and the number of facts by their kind.
impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = |verdict: &Option<(i32, String)>| match verdict {
            Some((0, _)) => "accepts".to_owned(),
            Some((exit, _)) => format!("refuses {exit}"),
            None => "-".to_owned(),
        };
        let of = |kind: &str| {
            let is_its = |fact: &&String| fact.split(' ').nth(1) == Some(kind);
            match self.differs.iter().filter(is_its).count() {
                0 => "same".to_owned(),
                count => format!("{count} differ"),
            }
        };
        let is_both = matches!((&self.nmstate, &self.dayone), (Some((0, _)), Some((0, _))));
        let facts = match is_both {
            true => [of("kernel"), of("profile"), of("ovsdb")],
            false => [(); 3].map(|()| "-".to_owned()),
        };
        let undone = match (&self.dayone, self.remains.len()) {
            (Some((0, _)) | None, _) => "-".to_owned(),
            (_, 0) => "exact".to_owned(),
            (_, count) => format!("{count} remain"),
        };
        let drift = if self.drifts { "difference" } else { "-" };
        write!(
            f,
            "{:<60} {:<10} {:<10} {:<10} {:<10} {:<10} {:<10} {drift}",
            self.name,
            word(&self.nmstate),
            word(&self.dayone),
            facts[0],
            facts[1],
            facts[2],
            undone
        )
    }
}

/// A row for each step, the refused ones and the disagreements in full, and the sums.
#[must_use]
pub fn table(steps: &[Step]) -> String {
    let mut text = format!(
        "{:<60} {:<10} {:<10} {:<10} {:<10} {:<10} {:<10} dayone diff\n",
        "state", "nmstate", "dayone", "kernel", "profiles", "ovsdb", "roll back"
    );
    for step in steps {
        text += &format!("{step}\n");
    }
    let is_refused = |step: &&Step| {
        [&step.nmstate, &step.dayone]
            .iter()
            .any(|verdict| verdict.as_ref().is_some_and(|(exit, _)| *exit != 0))
    };
    for step in steps.iter().filter(|step| step.agrees() == Some(false) || is_refused(step)) {
        text += &format!(
            "\n{}\n  nmstate: {:?}\n  dayone: {:?}\n",
            step.name, step.nmstate, step.dayone
        );
        for fact in &step.differs {
            text += &format!("  {fact}\n");
        }
        for fact in &step.remains {
            text += &format!("  after the roll back: {fact}\n");
        }
    }
    let count = |is: &dyn Fn(&Step) -> bool| steps.iter().filter(|step| is(step)).count();
    let accepts = |verdict: &Option<(i32, String)>| verdict.as_ref().map(|(exit, _)| *exit == 0);
    let verdicts = |nmstate: bool, dayone: bool| {
        count(&|step| {
            (accepts(&step.nmstate), accepts(&step.dayone)) == (Some(nmstate), Some(dayone))
        })
    };
    let refused = count(&|step| accepts(&step.dayone) == Some(false));
    let exact = count(&|step| accepts(&step.dayone) == Some(false) && step.remains.is_empty());
    text += &format!(
        "\n{} states compared: both accept {} ({} with another result), both refuse {}, nmstate alone accepts {}, dayone alone \
         accepts {}; {exact} of {refused} roll backs and refusals were exact\n",
        count(&|step| step.agrees().is_some()),
        verdicts(true, true),
        count(&|step| accepts(&step.nmstate) == Some(true)
            && accepts(&step.dayone) == Some(true)
            && step.agrees() == Some(false)),
        verdicts(false, false),
        verdicts(true, false),
        verdicts(false, true),
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disagreement_is_one_of_verdicts_or_of_facts() {
        let output = "verdict 001 nmstate 0 12.5\nverdict 001 dayone 0 in force\nverdict 001 diff 0 # no difference\n\
                      verdict 002 nmstate 0 1.5\nverdict 003 nmstate 1 Error\nverdict 003 dayone 3 FAILED\n\
                      differs 001 < kernel route default via 192.0.2.1\nremains 003 > kernel link br0\n";
        let steps = steps("bond", output);
        let agrees: Vec<_> = steps.iter().map(|step| (&*step.name, step.agrees())).collect();
        assert_eq!(
            agrees,
            [("bond/001", Some(false)), ("bond/002", None), ("bond/003", Some(false))]
        );
        let text = table(&steps);
        assert!(
            text.contains(
                "2 states compared: both accept 1 (1 with another result), both refuse 1"
            )
        );
        assert!(text.contains("0 of 1 roll backs and refusals were exact"), "{text}");
    }
}
