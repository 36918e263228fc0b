//! `dayone recover` for one root directory after the other: a line of standard input names each, and a line of standard output
//! has the exit code, with the reason if it is not 0. A debug build takes five times as long to start as to recover.

#![allow(clippy::print_stdout, reason = "a program of the crash states")]

use std::{io, path::Path};

fn main() -> io::Result<()> {
    for root in io::stdin().lines() {
        match dayone::recover(Path::new(&root?)) {
            Ok(()) => println!("0"),
            Err((code, reason)) => println!("{code} {}", reason.replace('\n', " ")),
        }
    }
    Ok(())
}
