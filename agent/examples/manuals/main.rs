//! Writes the man pages and shell completions of `dayone` into a directory.
//!
//! `dayone.toml(5)` comes from `doc/dayone.toml`; a test compares its keys and defaults with the
//! settings. `dayone-runbook(7)` comes from `doc/runbook.md`.

use std::{error::Error, path::PathBuf};

use clap::CommandFactory as _;
use clap_complete::Shell;

#[allow(dead_code, reason = "only the definition is used here")]
#[path = "../../src/cli.rs"]
mod cli;
mod markdown;

const SETTINGS: &str = include_str!("../../doc/dayone.toml");
const RUNBOOK: &str = include_str!("../../doc/runbook.md");

fn main() -> Result<(), Box<dyn Error>> {
    let directory: PathBuf = std::env::args_os().nth(1).ok_or("usage: manuals DIRECTORY")?.into();
    std::fs::create_dir_all(&directory)?;
    // Building names the subcommands `dayone-apply` and so on.
    let mut program = cli::Cli::command();
    program.build();
    let is_shown = |c: &&clap::Command| c.get_name() != "help" && !c.is_hide_set();
    let commands: Vec<_> = program.get_subcommands().filter(is_shown).collect();
    for command in std::iter::once(&program).chain(commands) {
        clap_mangen::Man::new(command.clone()).section("8").generate_to(&directory)?;
    }
    std::fs::write(directory.join("dayone.toml.5"), settings_page(SETTINGS))?;
    let runbook = markdown::page("dayone-runbook", 7, RUNBOOK);
    std::fs::write(directory.join("dayone-runbook.7"), runbook)?;
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        clap_complete::generate_to(shell, &mut cli::Cli::command(), "dayone", &directory)?;
    }
    Ok(())
}

/// The documented file as a man page: comments become text; keys and tables are bold.
fn settings_page(settings: &str) -> String {
    let mut page = String::from(
        ".TH dayone.toml 5\n.SH NAME\ndayone.toml \\- settings of dayone(8)\n\
         .SH SYNOPSIS\n/etc/dayone/dayone.toml\n.SH DESCRIPTION\n",
    );
    for line in settings.lines() {
        let comment = line.strip_prefix('#').map(str::trim);
        match comment {
            Some("") => page.push_str(".PP\n"),
            Some(text) if is_toml(text) => example(&mut page, text),
            Some(text) => {
                page.push_str(&markdown::escaped(text));
                page.push('\n');
            }
            None if line.is_empty() => page.push_str(".PP\n"),
            None if line.starts_with('[') => {
                page.push_str(&format!(".SS {}\n", markdown::escaped(line)));
            }
            None => example(&mut page, line),
        }
    }
    page.push_str(".SH SEE ALSO\n.BR dayone (8),\n.BR dayone-runbook (7)\n");
    page
}

fn example(page: &mut String, line: &str) {
    page.push_str(&format!(".RS\n.nf\n{}\n.fi\n.RE\n.PP\n", markdown::escaped(line)));
}

/// Whether a comment is a commented-out setting, one without a default.
fn is_toml(text: &str) -> bool {
    text.starts_with("[[") || text.split_once(" = ").is_some_and(|(key, _)| !key.contains(' '))
}
