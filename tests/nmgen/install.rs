//! `make install` into a tree: paths, modes, and the presence of every file that a unit names.

use std::{collections::BTreeMap, fs, io, path::Path};

use tests::program::root;
use tests::tree::{Built, files};

/// The values of `key`, such as `Documentation=man:`, in a unit's text.
fn named<'a>(text: &'a str, key: &'a str) -> impl Iterator<Item = &'a str> {
    text.lines().filter_map(move |line| line.strip_prefix(key)?.split_whitespace().next())
}

#[tests::case]
fn tree_is_complete() -> io::Result<()> {
    let tree = tempfile::tempdir()?;
    Built::stand_ins()?.install(tree.path())?;
    let mut installed = files(tree.path())?;

    let ramdisk = fs::read_to_string(tree.path().join("usr/libexec/nmgen/nmgen"))?;
    assert_eq!(ramdisk, "#!/bin/sh\n# nmgen-ramdisk\n");
    for (name, mode) in files(&root().join("systemd"))? {
        let expected = if mode & 0o100 == 0 { 0o644 } else { 0o755 };
        assert_eq!(installed.get(&name), Some(&expected), "{}", name.display());
        let text = fs::read_to_string(tree.path().join(&name))?;
        for program in named(&text, "ExecStart=") {
            // A leading minus ignores the program's failure.
            let program = Path::new(program.trim_start_matches('-').trim_start_matches('/'));
            assert_eq!(installed.get(program), Some(&0o755), "{program:?} of {}", name.display());
        }
        for page in named(&text, "Documentation=man:") {
            let (page, section) = page.trim_end_matches(')').split_once('(').unwrap_or((page, ""));
            let page = format!("usr/share/man/man{section}/{page}.{section}");
            assert!(installed.contains_key(Path::new(&page)), "{page} of {}", name.display());
        }
    }
    for (name, mode) in [
        ("usr/bin/nmgen", 0o755),
        ("usr/bin/dayone", 0o755),
        ("usr/libexec/nmgen/nmgen", 0o755),
        ("usr/share/man/man1/nmgen.1", 0o644),
        ("usr/share/man/man7/dayone-runbook.7", 0o644),
        ("usr/share/man/man8/dayone.8", 0o644),
        ("usr/share/bash-completion/completions/dayone", 0o644),
        ("usr/share/zsh/site-functions/_nmgen", 0o644),
        ("usr/share/fish/vendor_completions.d/nmgen.fish", 0o644),
        ("usr/share/doc/dayone/dayone.toml", 0o644),
        ("usr/share/doc/dayone/status.schema.json", 0o644),
        ("usr/share/doc/dayone/plan.schema.json", 0o644),
        ("usr/share/doc/dayone/adopt.schema.json", 0o644),
        ("usr/share/doc/dayone/diff.schema.json", 0o644),
        ("usr/share/doc/dayone/check.schema.json", 0o644),
        ("usr/share/doc/dayone/health.schema.json", 0o644),
        ("usr/share/doc/dayone/probe.schema.json", 0o644),
        ("usr/share/doc/dayone/collect.schema.json", 0o644),
        ("usr/share/doc/dayone/wire.md", 0o644),
        ("usr/share/doc/nmgen/check.schema.json", 0o644),
        ("usr/share/doc/nmgen/diff.schema.json", 0o644),
        ("usr/share/doc/nmgen/explain.schema.json", 0o644),
        ("usr/share/doc/nmgen/show.schema.json", 0o644),
        ("usr/share/doc/nmgen/report.schema.json", 0o644),
        ("usr/share/doc/dayone/bridge.md", 0o644),
        ("usr/share/doc/dayone/life.md", 0o644),
        ("usr/share/doc/dayone/releases.md", 0o644),
        ("usr/share/doc/dayone/runbook.md", 0o644),
        ("usr/share/doc/nmgen/nmgen.cdx.json", 0o644),
        ("usr/share/doc/nmgen-dracut/nmgen-dracut.cdx.json", 0o644),
        ("usr/share/doc/dayone/dayone.cdx.json", 0o644),
        ("usr/share/doc/dayone/licences.txt", 0o644),
        ("usr/lib/dracut/modules.d/50nmgen/module-setup.sh", 0o755),
        ("usr/share/doc/nmgen/boot.md", 0o644),
        ("usr/share/doc/nmgen/drop-in.md", 0o644),
        ("usr/share/doc/nmgen/checks.md", 0o644),
        ("usr/share/doc/nmgen/images.md", 0o644),
    ] {
        assert_eq!(installed.remove(Path::new(name)), Some(mode), "{name}");
    }
    for (name, _) in files(&root().join("nmgen/doc/guides"))? {
        let name = Path::new("usr/share/doc/nmgen/guides").join(name);
        assert_eq!(installed.remove(&name), Some(0o644), "{}", name.display());
    }
    // Only root may write, whatever the mode of the source file.
    installed.retain(|_, mode| ![0o644, 0o755].contains(mode));
    assert_eq!(installed, BTreeMap::new());
    Ok(())
}
