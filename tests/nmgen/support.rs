//! `packaging/sos` and `packaging/must-gather`: each brings the node's file, by the program that runs it.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path, process::Command};

use tests::{
    program::{self, Exits as _, root},
    skip,
};

/// A program that is a script.
fn script(directory: &Path, name: &str, text: &str) {
    let path = directory.join(name);
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// sos reads extras in a directory of the system's, and finds programs on its policy's path.
const REPORT: &str = "\
import sys
from sos.policies.debian import DebianPolicy
from sos.report.plugins.sos_extras import SosExtras
place, directory = sys.argv[1:3]
SosExtras.extras_dir = directory
SosExtras.files = (directory,)
DebianPolicy.PATH = place + ':' + DebianPolicy.PATH
from sos import SoS
SoS(['report', '--batch', '--only-plugins', 'sos_extras', '--tmp-dir', place, '--compression-type', 'gzip']).execute()
";

#[tests::case]
fn sos_reads_the_extra_and_keeps_the_nodes_file() {
    skip::unless_installed("/usr/bin/sos", "sosreport");
    skip::unless_root("sos");
    let place = tempfile::tempdir().unwrap();
    script(place.path(), "dayone", "#!/bin/sh\n[ \"$*\" = collect ] && echo '{\"schema\": 1}'\n");
    let mut report = Command::new("/usr/bin/python3");
    // sos passes over a directory that others than root may write.
    let extras = place.path().join("extras.d");
    fs::create_dir(&extras).unwrap();
    fs::set_permissions(&extras, fs::Permissions::from_mode(0o755)).unwrap();
    fs::copy(root().join("packaging/sos/dayone"), extras.join("dayone")).unwrap();
    report.args(["-B", "-c", REPORT]).arg(place.path()).arg(&extras);
    let output = report.output().unwrap();
    let told = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    let found = "tar --extract --gzip --to-stdout --wildcards --file \"$0\"/sosreport*.gz '*/sos_commands/sos_extras/dayone/dayone_collect'";
    let output = Command::new("sh").args(["-c", found]).arg(place.path()).output().unwrap();
    assert_eq!(output.out(), "{\"schema\": 1}\n", "{output:?}: {told}");
}

/// Three nodes, of which one does not answer.
const OC: &str = "\
#!/bin/sh
case $1 in
get) printf 'w-0\\nw-1\\nw-2\\n' ;;
debug) [ \"$2\" != node/w-1 ] || { printf 'no \"such\" \\033[2Jnode\n' >&2; exit 1; }; echo \"{\\\"hostname\\\": \\\"$2\\\"}\" ;;
esac
";

#[tests::case]
fn must_gather_has_a_file_a_node_and_tells_who_did_not_answer() {
    let place = tempfile::tempdir().unwrap();
    script(place.path(), "oc", OC);
    let mut gather = Command::new(root().join("packaging/must-gather/gather_dayone"));
    let path = format!("{}:{}", place.path().display(), std::env::var("PATH").unwrap());
    let output = gather.env("PATH", path).current_dir(place.path()).output().unwrap();
    let told = output.err();
    assert_eq!(told, "gather_dayone: w-1: no \"such\" [2Jnode\n");
    assert_eq!(output.status.code(), Some(1));
    let files = place.path().join("must-gather/dayone");
    let mut names: Vec<_> = fs::read_dir(&files)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["w-0.json", "w-1.json", "w-1.json.log", "w-2.json"]);
    assert_eq!(
        fs::read_to_string(files.join("w-2.json")).unwrap(),
        "{\"hostname\": \"node/w-2\"}\n"
    );
    let why = "no answer to gather_dayone: no \"such\" […";
    program::nmgen_in(&files, &["report", "w-1.json"]).exits(3).says("UNREADABLE").says(why);
}
