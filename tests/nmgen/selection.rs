//! The choice of hosts, and the options that name and limit the output.

use std::fs;
use std::process::{Command, Output, Stdio};

use tests::program::{self, Exits as _};

fn nmgen(arguments: &[&str]) -> Output {
    program::nmgen_in(program::fixtures(), arguments)
}

#[tests::case]
fn hosts_are_chosen_by_pattern_and_role() {
    let shown = |arguments: &[&str]| {
        let output = nmgen(&[&["show"], arguments, &["sources/agent-config.yaml"]].concat());
        let titles = output.out().lines().filter(|line| line.ends_with("-0"));
        titles.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(shown(&["--host", "work*"]), ["worker-0"]);
    assert_eq!(shown(&["--host", "*-?"]), ["master-0", "worker-0"]);
    assert_eq!(shown(&["--only-role", "master"]), ["master-0"]);
    assert_eq!(shown(&["--only-role", "master", "--host", "worker-0"]), [""; 0]);
    let role = ["--only-role", "worker", "sources/agent-config.yaml"];
    let output = nmgen(&[&["generate", "--to", "machine-config"][..], &role].concat());
    let objects: Vec<&str> =
        output.out().lines().filter(|line| line.starts_with("  name: ")).collect();
    assert_eq!(objects, ["  name: 10-br-ex-worker"]);
    let checked = nmgen(&["check", "--host", "master-0", "sources/agent-config.yaml"]);
    assert_eq!(checked.err(), "1 host in sources/agent-config.yaml, no errors\n");
}

#[tests::case]
fn findings_are_those_of_the_use_and_of_the_rules_that_are_not_allowed() {
    let document = "\
interfaces:
- {name: br-ex, type: ovs-bridge, state: up, bridge: {port: [{name: eno1}, {name: br-ex}]}}
- {name: br-ex, type: ovs-interface, state: up, copy-mac-from: eno1, ipv4: {enabled: true, dhcp: true, auto-route-metric: 48}}
- {name: eno1, type: ethernet, state: up}
";
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("worker-0.yml");
    fs::write(&path, document).unwrap();
    let check = |arguments: &[&str]| {
        let path = [path.to_str().unwrap()];
        nmgen(&[&["check", "--deny-warnings"], arguments, &path].concat())
    };
    assert!(check(&[]).err().starts_with("warning[copy-mac-from-unknown]"));
    for arguments in [["--for", "node"], ["--allow", "copy-mac-from-unknown"]] {
        let checked = check(&arguments).exits(0);
        assert!(checked.err().ends_with("no errors\n"));
    }
    fs::write(&path, document.replace("state: up", "state: on")).unwrap();
    check(&["--for", "node"]).exits(2);
    for (rule, message) in [
        ("vlan-id-range", "its findings are errors"),
        ("copy-mac-from", "did you mean copy-mac-from-unknown?"),
    ] {
        check(&["--allow", rule]).reports(message);
    }
}

#[tests::case]
fn a_reader_that_stops_is_no_failure() {
    let mut child = Command::new(program::nmgen())
        .args(["explain"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Nothing is read: the pipe is closed before or while the program writes.
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.err()), (Some(0), ""));
}

#[tests::case]
fn files_of_an_earlier_call_are_told() {
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("OUT").display().to_string();
    let arguments = ["generate", "-o", &out, "sources/hosts/worker-0.yml"];
    assert_eq!(nmgen(&arguments).err(), "");
    fs::write(place.path().join("OUT/eno9.nmconnection"), "").unwrap();
    let told = nmgen(&arguments);
    let expected = format!("not written by this call, and left there: {out}/eno9.nmconnection\n");
    assert_eq!((told.status.code(), told.err()), (Some(0), &*expected));

    // A host that is no more; a directory of something else tells nothing.
    let out = place.path().join("HOSTS");
    for (directory, file) in [("worker-9", "eno1.nmconnection"), ("notes", "eno1.txt")] {
        fs::create_dir_all(out.join(directory)).unwrap();
        fs::write(out.join(directory).join(file), "").unwrap();
    }
    let out = out.display().to_string();
    let told = nmgen(&["generate", "-o", &out, "targets/input/hosts"]);
    let gone = format!("{out}/worker-9/eno1.nmconnection");
    let expected = format!("not written by this call, and left there: {gone}\n");
    assert_eq!((told.status.code(), told.err()), (Some(0), &*expected));
    fs::remove_file(gone).unwrap();
    assert_eq!(nmgen(&["generate", "-o", &out, "targets/input/hosts"]).err(), "");
}

#[tests::case]
fn names_and_labels_that_kubernetes_refuses_are_a_wrong_call() {
    let run = |to: &str, option: &str, value: &str| {
        let option = format!("{option}={value}");
        nmgen(&["generate", "--to", to, &option, "sources/agent-config.yaml"])
    };
    let long = |length: usize| "a".repeat(length);
    let (name, namespace, label) = ("--name", "--namespace", "--label");
    for (to, option, value) in [
        ("machine-config", name, "Foo Bar".to_owned()),
        ("machine-config", name, "a\nb".to_owned()),
        ("machine-config", name, "../evil".to_owned()),
        ("machine-config", name, "a..b".to_owned()),
        ("machine-config", name, String::new()),
        ("machine-config", name, long(201)),
        ("bmh-secret", namespace, "a.b".to_owned()),
        ("bmh-secret", namespace, "-a".to_owned()),
        ("bmh-secret", namespace, long(64)),
        ("nmstateconfig", label, "=b".to_owned()),
        ("nmstateconfig", label, "A B=b".to_owned()),
        ("nmstateconfig", label, "Example.org/a=b".to_owned()),
        ("nmstateconfig", label, "a/b/c=d".to_owned()),
        ("nmstateconfig", label, "a=b\nc: d".to_owned()),
        ("nmstateconfig", label, "a=b-".to_owned()),
        ("nmstateconfig", label, format!("a={}", long(64))),
    ] {
        let refused = run(to, option, &value);
        assert_eq!((refused.status.code(), refused.out()), (Some(2), ""), "{value}");
        assert!(refused.err().contains(option), "{value}: {}", refused.err());
    }
    for (to, option, value) in [
        ("machine-config", name, "99-net.work".to_owned()),
        ("machine-config", name, long(200)),
        ("bmh-secret", namespace, long(63)),
        ("nmstateconfig", label, "example.org/Some_key.1=Some-value".to_owned()),
        ("nmstateconfig", label, "a=".to_owned()),
    ] {
        let taken = run(to, option, &value);
        assert_eq!(taken.status.code(), Some(0), "{value}: {}", taken.err());
    }
}

#[tests::case]
fn machine_configs_bear_the_wanted_name() {
    let arguments = ["generate", "--to", "machine-config", "--name", "99-network"];
    let output = nmgen(&[&arguments[..], &["sources/agent-config.yaml"]].concat());
    let objects: Vec<&str> =
        output.out().lines().filter(|line| line.starts_with("  name: ")).collect();
    assert_eq!(objects, ["  name: 99-network-master", "  name: 99-network-worker"]);
}

#[tests::case]
fn a_search_domain_can_be_left_out_of_kernel_arguments_and_a_vlans_name_cannot() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("worker-0.yml");
    let run = |document: &str| {
        fs::write(&path, document).unwrap();
        nmgen(&["generate", "--to", "kargs", "--allow-loss", path.to_str().unwrap()])
    };
    let card = "interfaces: [{name: eno1, type: ethernet, state: up, ipv4: {enabled: true, dhcp: true}}]\n";
    let searched = run(&format!(
        "{card}dns-resolver: {{config: {{search: [example.com], server: [192.0.2.53]}}}}\n"
    ))
    .exits(0);
    assert!(
        searched.err().contains("warning[not-in-target]: no kernel argument sets dns-resolver")
    );
    assert!(searched.out().contains("nameserver=192.0.2.53"));
    run(
        "interfaces: [{name: storage, type: vlan, state: up, vlan: {base-iface: eno1, id: 7}, ipv4: {enabled: true, dhcp: true}}]",
    ).exits(2);
}

#[tests::case]
fn nmstatectls_own_options_are_accepted() {
    let (_directory, link) = program::nmgen_as("nmstatectl").unwrap();
    let run = |arguments: &[&str]| {
        Command::new(&link).args(arguments).current_dir(program::fixtures()).output().unwrap()
    };
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("worker-0.yml");
    let warned = "interfaces: [{name: eno1, type: ethernet, state: up, mtu: 1500, lldp: {enabled: true}}]\nhostname: {running: a}\n";
    fs::write(&path, warned).unwrap();
    let path = path.to_str().unwrap();
    let loud = run(&["gc", path]).reports("warning[");
    for arguments in [["-q", "gc", path], ["gc", "-q", path]] {
        let quiet = run(&arguments);
        assert_eq!((quiet.status.code(), quiet.err()), (Some(0), ""));
        assert_eq!(quiet.stdout, loud.stdout);
    }
    assert_eq!(run(&["-vv", "gc", path]).stdout, loud.stdout);

    // Scripts compare the version with those of nmstate.
    let manifest = fs::read_to_string(program::root().join("Cargo.toml")).unwrap();
    let nmstate = manifest.split_once("nmstate = { version = \"=").unwrap().1;
    let (nmstate, _) = nmstate.split_once('"').unwrap();
    for argument in ["--version", "version"] {
        let shown = run(&[argument]);
        let begin = format!("nmstatectl {nmstate} (nmgen ");
        assert!(shown.out().starts_with(&begin), "{}", shown.out());
        assert_eq!((shown.status.code(), shown.err()), (Some(0), ""));
    }
}
