//! Trees of a GitOps repository: what is read, what is left out, and what lies beside hosts.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tests::{
    measure,
    program::{self, Exits as _},
    skip,
};

/// A host with an address, a route and a name server.
fn document(last: u8) -> String {
    format!(
        "interfaces:\n- {{name: eno1, type: ethernet, state: up, ipv4: {{enabled: true, dhcp: false, address: \
         [{{ip: 192.0.2.{last}, prefix-length: 24}}]}}}}\ndns-resolver: {{config: {{server: [192.0.2.53]}}}}\n\
         routes: {{config: [{{destination: 0.0.0.0/0, next-hop-address: 192.0.2.1, next-hop-interface: eno1}}]}}\n"
    )
}

struct Tree(tempfile::TempDir);

impl Tree {
    fn of(files: &[(&str, &str)]) -> Self {
        let tree = Self(tempfile::tempdir().unwrap());
        for (name, text) in files {
            let path = tree.0.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        tree
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn run(&self, arguments: &[&str]) -> Output {
        program::nmgen_in(self.path(), arguments)
    }

    /// The exit code, and the rules of the findings.
    fn check(&self) -> (Option<i32>, Vec<String>) {
        let output = self.run(&["check", "--format", "json", "."]);
        let found = output.json();
        let findings = found["findings"].as_array().unwrap().iter();
        let rules = findings.map(|it| it["rule"].as_str().unwrap().to_owned()).collect();
        (output.status.code(), rules)
    }
}

const KUSTOMIZATION: &str = "resources: [namespace.yaml]\nnamespace: site-a\n";
const NAMESPACE: &str = "apiVersion: v1\nkind: Namespace\nmetadata: {name: site-a}\n";
const VALUES: &str = "image: {repository: registry.example.com/a, tag: '1'}\nreplicas: 2\n";
const LIST: &str = "- name: a\n- name: b\n";
const CHART: &str =
    "apiVersion: apps/v1\nkind: Deployment\nspec:\n  replicas: {{ .Values.replicas }}\n";

#[tests::case]
fn a_tree_is_read_to_its_end_but_for_what_git_leaves_out() {
    skip::unless_installed("git", "git");
    let (a, b) = (document(11), document(12));
    let wrong = "interfaces: [{name: eno1, foo: 1}]\n";
    let tree = Tree::of(&[
        ("sites/a/node1.yml", &a),
        ("sites/b/deep/er/node1.yml", &b),
        ("sites/.cache/node2.yml", wrong),
        ("sites/out/node3.yml", wrong),
        (".gitignore", "out/\n"),
    ]);
    let git = Command::new("git").args(["init", "-q"]).current_dir(tree.path()).status().unwrap();
    assert!(git.success());
    let told = tree.run(&["check", "--allow", "ignored-unread", "."]);
    assert_eq!(told.err(), "sites/a: 1 host, no errors\nsites/b/deep/er: 1 host, no errors\n");
    // A directory that is named itself is read.
    tree.run(&["check", "sites/out"]).exits(2);
}

/// Runs git in a tree.
fn git(tree: &Tree, arguments: &[&str]) {
    let git = Command::new("git").args(arguments).current_dir(tree.path()).status().unwrap();
    assert!(git.success(), "{arguments:?}");
}

const WRONG: &str = "interfaces: [{name: eno1, foo: 1}]\n";

#[tests::case]
fn a_file_that_an_ignore_file_leaves_out_is_one_warning_committed_or_not() {
    skip::unless_installed("git", "git");
    let tree = Tree::of(&[
        ("sites/a/node1.yml", &document(11)),
        ("sites/sub/deep/node2.yml", WRONG),
        ("sites/sub/node3.txt", ""),
        ("sites/out/.node4.yml", WRONG),
        ("sites/.gitignore", "sub/\nout/\n"),
    ]);
    git(&tree, &["init", "-q"]);
    let is_told = |source: &str| {
        let told = tree.run(&["check", source]).exits(0);
        let said = told.err();
        assert_eq!(said.matches("warning[").count(), usize::from(!said.contains("no errors")));
        said.contains("warning[ignored-unread]") && said.contains("sites/sub/deep/node2.yml\n")
    };
    assert!(is_told("."));
    git(&tree, &["add", "--force", "sites/sub/deep/node2.yml"]);
    assert!(is_told("."));
    assert!(is_told("sites"));
    // What is gone, and a hidden file, are no fault.
    fs::remove_file(tree.path().join("sites/sub/deep/node2.yml")).unwrap();
    assert!(!is_told("."));
}

/// Each entry of git's index, version 4 (gitformat-index(5)), adds eight bytes to the name of the one before.
#[tests::case]
fn an_index_of_git_takes_no_memory_whatever_names_it_has() {
    const ENTRIES: u32 = 18_000;
    let tree = Tree::of(&[
        ("sites/a/node1.yml", &document(11)),
        ("sites/out/node2.yml", WRONG),
        (".gitignore", "out/\n"),
        (".git/HEAD", ""),
    ]);
    let mut index = [&b"DIRC"[..], &4_u32.to_be_bytes(), &ENTRIES.to_be_bytes()].concat();
    for number in 1..=ENTRIES {
        let length = u16::try_from(8 * number).unwrap_or(u16::MAX).min(0x0fff);
        index.extend([0; 60]);
        index.extend(length.to_be_bytes());
        index.extend(b"\0aaaaaaaa\0");
    }
    index.extend([0; 20]);
    fs::write(tree.path().join(".git/index"), index).unwrap();
    let mut check = Command::new(program::nmgen());
    let cost = measure::run(check.args(["check", "."]).current_dir(tree.path())).unwrap();
    assert_eq!(cost.exit_code, Some(0));
    assert!(cost.peak_memory < 150 << 20, "{} MB", cost.peak_memory >> 20);
}

#[tests::case]
fn the_ignore_files_of_a_repository_count_from_its_first_directory_down() {
    let a = document(11);
    let tree = Tree::of(&[
        ("own/sites/a/node1.yml", &a),
        ("own/sites/b/node2.yml", WRONG),
        ("own/sites/c/keep.yml", &document(12)),
        ("own/sites/c/node3.yml", WRONG),
        ("own/sites/c/.gitignore", "\u{feff}*.yml\n[\n!keep.yml\n"),
        ("own/.gitignore", "/sites/b/\n"),
        // Above the repository, and beside it.
        (".gitignore", "sites/\n"),
        ("other/.gitignore", "a/\n"),
        ("other/sites/a/node5.yml", &document(15)),
    ]);
    fs::create_dir(tree.path().join("own/.git")).unwrap();
    for (source, sites) in [("own", "sites/"), ("own/sites", "")] {
        let told = tree.run(&["check", "--allow", "ignored-unread", source]);
        let expected = format!("{sites}a: 1 host, no errors\n{sites}c: 1 host, no errors\n");
        assert_eq!(told.err(), expected, "{source}");
    }
    assert!(tree.run(&["check", "other"]).err().contains("1 host in other, no errors"));
}

#[tests::case]
fn an_ignore_file_that_is_none_is_not_opened() {
    let a = document(11);
    for (make, why) in [
        ("ln -s /dev/zero .gitignore", "it is a link"),
        ("mkfifo .gitignore", "it is no regular file"),
        ("mkdir .gitignore", "it is no regular file"),
        ("head -c 65537 /dev/zero > .gitignore", "it is larger than 64 KiB"),
    ] {
        let tree = Tree::of(&[("sites/a/node1.yml", &a), (".git/HEAD", "")]);
        let made = Command::new("sh").args(["-c", make]).current_dir(tree.path()).status().unwrap();
        assert!(made.success(), "{make}");
        for source in [".", "sites"] {
            let told = tree.run(&["check", source]).exits(0);
            let said = told.err();
            assert!(said.contains("warning[ignore-file-unread]") && said.contains(why), "{said}");
        }
    }
}

#[tests::case]
fn generate_takes_no_old_files_from_below_a_directory_with_hosts() {
    let (a, b) = (document(11), document(12));
    let tree = Tree::of(&[("hosts/node1.yml", &a), ("hosts/old/node1.yml", &b)]);
    tree.run(&["generate", "-o", "out", "hosts"]).reports("directory-skipped");
    assert!(tree.path().join("out/node1/eno1.nmconnection").exists());
    // Two directories of hosts are two clusters.
    let tree = Tree::of(&[("sites/a/node1.yml", &a), ("sites/b/node1.yml", &b)]);
    tree.run(&["generate", "-o", "out", "sites"]).exits(0);
    assert!(tree.path().join("out/a/node1/eno1.nmconnection").exists());
}

#[tests::case]
fn files_that_describe_no_host_are_one_warning() {
    let neighbours = [
        ("kustomization.yaml", KUSTOMIZATION),
        ("namespace.yaml", NAMESPACE),
        ("values.yaml", VALUES),
        ("hosts.yaml", LIST),
        ("templates/deployment.yaml", CHART),
    ];
    for neighbour in neighbours {
        let (code, rules) = Tree::of(&[neighbour]).check();
        assert_eq!((code, &rules[..]), (Some(0), &["unused-file".to_owned()][..]), "{neighbour:?}");
    }
    let tree = Tree::of(&neighbours);
    assert_eq!(tree.check(), (Some(0), vec!["unused-file".to_owned()]));
    tree.run(&["generate", "."]).exits(2);
    let node = document(11);
    let with_host = [&neighbours[..], &[("nodes/node1.yml", &*node)]].concat();
    assert_eq!(Tree::of(&with_host).check(), (Some(0), vec!["unused-file".to_owned()]));
}

#[tests::case]
fn templates_and_captures_are_told_where_they_stop_something() {
    let quoted = "interfaces:\n- {name: eno1.5, type: vlan, vlan: {base-iface: eno1, id: '{{hub .vlan hub}}'}}\n";
    let policy = |state: &str| {
        let state: String = state.lines().map(|line| format!("    {line}\n")).collect();
        format!(
            "apiVersion: nmstate.io/v1\nkind: NodeNetworkConfigurationPolicy\nmetadata: {{name: p}}\nspec:\n  \
             nodeSelector: {{kubernetes.io/hostname: node1}}\n  desiredState:\n{state}"
        )
    };
    let tree = Tree::of(&[("p.yaml", &policy(quoted))]);
    assert_eq!(tree.check(), (Some(0), vec!["template-unread".to_owned()]));
    let told = tree.run(&["check", "p.yaml"]).exits(2);
    assert!(told.err().starts_with("error[template]"), "{told:?}");
    let capture =
        policy("interfaces:\n- {name: '{{ capture.a.interfaces.0.name }}', type: ethernet}\n");
    let captured = "  capture: {a: interfaces.name == eno1}\n  desiredState:";
    let capture = capture.replacen("  desiredState:", captured, 1);
    let tree = Tree::of(&[("p.yaml", &capture)]);
    assert_eq!(tree.check(), (Some(0), Vec::new()));
    tree.run(&["generate", "p.yaml"]).reports("error[capture]");
    // A policy is a part: the node has the ports.
    let bridge = policy(
        "interfaces:\n- {name: br1, type: linux-bridge, state: up, bridge: {port: [{name: eno9}]}}\n",
    );
    assert_eq!(Tree::of(&[("p.yaml", &bridge)]).check(), (Some(0), Vec::new()));
}

#[tests::case]
fn hosts_with_dhcp_or_with_ready_keyfiles_need_no_document() {
    let hosts = "apiVersion: v1\nplatform: {baremetal: {hosts: [{name: a, role: master}, {name: b, role: master}]}}\n";
    assert_eq!(Tree::of(&[("install-config.yaml", hosts)]).check(), (Some(0), Vec::new()));
    let keyfiles = Tree::of(&[
        ("host0/mac_interface.ini", "52:54:00:00:00:01=eno1\n"),
        ("host0/eno1.nmconnection", "[connection]\nid=eno1\n"),
    ]);
    assert_eq!(keyfiles.check(), (Some(0), vec!["unused-file".to_owned()]));
}

#[tests::case]
fn a_difference_of_two_trees_names_every_host() {
    let (a, b, c) = (document(11), document(12), document(13));
    let tree = Tree::of(&[
        ("old/a/node1.yml", &a),
        ("old/b/node1.yml", &b),
        ("new/a/node1.yml", &a),
        ("new/b/node1.yml", &c),
        ("new/c/node1.yml", &b),
    ]);
    let told = tree.run(&["diff", "old", "new"]);
    let told = told.out();
    assert!(told.contains("b: node1:\n") && told.contains("c: node1: added\n"), "{told}");
    assert!(!told.contains("a: node1"), "{told}");
}

/// The shell of a job runs in a clone, with the variables of the service.
fn in_a_clone(script: &str, variables: &[(&str, &str)]) -> (Output, tempfile::TempDir) {
    let place = tempfile::tempdir().unwrap();
    let before = document(11);
    let setup = "git init -q -b main origin && cd origin && git config user.email a@example.com && git config user.name a && \
                 mkdir hosts && printf '%s' \"$BEFORE\" > hosts/node1.yml && git add . && git commit -qm before && cd .. && \
                 git clone -q origin clone && sed -i s/192.0.2.11/192.0.2.12/ clone/hosts/node1.yml";
    let shell = |script: &str, directory: &Path| {
        let path = format!(
            "{}:{}",
            program::nmgen().parent().unwrap().display(),
            std::env::var("PATH").unwrap()
        );
        let mut command = Command::new("bash");
        command
            .args(["-euo", "pipefail", "-c", script])
            .current_dir(directory)
            .env("PATH", path)
            .env("BEFORE", &before);
        for (name, value) in variables {
            command.env(name, value.replace("PLACE", place.path().to_str().unwrap()));
        }
        command.output().unwrap()
    };
    shell(setup, place.path()).exits(0);
    (shell(script, &place.path().join("clone")), place)
}

fn example(name: &str) -> serde_yaml::Value {
    let path = program::root().join(name);
    serde_yaml::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

#[tests::case]
fn the_jobs_of_ci_services_check_a_change_and_show_it() {
    skip::unless_installed("git", "git");
    let job = example("examples/ci/github-actions.yml");
    let steps = job["jobs"]["nmgen"]["steps"].as_sequence().unwrap();
    let script: Vec<&str> = steps.iter().filter_map(|step| step["run"].as_str()).collect();
    let variables = [
        ("RUNNER_TEMP", "PLACE"),
        ("GITHUB_BASE_REF", "main"),
        ("GITHUB_STEP_SUMMARY", "PLACE/summary"),
        // Of a fork.
        ("OPTIONS", "--ignore-allow-comments"),
    ];
    let (output, place) = in_a_clone(&script.join("\n"), &variables);
    assert!(output.status.success(), "{output:?}");
    let summary = fs::read_to_string(place.path().join("summary")).unwrap();
    assert!(summary.contains("node1:") && summary.contains("192.0.2.12"), "{summary}");
    // No text of a document ends the block, and a failure is one of the step.
    let is_code = |line: &str| line.is_empty() || line.starts_with("    ");
    assert!(summary.starts_with('\n') && summary.lines().all(is_code), "{summary}");
    let pipes =
        |step: &&serde_yaml::Value| step["run"].as_str().is_some_and(|it| it.contains(" | "));
    for step in steps.iter().filter(pipes) {
        assert_eq!(step["shell"].as_str(), Some("bash"), "{step:?}");
    }

    let job = example("examples/ci/gitlab-ci.yml");
    let lines = job["nmgen"]["script"].as_sequence().unwrap();
    let script: Vec<&str> = lines.iter().filter_map(serde_yaml::Value::as_str).collect();
    let variables = [
        ("CI_BUILDS_DIR", "PLACE"),
        ("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main"),
        ("CI_PROJECT_ID", "1"),
        ("CI_MERGE_REQUEST_SOURCE_PROJECT_ID", "2"),
    ];
    let (output, place) = in_a_clone(&script.join("\n"), &variables);
    assert!(output.status.success(), "{output:?}");
    let changes = fs::read_to_string(place.path().join("clone/changes.txt")).unwrap();
    assert!(changes.contains("192.0.2.12"), "{changes}");
}

/// The guide shows the jobs as they are, from their first own line on.
#[tests::case]
fn the_guide_has_the_jobs_that_are_run() {
    let guide = program::root().join("nmgen/doc/guides/repository.md");
    let guide = fs::read_to_string(guide).unwrap();
    let mut shown = 0;
    for block in tests::guide::blocks(&guide) {
        let Some((_, name)) = block.kind.split_once(" part=") else { continue };
        let file = fs::read_to_string(program::root().join(name)).unwrap();
        assert!(file.ends_with(&format!("\n{}\n", block.text)), "{name}: {}", block.text);
        shown += 1;
    }
    assert_eq!(shown, 2);
    let hook = &example(".pre-commit-hooks.yaml")[0]["id"];
    assert!(guide.contains(&format!("- id: {}\n", hook.as_str().unwrap())), "{hook:?}");
}

#[tests::case]
fn the_hook_checks_the_tree_and_a_kustomization_alone_passes() {
    let hook = &example(".pre-commit-hooks.yaml")[0];
    let words = hook["entry"].as_str().unwrap().split(' ').skip(1);
    let more = hook["args"].as_sequence().unwrap().iter().filter_map(serde_yaml::Value::as_str);
    let arguments: Vec<&str> = words.chain(more).collect();
    Tree::of(&[("kustomization.yaml", KUSTOMIZATION)]).run(&arguments).exits(0);
    let wrong = Tree::of(&[("hosts/node1.yml", "interfaces: [{name: eno1, foo: 1}]\n")]);
    wrong.run(&arguments).exits(2);
}
