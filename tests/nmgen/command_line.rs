//! The command line: width of help, program names, streams and exit codes.

use std::io::Write;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Output, Stdio};

use tests::help::too_wide;
use tests::{
    fleet,
    program::{self, Exits as _},
};

fn run(arguments: &[&str], input: &str) -> Output {
    run_as("nmgen", arguments, input)
}

fn run_as(name: &str, arguments: &[&str], input: &str) -> Output {
    program::with_input(Command::new(program::nmgen()).arg0(name).args(arguments), input).unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[tests::case]
fn help_explains_every_argument() {
    let mut command = nmgen::cli::command();
    command.build();
    let mut pending = vec![command];
    let mut seen = 0;
    while let Some(command) = pending.pop() {
        for argument in command.get_arguments() {
            assert!(argument.get_help().is_some(), "{} {}", command.get_name(), argument.get_id());
        }
        pending.extend(command.get_subcommands().cloned());
        seen += 1;
    }
    assert!(seen >= 5, "{seen} commands");
}

#[tests::case]
fn help_fits_into_80_columns() {
    let (wide, commands) = too_wide(program::nmgen(), &["--help", "-h"]).unwrap();
    assert!(wide.is_empty(), "{wide:#?}");
    assert!(commands >= 8, "{commands} commands");
}

#[tests::case]
fn under_the_name_nmstatectl_it_is_gc_for_every_way_to_name_the_input() {
    let document = fleet::document(0);
    let expected = run(&["gc", "-"], &document).exits(0);
    let yaml = expected.out();
    assert!(
        yaml.starts_with("NetworkManager:\n- - eno1.nmconnection\n  - |\n")
            || yaml.contains("- - bond0.nmconnection\n"),
        "{yaml}"
    );
    for arguments in [["gc", "-"], ["gc", "/dev/stdin"]] {
        assert_eq!(run_as("nmstatectl", &arguments, &document), expected);
        assert_eq!(run_as("/usr/bin/nmstatectl", &arguments, &document), expected);
    }
    run_as("nmstatectl", &["apply", "-"], &document).exits(2);
}

#[tests::case]
fn gc_of_a_document_without_interfaces_is_an_empty_list() {
    let output = run(&["gc", "-"], "dns-resolver:\n  config: {}\n").exits(0);
    assert_eq!(output.out(), "NetworkManager: []\n");
}

#[tests::case]
fn json_is_yaml_enough() {
    let json = r#"{"interfaces": [{"name": "eno1", "type": "ethernet", "state": "up"}]}"#;
    let output = run(&["generate", "-"], json).exits(0);
    assert!(output.out().starts_with("# eno1.nmconnection\n[connection]\n"));
}

/// YAML takes it there, and so do nmstate's tools.
#[tests::case]
fn a_tab_between_a_key_and_its_value_is_white_space() {
    let document =
        "interfaces:\n- name: eno1\n  type: ethernet\n  state: up\n  description: 'a:\tb'\n";
    let expected = run(&["generate", "-"], document);
    assert_eq!((expected.status.code(), expected.err()), (Some(0), ""));
    let tabs = document.replace(": ", ":\t");
    assert!(serde_yaml::from_str::<serde_yaml::Value>(&tabs).is_ok());
    assert_eq!(run(&["generate", "-"], &tabs), expected);
}

#[tests::case]
fn check_as_json_is_one_object_on_standard_output() {
    let wrong = "interfaces:\n- name: eno1\n  type: ethernet\n  foo: 1\n";
    let output = run(&["check", "--format", "json", "-"], wrong).exits(2);
    let value = output.json();
    let first = &value["findings"].as_array().unwrap()[0];
    for key in ["rule", "severity", "message", "help", "file", "line", "column"] {
        assert!(first.get(key).is_some(), "{key} is missing in {first}");
    }
    assert_eq!(first["file"], "<stdin>");
    assert_eq!(first["line"], 4);
    assert!(output.stderr.is_empty());
    let nothing = run(&["check", "--format", "json", "-"], &fleet::document(0));
    let value = nothing.json();
    assert_eq!(value["findings"], serde_json::Value::Array(Vec::new()));
    assert_eq!(nothing.status.code(), Some(0));
}

#[tests::case]
fn warnings_fail_only_where_they_are_denied() {
    let document = "hostname:\n  config: worker-0\ninterfaces: []\n";
    run(&["generate", "--to", "gc", "-"], document).exits(0).reports("warning[not-in-target]");
    let denied = run(&["generate", "--to", "gc", "--deny-warnings", "-"], document).exits(2);
    assert!(denied.stdout.is_empty());
}

#[tests::case]
fn output_that_nobody_can_take_is_an_error_of_this_machine() {
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let mut child = Command::new(program::nmgen())
        .args(["generate", "-"])
        .stdin(Stdio::piped())
        .stdout(full)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(fleet::document(0).as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap().exits(1);
    assert_eq!(
        output.err(),
        "nmgen: cannot write to standard output: No space left on device (os error 28)\n"
    );
}

#[tests::case]
fn quiet_leaves_out_warnings_and_notes_and_verbose_names_what_was_read() {
    let lost = "hostname:\n  config: worker-0\ninterfaces: []\n";
    let output = run(&["generate", "-q", "--to", "gc", "-"], lost);
    assert_eq!((output.status.code(), output.err()), (Some(0), ""));
    let output = run(&["--quiet", "check", "-"], &fleet::document(0));
    assert_eq!((output.status.code(), output.err()), (Some(0), ""));
    let wrong = "interfaces:\n- name: eno1\n  type: ethernet\n  foo: 1\n";
    let wrong = run(&["check", "-q", "-"], wrong);
    assert!(wrong.err().starts_with("error[unknown-field]"), "errors are told");
    let unknown = run(&["explain", "-q", "nothing"], "");
    assert!(unknown.err().starts_with("nmgen: there is no rule nothing"));

    let source = program::root().join("examples/cluster/install-config.yaml");
    let source = source.to_str().unwrap();
    for command in [&["check", "-v"][..], &["show", "-v"], &["generate", "-v"]] {
        let told = run(&[command, &[source]].concat(), "").stderr;
        let expected =
            format!("read master-1, cluster edge, role master, for the early boot: {source}:40\n");
        assert!(text(&told).contains(&expected), "{command:?}: {}", text(&told));
    }
    run(&["check", "-q", "-v", "-"], "").exits(2);
    // The early boot's messages have a level each.
    run(&["boot", "-q", "--root", "/nonexistent"], "").exits(2);
}

#[tests::case]
fn colours_follow_the_terminal_the_variable_and_the_option() {
    let place = tempfile::tempdir().unwrap();
    for (name, address) in [("a.yml", "192.0.2.1"), ("b.yml", "192.0.2.2")] {
        let document = format!(
            "interfaces: [{{name: eno1, type: ethernet, state: up, description: {address}}}]\n"
        );
        std::fs::write(place.path().join(name), document).unwrap();
    }
    let shell = |command: &str| {
        let output = Command::new("sh")
            .args(["-c", command])
            .env("NMGEN", program::nmgen())
            .env_remove("NO_COLOR")
            .current_dir(place.path())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        output.out().replace("\r\n", "\n")
    };
    let changed = "  ~ interfaces[eno1].description: 192.0.2.1 -> 192.0.2.2";
    assert!(shell("$NMGEN diff a.yml b.yml").contains(&format!("\n{changed}\n")));
    let coloured = format!("\n\x1b[33m{changed}\x1b[0m\n");
    assert!(shell("$NMGEN diff --color always a.yml b.yml").contains(&coloured));
    let terminal = |command: &str| shell(&format!("script -qec '{command}' /dev/null"));
    assert!(terminal("$NMGEN diff a.yml b.yml").contains(&coloured));
    for plain in ["NO_COLOR=1 $NMGEN diff a.yml b.yml", "$NMGEN diff --color never a.yml b.yml"] {
        assert!(!terminal(plain).contains('\x1b'), "{plain}");
    }
    // An archive is not for a screen.
    let refused = terminal("$NMGEN generate --to initrd a.yml");
    assert!(refused.contains("give -o FILE"), "{refused}");
    assert_eq!(shell("$NMGEN generate --to initrd a.yml | head -c 6"), "070701");
}

#[tests::case]
fn the_completion_of_a_shell_completes() {
    let script = "eval \"$($NMGEN completion bash)\"
        COMP_WORDS=(nmgen gen); COMP_CWORD=1; _nmgen nmgen gen nmgen; echo \"${COMPREPLY[@]}\"";
    let output = Command::new("bash").args(["-c", script]).env("NMGEN", program::nmgen()).output();
    assert_eq!(output.unwrap().out(), "generate\n");
    for shell in ["zsh", "fish"] {
        assert!(run(&["completion", shell], "").out().contains("nmgen"), "{shell}");
    }
    run(&["completion", "cmd"], "").exits(2);
}

#[tests::case]
fn show_is_at_most_80_columns_wide_and_has_no_colour_in_a_pipe() {
    let output = run(&["show", "-"], &fleet::document(0));
    let tree = output.out();
    assert!(tree.contains("bond0.100  vlan 100\n"), "{tree}");
    assert!(!tree.contains('\x1b'));
    let long = "interfaces:\n- name: eno1\n  description: x\n  mac-address: ".to_owned()
        + &"x".repeat(200);
    let output = run(&["show", "-"], &long);
    for line in tree.lines().chain(output.out().lines()) {
        assert!(line.chars().count() <= 80, "{line}");
    }
    assert!(output.out().contains('…'));
}
