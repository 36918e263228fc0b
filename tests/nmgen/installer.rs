//! `dayone-install`, and the unit that it leaves, below a directory in place of `/`: cut off at each of its steps, and beside
//! another agent.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;

use tests::{program::root, skip};

const IMAGE: &str = "registry.example.org/dayone@sha256:0123456789abcdef0123456789abcdef";
/// The file that the unit's condition looks for.
const MARK: &str = "usr/local/bin/dayone-0123456789ab";
const PROGRAM: &str = "usr/local/bin/dayone";
const REMOVAL: &str = "etc/systemd/system/dayone-remove.service";
const WANTS: &str = "etc/systemd/system/multi-user.target.wants/dayone-remove.service";
const STATE: &str = "var/lib/dayone/record.json";

const PODMAN: &str = "#!/bin/sh
case $1 in create) echo lab ;; cp) printf '#!/bin/sh\\nexit 0\\n' >\"$3\" ;; esac
";

/// A program that changes the disk: at the step that is told it fails, as if the script had been killed.
const STEP: &str = "#!/bin/sh
echo >>steps
[ \"$(wc -l <steps)\" != \"$CUT\" ] || kill -9 $PPID
exec /usr/bin/NAME \"$@\"
";

/// A node's tree.
struct Node(tempfile::TempDir);

impl Node {
    fn new() -> Self {
        let node = Self(tempfile::tempdir().unwrap());
        for directory in ["usr/local/bin", "etc/systemd/system"] {
            fs::create_dir_all(node.path(directory)).unwrap();
        }
        node.program("programs/podman", PODMAN);
        for name in ["mv", "ln", "sync", "mkdir"] {
            node.program(&format!("programs/{name}"), &STEP.replace("NAME", name));
        }
        node.file(STATE, "{}");
        node
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn file(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn program(&self, path: &str, text: &str) {
        self.file(path, text);
        fs::set_permissions(self.path(path), fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn is_there(&self, path: &str) -> bool {
        self.path(path).symlink_metadata().is_ok()
    }

    /// Runs the script, and kills it at this step.
    fn install(&self, cut: usize) -> bool {
        skip::unless_root("the owner of dayone-install's program");
        let script = "nmgen/crates/fleet/src/output/delivery/agent/dayone-install";
        let mut text = fs::read_to_string(root().join(script)).unwrap();
        for place in ["/usr/local/bin", "/etc/systemd", "/var/lib", "/usr/bin/dayone", "/usr/lib"] {
            text = text.replace(place, &format!("{}{place}", self.0.path().display()));
        }
        self.file("script", &text);
        let _ = fs::remove_file(self.path("steps"));
        let mut bash = Command::new("bash");
        bash.args(["script", IMAGE]).current_dir(self.0.path()).env("CUT", cut.to_string());
        let programs = self.path("programs");
        bash.env("PATH", format!("{}:/usr/sbin:/usr/bin:/sbin:/bin", programs.display()));
        bash.output().unwrap().status.success()
    }

    /// Runs the commands of the unit, as the boot that follows does.
    fn removed(&self) {
        let text = fs::read_to_string(self.path(REMOVAL)).unwrap();
        for line in text.lines().filter_map(|line| line.strip_prefix("ExecStart=")) {
            assert!(Command::new("sh").args(["-c", line]).status().unwrap().success(), "{line}");
        }
    }
}

#[tests::case]
fn no_mark_is_set_before_the_work_is_done() {
    let mut steps = 0;
    loop {
        steps += 1;
        let node = Node::new();
        let is_done = node.install(steps);
        if node.is_there(MARK) {
            for part in [PROGRAM, REMOVAL, WANTS] {
                assert!(node.is_there(part), "no {part} after step {steps}");
            }
        }
        // The next boot, if its condition lets it.
        assert!(node.is_there(MARK) || node.install(0), "{steps}");
        let runs = Command::new(node.path(PROGRAM)).status().unwrap();
        assert!(runs.success() && node.is_there(MARK), "{steps}");
        if is_done {
            break;
        }
    }
    assert!(steps > 5, "{steps}");
}

#[tests::case]
fn state_of_another_agent_stays() {
    let agents = [
        "usr/bin/dayone",
        "usr/lib/systemd/system/dayone.service",
        "etc/systemd/system/dayone.service",
    ];
    for other in [None, Some(agents[0]), Some(agents[1]), Some(agents[2])] {
        let node = Node::new();
        assert!(node.install(0));
        let unit = fs::read_to_string(node.path(REMOVAL)).unwrap();
        let before = unit.lines().find_map(|line| line.strip_prefix("Before=")).unwrap_or_default();
        assert!(before.contains("dayone-recover.service"), "{unit}");
        if let Some(other) = other {
            node.file(other, "");
        }
        node.removed();
        for gone in [MARK, PROGRAM, REMOVAL, WANTS] {
            assert!(!node.is_there(gone), "{gone} beside {other:?}");
        }
        assert_eq!(node.is_there(STATE), other.is_some(), "{other:?}");
    }
}
