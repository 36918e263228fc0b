//! The agent's files after a power cut. The input's first line names a file, and the rest is its content; the other files are
//! those of an open transaction. Nothing outside of the protected places changes, and a second recovery finds nothing to do.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    sync::LazyLock,
};

use super::block_on;
use crate::{
    cli::StatusForm,
    command,
    document::{Document, digest::Digest},
    durable::{
        commit,
        journal::{self, ChangeKind, Journal},
    },
    model::Before,
    paths::Paths,
};

const PROFILES: &str = "etc/NetworkManager/system-connections";
const OF_OTHERS: &str = "etc/passwd";

/// The files that an input may be.
const FILES: [&str; 9] = [
    "var/lib/dayone/transaction/journal.json",
    "var/lib/dayone/transaction/files/manifest.json",
    "var/lib/dayone/committed/automatic.json",
    "var/lib/dayone/committed/record.json",
    "var/lib/dayone/record.json",
    "var/lib/dayone/history.jsonl",
    "run/dayone/status.json",
    "run/dayone/trial.json",
    "run/dayone/lock",
];

type Files = BTreeMap<PathBuf, Vec<u8>>;

/// The tree of an open transaction, as the agent makes it.
static OPEN: LazyLock<Files> = LazyLock::new(|| {
    let made = open();
    assert!(made.is_ok(), "{made:?}");
    made.unwrap_or_default()
});

pub(super) fn run(input: &[u8]) {
    let Some(end) = input.iter().position(|byte| *byte == b'\n') else { return };
    let (name, content) = (&input[..end], &input[end + 1..]);
    let Some(name) = FILES.iter().find(|file| file.as_bytes() == name) else { return };
    let place = tempfile::tempdir();
    let Ok(place) = place else { unreachable!("{place:?}") };
    let root = place.path().join("node");
    let written = OPEN.iter().try_for_each(|(path, bytes)| write(&root, path, bytes));
    let written = written.and_then(|()| write(&root, Path::new(name), content));
    assert!(written.is_ok(), "{written:?}");

    let paths = Paths::new(&root);
    let first = block_on(command::recover(&paths));
    let after = tree(&root);
    // Nothing leads out of the tree; the manifest alone says which places in it are the transaction's.
    assert_eq!(fs::read_dir(place.path()).map(Iterator::count).ok(), Some(1));
    if !name.ends_with("manifest.json") {
        assert_eq!(after.get(Path::new(OF_OTHERS)), OPEN.get(Path::new(OF_OTHERS)));
    }
    if first.is_ok() {
        let second = block_on(command::recover(&paths));
        assert!(second.is_ok(), "{second:?}");
        assert_eq!(after, tree(&root));
    }
    // With the plan of a bridge it would ask this machine's NetworkManager.
    if paths.bridge().exists() {
        return;
    }
    for form in [StatusForm::Text, StatusForm::Json, StatusForm::Prometheus] {
        // Any verdict will do: the text is there.
        let _ = block_on(command::status_text(&paths, form));
    }
}

fn open() -> Result<Files, Box<dyn std::error::Error>> {
    let root = tempfile::tempdir()?;
    let paths = Paths::new(root.path());
    let text = "interfaces:\n- {name: eno1, type: ethernet, state: up}\n";
    let document = Document {
        path: "/etc/nmstate/openshift/cluster.yml".into(),
        text: text.to_owned(),
        digest: Digest::of(text.as_bytes()),
        mode: 0o644,
    };
    let profile = format!("{PROFILES}/eno1.nmconnection");
    write(root.path(), Path::new(&profile), b"[connection]\nid=eno1\n")?;
    write(root.path(), Path::new("proc/sys/kernel/random/boot_id"), b"b00f\n")?;
    write(root.path(), Path::new(OF_OTHERS), b"root:x:0:0::/root:/bin/bash\n")?;
    fs::create_dir_all(paths.documents())?;
    let journal = Journal::new(
        &paths,
        ChangeKind::Document,
        (document.digest.clone(), document.path.clone()),
        Vec::new(),
        Before::default(),
        Vec::new(),
    );
    let stage = |new: &Path| commit::stage(&paths, new, &document, text);
    drop(journal::open(&paths, &journal, &[text], stage)?);
    write(root.path(), Path::new(&profile), b"[connection]\nid=new\n")?;
    Ok(tree(root.path()))
}

fn write(root: &Path, path: &Path, content: &[u8]) -> io::Result<()> {
    let path = root.join(path);
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    fs::write(path, content)
}

/// The files below `root`. The lock names its process.
fn tree(root: &Path) -> Files {
    let mut files = Files::new();
    let mut directories = vec![root.to_path_buf()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            let path = entry.path();
            let name = path.strip_prefix(root).unwrap_or(&path).to_path_buf();
            if path.is_dir() {
                directories.push(path);
            } else if name != Path::new("run/dayone/lock") {
                files.insert(name, fs::read(&path).unwrap_or_default());
            }
        }
    }
    files
}
