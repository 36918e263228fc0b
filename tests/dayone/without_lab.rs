//! Without a lab a case counts as ignored, unless everything is required. `make check` requires it, or `LAB=off` is set and the
//! last line names the untested parts. Its core of the lab is a list of cases.

use std::{
    collections::BTreeSet,
    env, fs, io,
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::{Command, Output},
};

use tests::program;

/// An unwritable cache.
const NOWHERE: (&str, &str) = ("LAB_CACHE", "/dev/null/cache");

/// The resulting message.
fn reason() -> &'static str {
    match nix::unistd::geteuid().is_root() {
        true => "the lab cannot run: no directory for its cache: /dev/null/cache",
        false => "the lab cannot run: it needs root",
    }
}

/// Set in nested runs: the cases below start the suite that contains them.
const NESTED: &str = "LAB_NESTED";

/// Runs a command with an unusable lab, without the variables of this run.
fn run(command: &mut Command, lab: &[(&str, &str)]) -> io::Result<(bool, String)> {
    for name in ["LAB", "REQUIRE_LAB", "NOT_TESTED", "MAKEFLAGS", "MFLAGS", "MAKELEVEL"] {
        command.env_remove(name);
    }
    let Output { status, stdout, stderr } =
        command.envs([NOWHERE, (NESTED, "1")]).envs(lab.iter().copied()).output()?;
    let text = [stdout, stderr].concat();
    Ok((status.success(), String::from_utf8_lossy(&text).into_owned()))
}

fn make(target: &str, place: &Path, lab: &[(&str, &str)]) -> io::Result<(bool, String)> {
    let mut make = Command::new("make");
    make.current_dir(program::root()).args(["--silent", target]);
    make.env("STAGES", place.join("stages")).env("PROGRAMS_BUILT", "1");
    // No stage builds the programs as they are shipped.
    make.env("DAYONE_PROGRAM", program::dayone());
    make.arg(format!("CARGO={}", place.join("cargo").display()));
    make.arg(format!("OUT={}", place.join("out").display()));
    run(&mut make, lab)
}

/// A stand-in for cargo that builds nothing and names this program as each suite.
fn stand_in(place: &Path) -> io::Result<()> {
    let suite = env::current_exe()?;
    let suites = ["nmgen", "dayone", "two_stage"]
        .map(|name| format!("  Executable {name}/main.rs ({})\n", suite.display()))
        .concat();
    let cargo = place.join("cargo");
    fs::write(&cargo, format!("#!/bin/sh\n[ \"$1\" != test ] || cat >&2 <<'END'\n{suites}END\n"))?;
    fs::set_permissions(&cargo, fs::Permissions::from_mode(0o755))
}

#[tests::case]
fn a_case_says_that_it_did_not_run_and_fails_where_it_has_to() -> io::Result<()> {
    let case = "lab::static_address_is_reached_by_the_peer";
    let run = |lab: &[(&str, &str)]| {
        run(Command::new(env::current_exe()?).args(["--exact", case, "--nocapture"]), lab)
    };
    for lab in [&[("REQUIRE_LAB", "1")][..], &[("LAB", "off"), ("REQUIRE_LAB", "1")]] {
        let (passed, text) = run(lab)?;
        assert!(!passed, "{text}");
        assert!(text.contains(reason()), "{text}");
    }
    for (lab, reason) in [(&[][..], reason()), (&[("LAB", "off")], "(LAB=off)")] {
        let (passed, text) = run(lab)?;
        assert!(passed, "{text}");
        let line = text.lines().find(|line| line.starts_with("NOT TESTED: cases in containers"));
        assert!(line.is_some_and(|line| line.ends_with(reason)), "{text}");
        assert!(text.contains("test result: ok. 0 passed; 0 failed; 1 ignored;"), "{text}");
    }
    Ok(())
}

/// The cases of this suite that these arguments choose, as the harness lists them.
fn listed(arguments: &[&str]) -> io::Result<Vec<String>> {
    let output = Command::new(env::current_exe()?).arg("--list").args(arguments).output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok(text.lines().map(str::to_owned).collect())
}

#[tests::case]
fn each_name_of_the_core_is_a_case() -> io::Result<()> {
    let names = include_str!("core").lines().filter_map(|line| line.split(' ').next());
    let core: BTreeSet<&str> = names.filter(|name| name.contains("::")).collect();
    let exact: Vec<&str> = ["--exact"].into_iter().chain(core.iter().copied()).collect();
    let chosen = listed(&exact)?;
    let chosen: BTreeSet<&str> =
        chosen.iter().filter_map(|line| line.strip_suffix(": test")).collect();
    assert_eq!(chosen, core);
    assert!((20..=30).contains(&core.len()), "{}", core.len());
    Ok(())
}

/// cargo's harness takes any number of filters, and `make check-versions` gives some.
#[tests::case]
fn each_filter_chooses_cases() -> io::Result<()> {
    let (names, conclusion) =
        ("without_lab::each_filter", "without_lab::make_says_that_all_passed_only_when_all_ran");
    let both = listed(&[names, conclusion])?;
    assert_eq!(both.len(), 2, "{both:?}");
    assert_eq!(listed(&["--exact", names, conclusion])?, [format!("{conclusion}: test")]);
    assert!(listed(&[])?.len() > 100);
    Ok(())
}

#[tests::case]
fn make_fails_or_says_what_was_left_out() -> io::Result<()> {
    if env::var_os(NESTED).is_some() {
        return Ok(());
    }
    let place = tempfile::tempdir()?;
    stand_in(place.path())?;
    program::nmgen();
    for (target, left_out, others) in [
        ("check", "cases in containers (LAB=off)", "; not in it: make check-all: virtual machines"),
        ("check-all", "random faults on nodes (LAB=off)", "; not in it: make check-boot"),
        ("demo", "the agent on a node (LAB=off)", ""),
    ] {
        for lab in [&[][..], &[("LAB", "off"), ("REQUIRE_LAB", "1")]] {
            let (passed, text) = make(target, place.path(), lab)?;
            assert!(!passed, "{text}");
            let lines = text.lines().filter(|line| line.contains(reason())).count();
            assert_eq!(lines, 1, "{text}");
        }
        let (passed, text) = make(target, place.path(), &[("LAB", "off")])?;
        assert!(passed, "{text}");
        let last = text.lines().last().unwrap_or_default();
        assert!(last.starts_with(&format!("make {target}: ")), "{text}");
        assert!(last.contains(left_out) && last.contains(others), "{last}");
        assert!(!text.contains("all passed") && !text.contains("everything"), "{text}");
    }
    Ok(())
}

#[tests::case]
fn make_says_that_all_passed_only_when_all_ran() -> io::Result<()> {
    let place = tempfile::tempdir()?;
    let conclude = |left_out: &str| {
        let file = place.path().join("left-out");
        fs::write(&file, left_out)?;
        let mut shell = Command::new("sh");
        shell.current_dir(program::root()).env("NOT_TESTED", file).env_remove("FLAKES");
        let script = ". tests/stages/lib.sh; conclude check 'all passed' 'make more'";
        let output = shell.args(["-euc", script]).output()?;
        Ok::<_, io::Error>(String::from_utf8_lossy(&output.stdout).into_owned())
    };
    assert_eq!(conclude("")?, "make check: all passed; not in it: make more\n");
    let left_out = "make check: passed; NOT TESTED: a; b; not in it: make more\n";
    assert_eq!(conclude("b\na\nb\n")?, left_out);
    Ok(())
}
