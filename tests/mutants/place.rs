//! Where a mutation test has its files: `target/mutants`.

use std::{env, path::PathBuf, process::Command};

/// Takes most of the cases' time, which is many times that of the compiler.
const OPTIMISED: [&str; 2] = ["nmgen", "nmstate"];

/// The directories of a run.
pub(crate) struct Place {
    /// The workspace's root.
    pub(crate) root: PathBuf,
}

impl Place {
    pub(crate) fn own(&self) -> PathBuf {
        self.root.join("target/mutants")
    }

    /// The copy of the tree that has the mutants.
    pub(crate) fn copy(&self) -> PathBuf {
        self.own().join("copy")
    }

    fn build(&self) -> PathBuf {
        self.own().join("build")
    }

    pub(crate) fn nmgen(&self) -> PathBuf {
        self.build().join("debug/nmgen")
    }

    /// The list of the mutants: a mutant's number is its place in it.
    pub(crate) fn mutants(&self) -> PathBuf {
        self.own().join("mutants.json")
    }

    /// Mutants that do not compile, or not behind a switch.
    pub(crate) fn left_out(&self) -> PathBuf {
        self.own().join("left-out.txt")
    }

    pub(crate) fn suites(&self) -> PathBuf {
        self.own().join("suites.tsv")
    }

    /// The cases of this build, and the mutants that each reaches.
    pub(crate) fn cases(&self) -> PathBuf {
        self.own().join("cases.json")
    }

    /// One line a mutant, as soon as it is judged.
    pub(crate) fn judged(&self) -> PathBuf {
        self.own().join("judged.tsv")
    }

    /// For the files of the cases.
    pub(crate) fn temporary(&self) -> PathBuf {
        self.own().join("temporary")
    }

    /// cargo in the copy, on the whole workspace.
    pub(crate) fn cargo(&self, command: &str) -> Command {
        let mut cargo = Command::new(env::var_os("CARGO").unwrap_or("cargo".into()));
        cargo.current_dir(self.copy()).args([command, "--locked", "--quiet", "--workspace"]);
        cargo.env("CARGO_TARGET_DIR", self.build());
        for package in OPTIMISED {
            cargo.args(["--config", &format!("profile.dev.package.{package}.opt-level=1")]);
        }
        cargo
    }
}
