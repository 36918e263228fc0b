//! A case that fails once under load is named by `make check`; one that fails twice, or more than five, end it. A part of the lab
//! is built again where it failed once.

use std::{
    fs, io,
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::{Command, Output},
};

use tests::program::{self, Exits as _};

/// A stand-in for a suite: `failing` fail in the first run, and `always` of them in the second.
fn suite(place: &Path, failing: &str, always: &str) -> io::Result<()> {
    let suite = place.join("suite");
    let text = format!(
        "#!/bin/sh\n\
         if [ \"$1\" = --exact ]; then [ \"$2\" != '{always}' ]; exit; fi\n\
         [ -n '{failing}' ] || exit 0\n\
         printf '\\nfailures:\\n\\n---- said ----\\n    no_case\\n\\nfailures:\\n'\n\
         printf '    %s\\n' {failing}\nexit 101\n"
    );
    fs::write(&suite, text)?;
    fs::set_permissions(&suite, fs::Permissions::from_mode(0o755))?;
    fs::write(
        place.join("executables"),
        format!("  Executable dayone/main.rs ({})\n", suite.display()),
    )?;
    fs::write(place.join("flakes"), "")
}

/// Runs the stage as `make check` does: whether it passed, its log, and the flakes.
fn stage(place: &Path, failing: &str, always: &str) -> io::Result<(bool, String, String)> {
    suite(place, failing, always)?;
    let mut run = Command::new(program::root().join("tests/stages/run"));
    run.args(["dayone", "tests/stages/suite", "dayone"]).current_dir(program::root());
    let Output { status, .. } =
        run.env("STAGES", place).env("FLAKES", place.join("flakes")).output()?;
    let log = fs::read_to_string(place.join("dayone.log"))?;
    Ok((status.success(), log, fs::read_to_string(place.join("flakes"))?))
}

#[tests::case]
fn second_run_alone_decides() -> io::Result<()> {
    let place = tempfile::tempdir()?;
    let place = place.path();
    let (passed, log, flakes) = stage(place, "", "")?;
    assert!(passed && flakes.is_empty(), "{log}");
    let (passed, log, flakes) = stage(place, "apply::dhcp status::text", "")?;
    assert!(passed, "{log}");
    assert!(log.contains("suite: apply::dhcp failed and runs again, alone"), "{log}");
    assert_eq!(flakes, "apply::dhcp\nstatus::text\n");
    let (passed, log, _) = stage(place, "apply::dhcp status::text", "status::text")?;
    assert!(!passed, "{log}");
    let (passed, log, flakes) = stage(place, "a::a b::b c::c d::d e::e f::f", "")?;
    assert!(!passed && flakes.is_empty(), "{log}");
    Ok(())
}

#[tests::case]
fn last_line_names_them() -> io::Result<()> {
    let place = tempfile::tempdir()?;
    let [nothing, flakes] = ["nothing", "flakes"].map(|name| place.path().join(name));
    fs::write(&nothing, "")?;
    fs::write(&flakes, "b::b\na::a\n")?;
    let mut shell = Command::new("sh");
    shell.current_dir(program::root()).env("NOT_TESTED", nothing).env("FLAKES", flakes);
    let output =
        shell.args(["-euc", ". tests/stages/lib.sh; conclude check 'all passed'"]).output()?;
    let line = "make check: passed; FLAKES, passed by their second run alone: a::a; b::b\n";
    assert_eq!(output.out(), line);
    Ok(())
}

#[tests::case]
fn part_of_the_lab_is_built_again_once() -> io::Result<()> {
    let place = tempfile::tempdir()?;
    let place = place.path();
    let script = place.join("build-part.sh");
    for (failures, is_built) in [(1, true), (2, false)] {
        let _ = fs::remove_file(place.join("tries"));
        let text = format!(
            "#!/bin/sh\nmkdir \"$2\"\necho \"$1\" >>tries\n[ $(wc -l <tries) -gt {failures} ]\n"
        );
        fs::write(&script, text)?;
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755))?;
        let mut shell = Command::new("sh");
        shell.current_dir(place).env("lab", program::root().join("tests/lab"));
        // Only root may have mounts of its own.
        let built = ". \"$lab/lib.sh\"; . \"$lab/part.sh\"; own_mounts=; here=$PWD; \
                     build part build-part.sh argument";
        let output = shell.args(["-euc", built]).output()?;
        assert_eq!(output.status.success(), is_built, "{output:?}");
        assert_eq!(fs::read_to_string(place.join("tries"))?, "argument\nargument\n");
        assert!(!place.join("part.part").exists());
        assert_eq!(place.join("part").exists(), is_built);
        let _ = fs::remove_dir(place.join("part"));
    }
    Ok(())
}
