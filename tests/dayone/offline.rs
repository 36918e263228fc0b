//! The agent on a tree of files: before any run, and without a bus.

use std::{
    fs, io,
    os::unix::{
        fs::{FileTypeExt as _, PermissionsExt as _, symlink},
        process::CommandExt as _,
    },
    path::Path,
    process::{Command, Output, Stdio},
};

use tests::{
    dayone::{Document, unwrapped},
    help::too_wide,
    program::{self, Exits as _},
    schema,
};

#[tests::case]
fn help_fits_into_80_columns() -> io::Result<()> {
    let (wide, commands) = too_wide(program::dayone(), &["--help", "-h"])?;
    assert!(wide.is_empty(), "{wide:#?}");
    assert!(commands >= 9, "{commands} commands");
    Ok(())
}

#[tests::case]
fn a_call_is_answered_without_its_control_characters_and_a_full_disk_is_a_failure() -> io::Result<()>
{
    for word in ["\u{1b}[31mbad", "--\u{9b}2J", "status\u{200b}"] {
        let output = Command::new(program::dayone()).arg(word).output()?.exits(2);
        let (_, messages) = text(&output);
        let bad = |c: char| matches!(c, '\u{1b}' | '\u{9b}' | '\u{200b}');
        assert!(
            messages.contains("unrecognized subcommand")
                || messages.contains("unexpected argument")
        );
        assert!(!messages.contains(bad), "{messages:?}");
    }
    for option in ["--help", "--version"] {
        let full = fs::File::options().write(true).open("/dev/full")?;
        let output = Command::new(program::dayone()).arg(option).stdout(full).output()?.exits(1);
        assert!(text(&output).1.contains("the output cannot be written"), "{output:?}");
        let good = Command::new(program::dayone()).arg(option).output()?;
        assert!(good.status.success() && !good.stdout.is_empty(), "{good:?}");
    }
    Ok(())
}

/// The agent below `root`, without a bus and without a terminal.
fn dayone(root: &Path) -> Command {
    let mut agent = Command::new(program::dayone());
    agent.env("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/nowhere").arg("--root").arg(root);
    agent
}

fn text(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

/// The links of `systemctl enable`.
const ENABLED: [&str; 3] = [
    "multi-user.target.wants/dayone.service",
    "kubelet.service.requires/dayone-wait.service",
    "NetworkManager.service.wants/dayone-recover.service",
];

/// A tree with a host name, documents of these names, and the agent enabled.
fn tree(names: &[&str]) -> io::Result<tempfile::TempDir> {
    let root = tempfile::tempdir()?;
    for link in ENABLED {
        let link = root.path().join("etc/systemd/system").join(link);
        link.parent().map_or(Ok(()), fs::create_dir_all)?;
        symlink("/usr/lib/systemd/system/a.service", link)?;
    }
    let documents = root.path().join("etc/nmstate/openshift");
    fs::create_dir_all(&documents)?;
    fs::write(root.path().join("etc/hostname"), "worker-7\n")?;
    for name in names {
        fs::write(documents.join(format!("{name}.yml")), Document::new().text())?;
    }
    Ok(root)
}

#[tests::case]
fn status_before_any_run_says_so() -> io::Result<()> {
    let root = tree(&["worker-7"])?;
    let file = root.path().join("etc/nmstate/openshift/worker-7.yml");
    let json = dayone(root.path()).args(["status", "--json"]).output()?.exits(3).json();
    assert_eq!(json["schema"], 1, "{json}");
    assert_eq!(json["outcome"], "not-run", "{json}");
    assert_eq!(json["document"].as_str().map(Path::new), Some(&*file), "{json}");
    assert_eq!(json["hostname"], "worker-7", "{json}");
    assert_eq!(json["in-force"], false, "{json}");
    assert_eq!(json["digest"], json["pending"], "{json}");

    let output = dayone(root.path()).arg("status").output()?.exits(3);
    let (page, error) = text(&output);
    assert!(page.starts_with("NOT RUN: "), "{page}");
    assert!(page.contains("\ndayone has not run in this boot\nNext: "), "{page}");
    assert!(!page.contains('\x1b') && error.is_empty(), "{page}{error}");
    Ok(())
}

#[tests::case]
fn status_names_what_was_tried_and_what_is_there() -> io::Result<()> {
    let root = tree(&["worker-0", "worker-1", "worker-2", "worker-3", "worker-4"])?;
    let output = dayone(root.path()).arg("status").output()?.exits(0);
    let (page, _) = text(&output);
    assert!(page.starts_with("NO DOCUMENT: files of other nodes only (5)\n"), "{page}");
    let page = unwrapped(&page);
    assert!(page.contains("it looks for worker-7.yml, "), "{page}");
    assert!(page.contains("there are worker-0.yml, worker-1.yml"), "{page}");
    assert!(!page.contains("in force: yes"), "{page}");
    Ok(())
}

#[tests::case]
fn a_file_is_checked_before_it_is_the_nodes() -> io::Result<()> {
    let root = tree(&[])?;
    let file = root.path().join("new.yml");
    let good = Document::new().text();
    let bad = good.replace("prefix-length: 24", "prefix-length: 240");
    assert_ne!(good, bad);
    // No node of the lab has such a card.
    let infiniband = include_str!("../fixtures/states/infiniband.yml");
    for (content, code, says) in [
        (&*good, 0, "new.yml is valid\n"),
        (infiniband, 0, "new.yml is valid\n"),
        (&bad, 2, "new.yml:28:22: prefix length 240"),
    ] {
        fs::write(&file, content)?;
        let output = dayone(root.path()).args(["check", "--document"]).arg(&file).output()?;
        let (page, error) = text(&output.exits(code));
        assert!(format!("{page}{error}").contains(says), "{page}{error}");

        let mut check = dayone(root.path());
        let output = program::with_input(check.args(["check", "--document", "-"]), content)?;
        let (page, error) = text(&output.exits(code));
        assert!(format!("{page}{error}").contains("standard input"), "{page}{error}");
    }
    // For programs: one object, whatever the verdict.
    for (content, code, verdict) in [(&good, 0, "valid"), (&bad, 2, "refused")] {
        fs::write(&file, content)?;
        let mut check = dayone(root.path());
        let report = check
            .args(["check", "--format", "json", "--document"])
            .arg(&file)
            .output()?
            .exits(code)
            .json();
        schema::fits("agent/doc/check", &report);
        assert_eq!(report["verdict"], verdict, "{report}");
        assert_eq!(report["digest"].is_string(), code == 0, "{report}");
    }
    // Only a dry run takes a document of the caller's.
    dayone(root.path()).args(["apply", "--document"]).arg(&file).output()?.exits(2);
    Ok(())
}

#[tests::case]
fn a_network_other_than_ovn_kubernetes_needs_no_bridge() -> io::Result<()> {
    let root = tree(&[])?;
    let output = dayone(root.path()).arg("bridge").output()?.exits(0);
    let (_, log) = text(&output);
    assert!(log.contains("the cluster's network is not OVN-Kubernetes"), "{log}");
    Ok(())
}

#[tests::case]
fn a_run_at_work_is_told_from_a_killed_one() -> io::Result<()> {
    let root = tree(&["worker-7"])?;
    let (run, process) = (root.path().join("run/dayone"), root.path().join("proc/4711"));
    fs::create_dir_all(&run)?;
    fs::create_dir_all(&process)?;
    let status = r#"{"schema": 1, "outcome": "running", "phase": "probe"}"#;
    fs::write(run.join("status.json"), status)?;
    fs::write(run.join("lock"), "dayone apply (process 4711)\n")?;
    for (comm, verdict, reason) in [
        ("dayone\n", "RUNNING: ", "probing the new network; by dayone apply (process 4711)"),
        ("sleep\n", "INTERRUPTED: ", "the run ended without an account, the last phase: probing"),
    ] {
        fs::write(process.join("comm"), comm)?;
        let output = dayone(root.path()).arg("status").output()?.exits(3);
        let (page, _) = text(&output);
        assert!(page.starts_with(verdict), "{page}");
        assert!(unwrapped(&page).contains(reason), "{page}");
    }
    Ok(())
}

#[tests::case]
fn no_open_or_failed_run_is_told_as_in_force() -> io::Result<()> {
    // By the record and by `applied`: this boot's run says otherwise.
    let root = in_force()?;
    let (run, state) = (root.path().join("run/dayone"), root.path().join("var/lib/dayone"));
    fs::create_dir_all(state.join("committed"))?;
    let schema = schema::of("agent/doc/status");
    let failed = "NOT IN FORCE: ";
    for (outcome, is_recorded, verdict, line) in [
        ("rolled-back", true, failed, "in force: no; it was committed before the failure"),
        ("roll-back-failed", true, failed, "in force: no; it was committed before the failure"),
        ("given-up", true, failed, "in force: no; it was committed before the failure"),
        ("failed", false, "NOT RECORDED: ", "in force: yes, but not recorded"),
        ("failed", true, failed, "in force: no; it was committed before the failure"),
        ("running", true, "INTERRUPTED: ", "in force: committed; the run of this boot has no end"),
        ("unchanged", true, "IN FORCE: ", "in force: yes"),
    ] {
        let status = format!(r#"{{"schema": 1, "outcome": "{outcome}", "error": "why"}}"#);
        fs::write(run.join("status.json"), status)?;
        if is_recorded && state.join("committed").exists() {
            fs::remove_dir(state.join("committed"))?;
        } else if !is_recorded {
            fs::create_dir_all(state.join("committed"))?;
        }
        let output = dayone(root.path()).arg("status").output()?;
        let code = if verdict == "IN FORCE: " { 0 } else { 3 };
        assert_eq!(output.status.code(), Some(code), "{outcome} {output:?}");
        let (page, _) = text(&output);
        assert!(page.starts_with(verdict), "{outcome}: {page}");
        assert!(unwrapped(&page).contains(line), "{outcome}: {page}");
        let output = dayone(root.path()).args(["status", "--json"]).output()?;
        let json = output.json();
        assert_eq!(output.status.code(), Some(code), "{outcome} {json}");
        assert_eq!(
            (&json["outcome"], &json["not-recorded"]),
            (&outcome.into(), &(!is_recorded).into())
        );
        assert_eq!(json["verdict"].as_str(), verdict.strip_suffix(": "), "{json}");
        let fields = json.as_object().into_iter().flat_map(|object| object.keys());
        for field in fields {
            assert!(schema["properties"].get(field).is_some(), "{field} is not documented");
        }
        for field in ["verdict", "verdict-reason"] {
            let words = schema["properties"][field]["enum"].as_array();
            assert!(words.is_some_and(|list| list.contains(&json[field])), "{field} in {json}");
        }

        for mark in ["undecided", "bridge-undecided"] {
            fs::write(run.join(mark), "")?;
            let output = dayone(root.path()).arg("status").output()?;
            let (page, _) = text(&output);
            assert_eq!(output.status.code(), Some(3), "{outcome} {page}");
            assert!(page.starts_with("WAITING: kubelet does not start\n"), "{outcome}: {page}");
            let json = dayone(root.path()).args(["status", "--json"]).output()?.json();
            assert_eq!((&json["verdict"], &json["held"]), (&"WAITING".into(), &true.into()));
            assert!(json["verdict-reason"].is_string(), "{json}");
            fs::remove_file(run.join(mark))?;
        }
    }
    Ok(())
}

#[tests::case]
fn a_document_that_would_wait_for_a_writer_is_refused_at_once() -> io::Result<()> {
    let root = tree(&[])?;
    let fifo = root.path().join("fifo.yml");
    assert!(Command::new("mkfifo").arg(&fifo).status()?.success());
    let mut agent = Command::new("timeout");
    agent.arg("10").arg(program::dayone()).arg("--root").arg(root.path());
    let output = agent.args(["check", "--document"]).arg(&fifo).output()?.exits(1);
    assert!(text(&output).1.contains("it is a FIFO, not a file"), "{output:?}");
    Ok(())
}

/// Characters that control what shows them.
const CONTROLS: &str = "\u{1b}[2J\u{7f}\u{9b}31m\u{61c}\u{200e}\u{2028}\u{202e}\u{2069}";

/// `TEXT` where a document may have text that a command shows, and a secret beside it.
const SHOWN: [&str; 8] = [
    "interfaces: [{name: TEXT, type: ethernet, 802.1x: {private-key-password: 83517246}}]",
    "interfaces: [{name: eth0, TEXT: 1, 802.1x: {password: 83517246}}]",
    "TEXT: 1\ninterfaces: [{name: v0, type: ipsec, libreswan: {right: 192.0.2.1, psk: 83517246}}]",
    "interfaces: [{name: m0, type: macsec, macsec: {mka-cak: 83517246, mka-ckn: TEXT, TEXT: 1}}]",
    "interfaces: [{name: eth0, type: TEXT, 802.1x: {password: {a: 83517246}}}]",
    "interfaces: [{name: eth0, type: ethernet, mtu: TEXT, 802.1x: {password: [83517246]}}]",
    "hostname: {config: TEXT}\ninterfaces: [{name: eth0, 802.1x: {password: 83517246 ]}}",
    "capture: {TEXT: TEXT}\ndesiredState: {interfaces: [{name: eth0, 802.1x: {password: 83517246}}]}",
];

#[tests::case]
fn what_is_shown_has_no_secret_and_controls_no_terminal() -> io::Result<()> {
    let root = tree(&[])?;
    let file = root.path().join("etc/nmstate/openshift/worker-7.yml");
    let escaped: String = CONTROLS.chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect();
    for document in SHOWN {
        fs::write(&file, document.replace("TEXT", &format!("\"a{escaped}\"")))?;
        fs::write(root.path().join("etc/nmstate/openshift/a\u{1b}[31m\u{202e}.yml"), "")?;
        let path = file.to_string_lossy();
        // The run itself fails for want of a bus, and its account is the status.
        for arguments in [
            &["check"][..],
            &["check", "--document", &path],
            &["apply", "--dry-run"],
            &["apply"],
            &["diff"],
            &["status"],
            &["status", "--json"],
        ] {
            let output = dayone(root.path()).args(arguments).output()?;
            let account = fs::read(root.path().join("run/dayone/status.json")).unwrap_or_default();
            for shown in [&output.stdout, &output.stderr, &account] {
                let shown = String::from_utf8_lossy(shown);
                let is_control = |c: char| {
                    CONTROLS.contains(c) && !c.is_ascii_graphic() || c.is_control() && c != '\n'
                };
                let is_bad = shown.contains(is_control) || shown.contains("83517246");
                assert!(!is_bad, "{arguments:?} {document}: {shown:?}");
            }
        }
    }
    Ok(())
}

/// A node whose document is in force, in a tree.
fn in_force() -> io::Result<tempfile::TempDir> {
    let root = tree(&["worker-7"])?;
    let before = dayone(root.path()).args(["status", "--json"]).output()?.json();
    let file = root.path().join("etc/nmstate/openshift/worker-7.yml");
    let record = serde_json::json!({
        "committed": {"digest": before["digest"], "source": file, "at": 0},
    });
    let (run, state) = (root.path().join("run/dayone"), root.path().join("var/lib/dayone"));
    fs::create_dir_all(&run)?;
    fs::create_dir_all(&state)?;
    fs::write(state.join("record.json"), record.to_string())?;
    fs::write(run.join("status.json"), r#"{"schema": 1, "outcome": "unchanged"}"#)?;
    fs::copy(&file, file.with_file_name("applied"))?;
    Ok(root)
}

#[tests::case]
fn status_says_what_the_next_boot_does_not_do() -> io::Result<()> {
    let root = in_force()?;
    let says = |line: &str, words: &str| -> io::Result<()> {
        let output = dayone(root.path()).arg("status").output()?.exits(3);
        let (page, _) = text(&output);
        assert!(page.starts_with(line), "{page}");
        assert!(unwrapped(&page).contains(words), "{words} in {page}");
        Ok(())
    };
    let units = root.path().join("etc/systemd/system");
    for (link, words) in [
        (ENABLED[1], "dayone-wait.service is disabled: the next boot starts kubelet before"),
        (ENABLED[2], "dayone-recover.service is disabled: the next boot undoes no interrupted"),
    ] {
        fs::remove_file(units.join(link))?;
        says("IN FORCE: ", words)?;
        symlink("/usr/lib/systemd/system/a.service", units.join(link))?;
    }
    symlink("/dev/null", units.join("dayone-wait.service"))?;
    says("IN FORCE: ", "dayone-wait.service is masked: the next boot does not start kubelet")?;
    fs::remove_file(units.join("dayone-wait.service"))?;
    symlink("/dev/null", units.join("dayone.service"))?;
    says("IN FORCE: ", "dayone.service is masked: the next boot neither applies nor proves")?;

    // A document that comes meanwhile.
    let file = root.path().join("etc/nmstate/openshift/worker-7.yml");
    let changed = Document::new().text() + "# another one\n";
    fs::write(&file, &changed)?;
    says("PENDING: ", "it changed after this boot's run; dayone.service is masked: ")?;
    fs::remove_file(units.join("dayone.service"))?;
    says("PENDING: ", "it changed after this boot's run; the next boot applies it")?;
    fs::write(&file, changed.replace("prefix-length: 24", "prefix-length: 240"))?;
    says("REFUSED: ", "the next boot will refuse it: ")?;
    says("REFUSED: ", "worker-7.yml:28:22: prefix length 240")?;
    Ok(())
}

/// A command that only root may call says so, instead of differences that come from what it may not read.
#[tests::case]
fn without_root_nothing_is_guessed() -> io::Result<()> {
    let place = tempfile::tempdir()?;
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755))?;
    let program = place.path().join("dayone");
    program::copy(program::dayone(), &program);
    let is_root = nix::unistd::geteuid().is_root();
    let dayone = |arguments: &[&str]| {
        let mut dayone = Command::new(&program);
        if is_root {
            dayone.uid(65534).gid(65534);
        }
        dayone.args(arguments).current_dir("/").output()
    };
    for arguments in [
        &["status"][..],
        &["status", "--json"],
        &["diff"],
        &["check"],
        &["apply"],
        &["apply", "--dry-run"],
        &["apply", "--trial", "60", "/dev/null"],
        &["bridge"],
        &["rollback"],
        &["recover"],
        &["confirm"],
        &["plan"],
        &["wait"],
    ] {
        let output = dayone(arguments)?;
        let (page, error) = text(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {page}{error}");
        assert!(error.contains("FAILED: needs root"), "{arguments:?}: {error}");
        assert_eq!((page.as_str(), error.lines().count()), ("", 1), "{arguments:?}: {page}{error}");
    }
    let file = place.path().join("a.yml");
    fs::write(&file, Document::new().text())?;
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644))?;
    dayone(&["check", "--document", &file.to_string_lossy()])?.exits(0);
    Ok(())
}

/// script(1) is a terminal.
#[tests::case]
fn a_terminal_gets_no_line_of_a_library() -> io::Result<()> {
    let root = in_force()?;
    let command =
        format!("{} --root {} status", program::dayone().display(), root.path().display());
    let mut terminal = Command::new("script");
    terminal.args(["--quiet", "--return", "--command", &command, "/dev/null"]);
    let output = terminal.env("TERM", "linux").stdin(Stdio::null()).output()?.exits(0);
    let (page, _) = text(&output);
    assert!(page.starts_with("\x1b[1;32mIN FORCE: "), "{page}");
    Ok(())
}

#[tests::case]
fn a_collected_tree_answers_as_the_tree_does() -> io::Result<()> {
    let root = tree(&["worker-7", "worker-8"])?;
    let file = root.path().join("node.json");
    dayone(root.path()).args(["collect", "--output"]).arg(&file).output()?.exits(0);
    assert_eq!(fs::metadata(&file)?.permissions().mode() & 0o7777, 0o600);
    let shown = root.path().display().to_string();
    for answer in [&["status", "--json"][..], &["check"], &["check", "--format", "json"]] {
        let own = dayone(root.path()).args(answer).output()?;
        let mut replayed = Command::new(program::dayone());
        let replayed = replayed.args(answer).arg("--from").arg(&file).output()?;
        assert_eq!(replayed.status.code(), own.status.code(), "{replayed:?}");
        assert_eq!(text(&replayed).0, text(&own).0.replace(&shown, ""), "{answer:?}");
    }
    // One that waits for its name is told at once: nobody gives a tree another.
    let (named, nameless) = (root.path().join("etc/hostname"), root.path().join("nameless.json"));
    fs::write(&named, "localhost\n")?;
    assert!(dayone(root.path()).args(["collect", "-o"]).arg(&nameless).status()?.success());
    let mut replayed = Command::new(program::dayone());
    let replayed = replayed.args(["check", "--from"]).arg(&nameless).output()?;
    let (own, _) = text(&dayone(root.path()).arg("check").output()?);
    assert_eq!(
        (own.as_str(), text(&replayed).0.as_str()),
        ("no document for this node\n", own.as_str())
    );
    fs::write(&named, "worker-7\n")?;
    // A link in the file's place is replaced, and its target stays.
    let (target, link) = (root.path().join("target"), root.path().join("link.json.gz"));
    fs::write(&target, "untouched")?;
    symlink(&target, &link)?;
    assert!(dayone(root.path()).args(["collect", "-o"]).arg(&link).status()?.success());
    assert_eq!(fs::read_to_string(&target)?, "untouched");
    assert!(fs::read(&link)?.starts_with(&[0x1f, 0x8b]));
    // Somebody else's file leads nowhere.
    let mut bundle: serde_json::Value = serde_json::from_slice(&fs::read(&file)?)?;
    let text = |path: &str| serde_json::json!({"path": path, "kind": "file", "mode": 420, "digest": "", "text": "x"});
    let link =
        |path: &str, to: &str| serde_json::json!({"path": path, "kind": "link", "target": to});
    for files in [
        vec![text("/../../tmp/x")],
        vec![text("etc/hostname")],
        vec![link("/etc/nmstate", "/tmp")],
        vec![link("/etc/systemd/system/a", "/tmp"), text("/etc/systemd/system/a/x")],
        vec![link("/run/systemd/system", "/tmp")],
        // Bombs of inodes.
        (0..=5000).map(|number| text(&format!("/{number}"))).collect(),
        vec![text(&"/a".repeat(1000))],
    ] {
        bundle["files"] = files.clone().into();
        fs::write(&file, bundle.to_string())?;
        let mut refused = Command::new(program::dayone());
        let refused = refused.args(["status", "--from"]).arg(&file).output()?;
        assert!(!refused.status.success() && refused.stdout.is_empty(), "{files:?}: {refused:?}");
    }
    fs::write(&file, "{\"schema\": 2}")?;
    let mut newer = Command::new(program::dayone());
    let newer = newer.args(["status", "--from"]).arg(&file).output()?.exits(2);
    assert!(newer.err().contains("newer version of dayone"), "{newer:?}");
    Ok(())
}

/// A canary of the lab whose document failed, as `dayone collect` wrote it when the form was new; without the journals, and with
/// the files alone that the answers depend on.
const COLLECTED: &str = "tests/fixtures/collected/canary.json";

/// The answers from that file, each with the file that has it.
const REPLAYED: [(&str, &[&str]); 5] = [
    ("status", &["status"]),
    ("check", &["check"]),
    ("diff", &["diff"]),
    ("plan", &["plan"]),
    ("dry-run", &["apply", "--dry-run"]),
];

/// Files of earlier versions go on being read: a field that comes has a default, and none goes. `BLESS=1` rewrites the answers.
#[tests::case]
fn a_collected_node_of_an_earlier_version_answers() -> io::Result<()> {
    let collected = program::root().join(COLLECTED);
    let mut different = Vec::new();
    for (name, arguments) in REPLAYED {
        let mut agent = Command::new(program::dayone());
        let output = agent.args(arguments).arg("--from").arg(&collected).output()?;
        let (stdout, stderr) = text(&output);
        let code = output.status.code().unwrap_or(-1);
        let answer = format!("{stdout}{stderr}exit code {code}\n");
        let expected = collected.with_file_name(format!("{name}.txt"));
        if std::env::var_os("BLESS").is_some() {
            fs::write(&expected, &answer)?;
        }
        if fs::read_to_string(&expected)? != answer {
            different.push(format!("{name}: {answer}"));
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
    // A form of the future is told as such.
    let newer = tempfile::NamedTempFile::new()?;
    let bundle = fs::read_to_string(&collected)?.replacen("\"schema\": 1", "\"schema\": 2", 1);
    fs::write(newer.path(), bundle)?;
    let mut agent = Command::new(program::dayone());
    let output = agent.arg("status").arg("--from").arg(newer.path()).output()?;
    assert!(text(&output).1.contains("is of a newer version of dayone"), "{output:?}");
    Ok(())
}

/// Root may name a device: it stays one, and gets the text.
#[tests::case]
fn a_collected_node_goes_into_what_is_no_regular_file() -> io::Result<()> {
    let root = tree(&["worker-7"])?;
    let collect = |to: &Path| dayone(root.path()).args(["collect", "-o"]).arg(to).output();
    let (device, link, fifo) =
        (root.path().join("null"), root.path().join("link"), root.path().join("fifo"));
    // As /dev/null; root alone makes it.
    if Command::new("mknod").arg(&device).args(["c", "1", "3"]).status()?.success() {
        symlink(&device, &link)?;
        for path in [&device, &link] {
            collect(path)?.exits(0);
            assert!(fs::metadata(path)?.file_type().is_char_device(), "{}", path.display());
        }
        assert!(fs::symlink_metadata(&link)?.is_symlink());
    }
    assert!(Command::new("mkfifo").arg(&fifo).status()?.success());
    let reader = Command::new("cat").arg(&fifo).stdout(Stdio::piped()).spawn()?;
    collect(&fifo)?.exits(0);
    let piped = reader.wait_with_output()?.stdout;
    assert!(fs::metadata(&fifo)?.file_type().is_fifo());
    let stream = collect(Path::new("/dev/stdout"))?.stdout;
    for bytes in [piped, stream] {
        let node: serde_json::Value = serde_json::from_slice(&bytes)?;
        assert_eq!(node["hostname"], "worker-7", "{node}");
    }
    let names: Vec<_> =
        fs::read_dir(root.path())?.flatten().map(|entry| entry.file_name()).collect();
    assert!(!names.iter().any(|name| name.to_string_lossy().starts_with('.')), "{names:?}");
    Ok(())
}

/// The values of a node's profiles, each of which a stranger may have written.
#[tests::case]
fn a_plan_of_somebodys_node_has_no_line_of_theirs() -> io::Result<()> {
    let text = fs::read_to_string(program::root().join(COLLECTED))?;
    let place = tempfile::tempdir()?;
    let file = place.path().join("node.json");
    let forged = "\nFORGED: line\u{1b}[31m\u{9b}2J\u{200b}";
    let value: serde_json::Value = serde_json::from_str(&text)?;
    let profiles = "/facts/profiles/value";
    let profile = |index: usize, rest: &str| format!("{profiles}/{index}/settings/{rest}");
    let count = value.pointer(profiles).and_then(serde_json::Value::as_array).map_or(0, Vec::len);
    let fields = [
        "ipv4/dns-data/data/0",
        "ipv4/address-data/data/0/address/data",
        "ipv4/route-data/data/0/dest/data",
        "ipv4/route-data/data/0/next-hop/data",
        "connection/type/data",
        "connection/id/data",
        "connection/interface-name/data",
    ];
    let paths = (0..count).flat_map(|index| fields.map(|field| profile(index, field)));
    let links = ["/facts/links/value/1/name", "/facts/links/value/3/name"].map(str::to_owned);
    let mut changed = 0;
    for path in paths.chain(links) {
        let mut node = value.clone();
        let Some(serde_json::Value::String(own)) = node.pointer_mut(&path) else { continue };
        own.push_str(forged);
        changed += 1;
        fs::write(&file, node.to_string())?;
        for command in [&["plan"][..], &["status"], &["diff"], &["plan", "--json"]] {
            let mut agent = Command::new(program::dayone());
            let output = agent.args(command).arg("--from").arg(&file).output()?;
            let shown = [output.stdout, output.stderr].concat();
            let shown = String::from_utf8_lossy(&shown);
            let bad = |c: char| matches!(c, '\u{1b}' | '\u{9b}' | '\u{200b}');
            let begins = shown.lines().any(|line| line.starts_with("FORGED"));
            assert!(!shown.contains(bad) && !begins, "{path} {command:?}: {shown:?}");
        }
    }
    assert!(changed > 8, "{changed} fields");
    Ok(())
}
