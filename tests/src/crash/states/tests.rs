//! The rules, on small recordings.

use std::collections::BTreeSet;

use super::{
    super::{
        Fault, calls,
        tree::{Entry, Kind},
    },
    *,
};

/// The states of these calls in `/d` and `/e`, each as the contents of its files.
fn states(calls: &str) -> Result<BTreeSet<String>, Fault> {
    let directory = |path: &str| (path.to_owned(), Entry { mode: 0o755, kind: Kind::Directory });
    let start = Tree([directory("/d"), directory("/e")].into());
    let calls: String = calls
        .lines()
        .map(|line| {
            // strace's hexadecimal digits.
            let mut quoted = false;
            let coded = line.chars().map(|c| match c {
                '"' | '<' | '>' => {
                    quoted = !quoted;
                    c.to_string()
                }
                c if quoted => format!("\\x{:02x}", u32::from(c)),
                c => c.to_string(),
            });
            format!("1 {}\n", coded.collect::<String>())
        })
        .collect();
    let calls = calls::parse(&calls)?;
    let recording = Recording::new(start, &["/d", "/e"], &calls)?;
    let shown = |state: State| {
        let files = state.tree.0.keys().filter_map(|path| {
            let text = String::from_utf8_lossy(state.tree.bytes(path)?).replace('\0', "0");
            Some(format!("{path}={text}"))
        });
        files.collect::<Vec<_>>().join(" ")
    };
    Ok(States::new(&recording).all(1000).into_iter().map(shown).collect())
}

fn set<const N: usize>(states: [&str; N]) -> BTreeSet<String> {
    states.map(str::to_owned).into()
}

const WRITE: &str = "openat(AT_FDCWD</>, \"/d/new\", O_WRONLY|O_CREAT|O_EXCL, 0600) = 3</d/new>\n\
                     write(3</d/new>, \"ab\", 2) = 2\n";
const RENAME: &str = "rename(\"/d/new\", \"/d/a\") = 0\n";
const SYNC: &str = "fsync(3</d/new>) = 0\n";

#[test]
fn a_rename_orders_no_data() -> Result<(), Fault> {
    let all = states(&format!("{WRITE}{RENAME}"))?;
    let names = ["/d/new", "/d/a"]
        .map(|path| ["", "a", "ab", "00"].map(|content| format!("{path}={content}")));
    assert_eq!(all, names.concat().into_iter().chain([String::new()]).collect());
    Ok(())
}

#[test]
fn what_is_synced_stays() -> Result<(), Fault> {
    let all = states(&format!("{WRITE}{SYNC}{RENAME}"))?;
    // Before the sync anything, after the rename the whole content.
    assert!(all.contains("/d/a=ab") && !all.contains("/d/a=") && all.contains("/d/new=00"));
    let all =
        states(&format!("mkdir(\"/d/x\", 0755) = 0\nfsync(3</d>) = 0\n{WRITE}{SYNC}{RENAME}"))?;
    assert!(all.contains("/d/a=ab"));
    Ok(())
}

#[test]
fn directories_are_in_any_order_and_one_is_in_its_own() -> Result<(), Fault> {
    let create = |path: &str| {
        format!("openat(AT_FDCWD</>, \"{path}\", O_WRONLY|O_CREAT, 0600) = 3<{path}>\n")
    };
    let all = states(&(create("/d/a") + &create("/e/b")))?;
    assert_eq!(all, set(["", "/d/a=", "/e/b=", "/d/a= /e/b="]));
    let all = states(&(create("/d/a") + &create("/d/b")))?;
    assert_eq!(all, set(["", "/d/a=", "/d/a= /d/b="]));
    let all = states(&(create("/d/a") + "rename(\"/d/a\", \"/e/a\") = 0\n" + &create("/e/b")))?;
    assert_eq!(all, set(["", "/d/a=", "/e/a=", "/e/a= /e/b="]));
    Ok(())
}
