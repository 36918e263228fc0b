//! Help texts of a program's commands.

use std::{io, path::Path, process::Command};

/// The widest line of a help text.
const COLUMNS: usize = 80;

/// The lines of these options' texts that are too wide, of the program and all of its commands; the number of commands.
///
/// # Errors
/// The program does not run, or refuses its own commands.
pub fn too_wide(program: &Path, options: &[&str]) -> io::Result<(Vec<String>, usize)> {
    let mut commands = vec![Vec::<String>::new()];
    let (mut wide, mut seen) = (Vec::new(), 0);
    while let Some(command) = commands.pop() {
        for option in options {
            let output = Command::new(program).args(&command).arg(option).output()?;
            if !output.status.success() {
                return Err(io::Error::other(format!("{command:?} {option}: {}", output.status)));
            }
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let is_wide = |line: &&str| line.chars().count() > COLUMNS;
            wide.extend(text.lines().filter(is_wide).map(|line| format!("{command:?}: {line}")));
            if option == &options[0] {
                let further = |name: &str| [&command[..], &[name.to_owned()]].concat();
                commands.extend(names(&text).into_iter().map(further));
            }
        }
        seen += 1;
    }
    Ok((wide, seen))
}

/// The commands that a help text lists.
fn names(text: &str) -> Vec<&str> {
    let list = text.split_once("\nCommands:\n").map_or("", |(_, rest)| rest);
    // A further line of a command's text is indented more.
    let name = |line| str::strip_prefix(line, "  ")?.split(' ').next();
    let names = list.lines().take_while(|line| !line.is_empty()).filter_map(name);
    names.filter(|name| !name.is_empty() && *name != "help").collect()
}
