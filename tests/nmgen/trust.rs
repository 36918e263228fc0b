//! No secret of a document is shown: not by a command, in a form, of a finding beside it.

mod collected;
mod secrets;
mod shown;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Output};

use tests::machine::Machine;
use tests::program::Said;
use tests::{
    documents, measure,
    program::{self, Exits as _},
};

/// Values as people write them: words, and numbers that YAML has other types for.
const MARKERS: &[&str] = &[
    "s3cretmarker0123456789abcdef0123",
    "83517246",
    "0x4FA7C31D",
    "83517246.25",
    "83517246835172468351724683517246",
];

/// The forms in which a message may repeat the values.
const TRACES: &[&str] = &["s3cretmarker", "83517246", "4FA7C31D", "1336394525", "8351724"];

/// An interface for each path of a secret; `VALUE` is the secret.
const INTERFACES: &[&str] = &[
    "{name: eth0, type: ethernet, 802.1x: {identity: a, eap-methods: [tls], private-key-password: VALUE}}",
    "{name: eth0, type: ethernet, 802.1x: {identity: a, eap-methods: [peap], password: VALUE}}",
    "{name: m0, type: macsec, macsec: {encrypt: true, base-iface: eth0, mka-cak: VALUE, mka-ckn: '12', port: 1, validation: strict, send-sci: true}}",
    "{name: v0, type: ipsec, libreswan: {right: 192.0.2.1, psk: VALUE}}",
];

/// The document of an interface; `FAULT` and so on are faults beside the secret.
fn documents(interface: &str) -> Vec<String> {
    let list = |interface: &str| format!("interfaces:\n- {interface}\n");
    let plain = list(interface);
    let (before, after) = interface.split_once("VALUE").unwrap();
    let (start, key) =
        before.rsplit_once(' ').map(|(before, _)| before.rsplit_once(' ').unwrap()).unwrap();
    let with = |value: &str| list(&format!("{before}{value}{after}"));
    vec![
        plain.clone(),
        // Faults beside it.
        list(&interface.replacen("VALUE", "VALUE, typo: 1", 1)),
        list(&interface.replacen("{name", "{mtu: many, name", 1)),
        list(&interface.replacen("type:", "tipe:", 1)),
        list(&format!("{start} {} VALUE{after}", key.replacen('-', "_", 1).replace(':', "x:"))),
        list(&format!("{start} {}VALUE{after}", key)),
        list(&format!("{start} {key} VALUE, {key} VALUE{after}")),
        // Other shapes of the value.
        with("'VALUE'"),
        with("\"VALUE\\a\""),
        with("[VALUE]"),
        with("{a: VALUE}"),
        with("!!str VALUE"),
        with("&a VALUE"),
        // Not YAML.
        with("\"VALUE"),
        with("VALUE: b"),
        with("VALUE ]"),
        format!("{plain}\t- broken: [\n"),
        format!("interfaces:\n- {start}\n    {key}\n      VALUE{after}\n"),
        // Block style.
        format!(
            "interfaces:\n- name: eth0\n  type: ethernet\n  tipe: 1\n  802.1x:\n    identity: a\n    {key} VALUE # VALUE\n    {key} |\n      VALUE\n"
        ),
        format!("interfaces:\n- name: eth0\n  802.1x:\n    {key} |-\n      VALUE\n    typo: 1\n"),
        format!("interfaces:\n- name: eth0\n  802.1x:\n    {key} |-\n      VALUE\n   typo: 1\n"),
        format!("interfaces:\n- name: eth0\n  802.1x:\n    {key} VALUE\n   typo: 1\n"),
        format!("capture: {{a: b}}\ndesiredState:\n  interfaces:\n  - {interface}\n"),
        // In manifests.
        format!(
            "apiVersion: agent-install.openshift.io/v1beta1\nkind: NMStateConfig\nmetadata: {{name: a, annotations: \
             {{last: '{{\"{}\": \"VALUE\"}}'}}}}\nspec:\n  config:\n    interfaces:\n    - {interface}\n    - {{typo: 1}}\n",
            key.trim_end_matches(':')
        ),
        format!(
            "apiVersion: v1\nkind: Secret\nmetadata: {{name: a}}\nstringData:\n  nmstate: |\n    interfaces:\n    - {interface}\n    - {{typo: 1}}\n"
        ),
    ]
}

/// Runs nmgen, whose working directory this is.
fn run(directory: &Path, arguments: &[&str]) -> Output {
    Command::new(program::nmgen()).args(arguments).current_dir(directory).output().unwrap()
}

fn agent(directory: &Path, arguments: &[&str]) -> Output {
    Command::new(program::dayone()).args(arguments).current_dir(directory).output().unwrap()
}

/// Output and messages of nmgen, or of the program that is the first argument: the agent, or nmgen under the name of one whose
/// place it takes. The names of what is in the directory are paths.
fn said<W: AsRef<OsStr>>(directory: &Path, arguments: &[W]) -> Said {
    let word = |word: &W| {
        let path = directory.join(word.as_ref());
        if path.exists() { path.into_os_string() } else { word.as_ref().to_owned() }
    };
    let mut arguments: Vec<OsString> = arguments.iter().map(word).collect();
    match arguments[0].to_str() {
        Some("dayone") => {
            let output = Command::new(program::dayone()).args(&arguments[1..]).output().unwrap();
            return Said { output: output.stdout, messages: output.stderr };
        }
        Some("nmstatectl") => {}
        _ => arguments.insert(0, "nmgen".into()),
    }
    program::said(&arguments).unwrap()
}

/// Everything that a machine shows in its first boot, and in an emergency shell: standard error and the kernel log of each step,
/// and the account.
fn shown_by_a_boot(machine: &Machine) -> [String; 6] {
    let (early, late) = (machine.boot(), machine.persist());
    let explained = machine.command().arg("--explain").output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let account = [text(&explained.stdout), text(&explained.stderr)];
    let [out, error] = account;
    [early.console, early.kernel, late.console, late.kernel, out, error]
}

/// Where a text has a secret.
fn trace<'t>(text: &'t [u8], marker: &str) -> Option<&'t str> {
    let text = std::str::from_utf8(text).unwrap();
    let is_trace =
        |line: &&str| line.contains(marker) || TRACES.iter().any(|trace| line.contains(trace));
    text.lines().find(is_trace)
}

#[tests::case]
fn no_command_shows_a_secret() {
    let place = tempfile::tempdir().unwrap();
    let at = place.path();
    for tree in ["before/a", "after/a"] {
        fs::create_dir_all(at.join(tree)).unwrap();
    }
    let mut faults = Vec::new();
    // The whole of the output, or standard error if standard output carries the document.
    let commands: &[(&[&str], bool)] = &[
        (&["check", "a.yml"], true),
        (&["check", "--format", "json", "a.yml"], true),
        (&["check", "--format", "sarif", "a.yml"], true),
        (&["check", "--format", "github", "a.yml"], true),
        (&["check", "--format", "short", "a.yml"], true),
        (&["check", "--for", "node", "a.yml"], true),
        (&["check", "--verbose", "after"], true),
        (&["diff", "a.yml", "b.yml"], true),
        (&["diff", "--format", "json", "a.yml", "none.yml"], true),
        (&["diff", "before", "after"], true),
        (&["show", "a.yml"], true),
        (&["show", "--format", "json", "a.yml"], true),
        (&["show", "--format", "svg", "a.yml"], true),
        (&["show", "--format", "html", "a.yml"], true),
        (&["diff", "--format", "html", "a.yml", "b.yml"], true),
        (&["generate", "--to", "kargs", "a.yml"], false),
        (&["generate", "--to", "kargs", "--allow-loss", "a.yml"], false),
        (&["generate", "--to", "machine-config", "--role", "worker", "a.yml"], false),
        (&["generate", "--to", "initrd", "a.yml"], false),
        (&["gc", "a.yml"], false),
        (&["nmstatectl", "validate", "a.yml"], true),
        (&["nmstatectl", "gc", "a.yml"], false),
        (&["dayone", "check", "--document", "a.yml"], true),
        (&["dayone", "check", "--format", "json", "--document", "a.yml"], true),
    ];
    // They tell the same faults.
    let other_forms: &[(&[&str], bool)] = &[
        (&["generate", "--to", "keyfiles", "a.yml"], false),
        (&["generate", "--to", "hosts", "after"], false),
        (&["generate", "--to", "ignition", "a.yml"], false),
        (&["generate", "--to", "policy", "a.yml"], false),
        (&["generate", "--to", "bmh-secret", "a.yml"], false),
        (&["generate", "--to", "nmstateconfig", "a.yml"], false),
    ];
    fs::write(at.join("none.yml"), "interfaces:\n- {name: eth0, type: ethernet}\n").unwrap();
    for interface in INTERFACES {
        for (number, document) in documents(interface).iter().enumerate() {
            for marker in MARKERS {
                let text = document.replace("VALUE", marker);
                fs::write(at.join("a.yml"), &text).unwrap();
                let other = document.replace("VALUE", "83517246other");
                fs::write(at.join("b.yml"), &other).unwrap();
                fs::write(at.join("before/a/worker-0.yml"), &other).unwrap();
                fs::write(at.join("after/a/worker-0.yml"), &text).unwrap();
                // Every command for the plain document, and the checks for one with faults.
                let (of, forms) = match number {
                    0 => (commands, other_forms),
                    _ if *marker == MARKERS[1] => (commands, &[][..]),
                    _ => (&commands[..1], &[][..]),
                };
                for (arguments, is_whole) in of.iter().chain(forms) {
                    let said = said(at, arguments);
                    let shown: &[&[u8]] = match is_whole {
                        true => &[&said.messages, &said.output],
                        false => &[&said.messages],
                    };
                    for stream in shown {
                        if let Some(line) = trace(stream, marker) {
                            faults.push(format!("{arguments:?}\n{text}: {line}"));
                        }
                    }
                }
            }
            let text = document.replace("VALUE", MARKERS[1]);
            for shown in shown_by_a_boot(&Machine::with_card().host("cluster", &text)) {
                if let Some(line) = trace(shown.as_bytes(), MARKERS[1]) {
                    faults.push(format!("boot\n{text}: {line}"));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}

/// A profile for each kind of secret that NetworkManager keeps in a file.
const PROFILE: &str = "[connection]\nid=a\n[802-1x]\npassword=VALUE\nprivate-key=data:;base64,VALUE\n[wireguard]\nprivate-key=VALUE\n\
                       [wireguard-peer.x]\npreshared-key=VALUE\n[wifi-security]\nwep-key0=VALUE\n[vpn-secrets]\nany=VALUE\n\
                       [macsec]\nmka-cak=VALUE\n[802-1x]\nphase2-private-key=data:;base64,VALUE\n[gsm]\npin=VALUE\n";

#[tests::case]
fn a_collected_node_has_no_secret_and_answers_without_one() {
    let place = tempfile::tempdir().unwrap();
    let at = |path: &str| {
        let path = place.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    };
    fs::write(at("etc/hostname"), "worker-7\n").unwrap();
    let (document, profile) = (
        at("etc/nmstate/openshift/worker-7.yml"),
        at("etc/NetworkManager/system-connections/a.nmconnection"),
    );
    let root = place.path().display().to_string();
    let mut faults = Vec::new();
    for (interface, marker) in INTERFACES.iter().zip(MARKERS.iter().cycle()) {
        for (index, text) in documents(interface).iter().enumerate() {
            let text = text.replace("VALUE", marker);
            fs::write(&document, &text).unwrap();
            fs::write(&profile, PROFILE.replace("VALUE", marker)).unwrap();
            let line =
                "netroot=iscsi:user:VALUE@192.0.2.1::3260::iqn.a proxy=http://user:VALUE@proxy";
            fs::write(at("proc/cmdline"), line.replace("VALUE", marker)).unwrap();
            let collected = agent(place.path(), &["--root", &root, "collect"]).exits(0);
            fs::write(at("node.json"), &collected.stdout).unwrap();
            let mut shown = vec![collected];
            // The first document is a good one.
            let answers = [&["status", "--json"][..], &["check"], &["apply", "--dry-run"]];
            let told = if index == 0 { &answers[..] } else { &answers[1..2] };
            for answer in told {
                shown.push(agent(place.path(), &[*answer, &["--from", "node.json"]].concat()));
            }
            let streams = shown.iter().flat_map(|output| [&output.stdout, &output.stderr]);
            faults.extend(
                streams
                    .filter_map(|stream| trace(stream, marker))
                    .map(|trace| format!("{text}: {trace}")),
            );
        }
    }
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}

#[tests::case]
fn an_excerpt_hides_a_secret_and_points_to_the_fault() {
    let place = tempfile::tempdir().unwrap();
    let line = "  macsec: {mka-cak: 0123456789abcdef0123456789abcdef, typo: 1, mka-ckn: '12'}";
    let text = format!("interfaces:\n- name: m0\n  type: macsec\n{line}\n");
    fs::write(place.path().join("a.yml"), text).unwrap();
    let output = run(place.path(), &["check", "a.yml"]);
    let shown = output.err();
    let wanted = "\
  --> a.yml:4:55
  |
4 |   macsec: {mka-cak: <hidden>, typo: <hidden>, mka-ckn: '12'}
  |                               ^^^^
";
    assert!(shown.contains(wanted), "{shown}");
}

#[tests::case]
fn a_difference_of_secrets_is_told_without_them() {
    let place = tempfile::tempdir().unwrap();
    for (name, secret) in [("a.yml", "12345678"), ("b.yml", "87654321")] {
        let document = INTERFACES[0].replace("VALUE", secret);
        fs::write(place.path().join(name), format!("interfaces: [{document}]\n")).unwrap();
    }
    let output = run(place.path(), &["diff", "a.yml", "b.yml"]);
    let shown = String::from_utf8(output.stdout).unwrap();
    let field = "interfaces[eth0].802.1x.private-key-password";
    assert_eq!(shown, format!("the document:\n  ~ {field}: <hidden> -> <hidden>\n"));
}

#[tests::case]
fn a_document_with_a_secret_is_readable_for_root_alone_on_the_node() {
    let place = tempfile::tempdir().unwrap();
    fs::create_dir(place.path().join("hosts")).unwrap();
    let secret = INTERFACES[0].replace("VALUE", "'12345678', client-cert: /c, private-key: /k");
    fs::write(place.path().join("hosts/worker-0.yml"), format!("interfaces: [{secret}]\n"))
        .unwrap();
    let plain = "interfaces: [{name: eth0, type: ethernet}]\n";
    fs::write(place.path().join("hosts/worker-1.yml"), plain).unwrap();
    let output =
        run(place.path(), &["generate", "--to", "machine-config", "--role", "worker", "hosts"]);
    let config = output.out();
    let lines = config.lines().map(str::trim);
    let modes: Vec<&str> = lines.filter_map(|line| line.strip_prefix("mode: ")).collect();
    assert_eq!(modes, [0o600.to_string(), 0o644.to_string()]);
    let said = output.err();
    assert!(
        said.contains("[secrets-for-all]") && said.contains("may read MachineConfigs"),
        "{said}"
    );
}

#[tests::case]
fn a_link_out_of_the_directory_is_told_and_not_read() {
    let place = tempfile::tempdir().unwrap();
    let at = place.path();
    fs::create_dir_all(at.join("hosts")).unwrap();
    fs::create_dir_all(at.join("tree/host0")).unwrap();
    fs::write(at.join("outside.yml"), "s3cretmarker: 1\n").unwrap();
    let environment = Path::new("/proc/self/environ");
    for (file, to) in [
        ("hosts/worker-0.yml", Path::new("../outside.yml")),
        ("hosts/worker-1.yml", environment),
        ("tree/host0/worker-0.yaml", environment),
        ("tree/host1", at),
    ] {
        symlink(to, at.join(file)).unwrap();
    }
    fs::write(at.join("tree/host0/mac_interface.ini"), "52:54:00:00:00:01=eth0\n").unwrap();
    fs::write(at.join("mac_interface.ini"), "s3cretmarker\n").unwrap();
    for (source, count) in [("hosts", 2), ("tree", 3)] {
        for command in ["check", "show"] {
            let output = Command::new(program::nmgen())
                .args([command, source])
                .current_dir(at)
                .env("CI_TOKEN", "s3cretmarker")
                .output()
                .unwrap()
                .exits(2);
            let said = output.err();
            assert!(said.contains(&format!("\n{count} error")), "{source}: {said}");
            assert!(said.contains("error[link-outside]"), "{source}: {said}");
            assert!(!said.contains("s3cret"), "{said}");
        }
    }
}

#[tests::case]
fn what_would_wait_for_a_writer_is_refused_at_once() {
    let place = tempfile::tempdir().unwrap();
    let at = place.path();
    fs::create_dir(at.join("hosts")).unwrap();
    for fifo in ["fifo.yml", "hosts/worker-0.yml"] {
        let made = Command::new("mkfifo").arg(at.join(fifo)).status().unwrap();
        assert!(made.success());
    }
    let _socket = UnixListener::bind(at.join("socket.yml")).unwrap();
    for (source, kind) in [
        ("fifo.yml", "a FIFO"),
        ("hosts", "a FIFO"),
        ("socket.yml", "a socket"),
        ("/dev/zero", "a device"),
    ] {
        let output = Command::new("timeout")
            .arg("10")
            .arg(program::nmgen())
            .args(["check", source])
            .current_dir(at)
            .output()
            .unwrap();
        let said = output.err();
        assert!(said.contains(&format!("it is {kind}, not a file")), "{source}: {said}");
    }
    // The shell's pipe is the caller's own.
    let shell = "\"$NMGEN\" check <(printf 'interfaces: [{name: eth0, type: ethernet}]\\n')";
    let output = Command::new("bash").args(["-c", shell]).env("NMGEN", program::nmgen()).output();
    output.unwrap().exits(0);
}

#[tests::case]
fn the_most_interfaces_of_a_document_cost_a_second_and_one_more_is_refused() {
    let place = tempfile::tempdir().unwrap();
    for (shape, make) in documents::LARGE {
        fs::write(place.path().join("a.yml"), make(1_500)).unwrap();
        fs::write(place.path().join("b.yml"), make(1_501)).unwrap();
        for arguments in [&["check"][..], &["show"], &["show", "--format", "svg"], &["gc"]] {
            let mut command = Command::new(program::nmgen());
            command.args(arguments).arg("a.yml").current_dir(place.path());
            let cost = measure::run(&mut command).unwrap();
            let (time, memory) = (cost.cpu.as_secs_f64(), cost.peak_memory >> 20);
            // A build without optimisation takes five times as long.
            assert!(time < 2.0 && memory < 100, "{shape} {arguments:?}: {time} s, {memory} MiB");
            let output = run(place.path(), &[arguments, &["b.yml"]].concat());
            let said = output.err();
            assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
            assert!(said.contains("more than 1500 interfaces"), "{arguments:?}: {said}");
        }
        let said = Machine::with_card().host("cluster", &make(1_501)).boot();
        assert!(said.kernel.contains("more than 1500 interfaces"), "{}", said.kernel);
    }
    // A part of a file of manifests.
    let list = documents::LARGE[0].1(1_501).replace("\n", "\n    ");
    let manifest = "apiVersion: agent-install.openshift.io/v1beta1\nkind: NMStateConfig\nmetadata: {name: a}\nspec:\n  config:\n    ";
    fs::write(place.path().join("a.yml"), format!("{manifest}{list}\n")).unwrap();
    run(place.path(), &["check", "a.yml"]).exits(2).reports("more than 1500 interfaces");
}
