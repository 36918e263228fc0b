//! `nmgen generate --br-ex`: what each topology becomes, golden.
//!
//! A case is a directory of `tests/fixtures/derive`: `early.yml`, `arguments` where there are some, and `expected.yml`, which
//! `BLESS=1` rewrites.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_yaml::Value;
use tests::two_stage::tell;
use tests::{
    documents,
    program::{self, Exits as _, nmgen_in},
};

fn cases() -> Vec<PathBuf> {
    let directory = program::root().join("tests/fixtures/derive");
    let mut cases: Vec<PathBuf> =
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.sort();
    assert!(cases.len() > 10);
    cases
}

fn derive(case: &Path, to: &str, output: &Path) -> Output {
    let own = fs::read_to_string(case.join("arguments")).unwrap_or_default();
    let output = output.display().to_string();
    let given = ["generate", "--br-ex", "--to", to, "-o", &output, "early.yml"];
    nmgen_in(case, &[&given[..], &own.split_whitespace().collect::<Vec<_>>()].concat())
}

#[tests::case]
fn every_topology_gives_what_is_expected() {
    let mut faults = Vec::new();
    for case in cases() {
        let place = tempfile::tempdir().unwrap();
        let output = derive(&case, "hosts", place.path());
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{}: {stderr}", case.display());
        assert_eq!(stderr, "", "{}", case.display());
        let found = fs::read_to_string(place.path().join("cluster.yml")).unwrap();
        if std::env::var_os("BLESS").is_some() {
            fs::write(case.join("expected.yml"), &found).unwrap();
        }
        let expected = fs::read_to_string(case.join("expected.yml")).unwrap_or_default();
        if found != expected {
            faults.push(format!("{}:\n{found}", case.display()));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// NetworkManager's profiles: of the early document, and of the derived one.
#[tests::case]
fn nmstate_makes_profiles_of_every_derived_document() {
    for case in cases() {
        let place = tempfile::tempdir().unwrap();
        let output = derive(&case, "keyfiles", place.path());
        let stderr = output.err();
        assert_eq!(output.status.code(), Some(0), "{}: {stderr}", case.display());
        let profile = fs::read_to_string(place.path().join("br-ex-if.nmconnection")).unwrap();
        assert!(profile.contains("type=ovs-interface"), "{profile}");
        assert!(place.path().join("br-ex-br.nmconnection").exists());
    }
}

#[tests::case]
fn nothing_differs_between_a_derived_document_and_the_same_one_written_by_hand() {
    for case in cases() {
        let place = tempfile::tempdir().unwrap();
        let early = place.path().join("early");
        fs::create_dir(&early).unwrap();
        fs::copy(case.join("early.yml"), early.join("worker-0.yml")).unwrap();
        let written = place.path().join("written");
        fs::create_dir(&written).unwrap();
        // A person leaves defaults out, or spells values in another way.
        let text = fs::read_to_string(case.join("expected.yml")).unwrap();
        let text = text.replace("  state: up\n", "").replace("  ipv6:\n    enabled: false\n", "");
        let text =
            text.replace("enabled: true", "enabled: yes").replace("    port:\n", "    ports:\n");
        fs::write(written.join("worker-0.yml"), text).unwrap();
        let output = nmgen_in(place.path(), &["diff", "early", "written"]);
        assert_eq!(output.out(), "", "{}", case.display());
        let output = nmgen_in(place.path(), &["diff", "written", "early"]);
        assert_eq!(output.out(), "", "{}", case.display());
    }
}

#[tests::case]
fn a_difference_of_a_written_document_is_told_by_its_field() {
    let place = tempfile::tempdir().unwrap();
    let case = program::root().join("tests/fixtures/derive/nic-static");
    for (directory, file) in [("early", "early.yml"), ("written", "expected.yml")] {
        fs::create_dir(place.path().join(directory)).unwrap();
        let text = fs::read_to_string(case.join(file)).unwrap();
        let text =
            if directory == "written" { text.replace("192.0.2.53", "192.0.2.54") } else { text };
        fs::write(place.path().join(directory).join("worker-0.yml"), text).unwrap();
    }
    let output = nmgen_in(place.path(), &["diff", "early", "written"]);
    let expected = "worker-0:\n  - dns-resolver.config.server: 192.0.2.53\n  + dns-resolver.config.server: 192.0.2.54\n";
    assert_eq!(output.out(), expected);
}

/// Under other names than the derivation's, and without what people leave out.
#[tests::case]
fn a_bond_of_open_vswitch_written_by_hand_is_compared_with_the_early_one() {
    let case = program::root().join("tests/fixtures/derive/balance-slb-vlan");
    let place = tempfile::tempdir().unwrap();
    let early = fs::read_to_string(case.join("early.yml")).unwrap().replace('\n', "\n    ");
    let head = "apiVersion: v1beta1\nkind: AgentConfig\nhosts:\n- hostname: worker-0\n  networkConfig:\n    ";
    fs::write(place.path().join("agent-config.yaml"), format!("{head}{early}\n")).unwrap();
    fs::create_dir(place.path().join("written")).unwrap();
    let mut text = fs::read_to_string(case.join("expected.yml")).unwrap();
    for (derived, own) in [
        ("- name: bond0\n  type: bond\n  state: absent\n", ""),
        ("- name: bond0.100\n  type: vlan\n  state: absent\n", ""),
        ("    allow-extra-patch-ports: true\n", ""),
        ("    metric: 48\n", ""),
        ("br-phy", "br-cards"),
        ("ovs-bond", "cards"),
        ("patch-ex-to-phy", "to-cards"),
        ("patch-phy-to-ex", "to-br-ex"),
    ] {
        assert!(text.contains(derived), "{derived}");
        text = text.replace(derived, own);
    }
    for (from, to, differing) in [
        ("", "", None),
        ("tag: 100", "tag: 101", None),
        ("mode: balance-slb", "mode: active-backup", None),
        ("mtu: 9000", "mtu: 1500", Some("~ interfaces[eno1].mtu: 9000 -> 1500")),
        ("bridge-uplink: to-cards", "other: id", Some("bridge-uplink")),
    ] {
        assert!(text.contains(from), "{from}");
        let written = text.replacen(from, to, 1);
        fs::write(place.path().join("written/worker-0.yml"), written).unwrap();
        let output = nmgen_in(place.path(), &["check", "agent-config.yaml", "written"]);
        let stderr = output.err();
        let told = stderr.lines().find(|line| line.starts_with("warning[stages-differ]"));
        assert_eq!(told.is_some(), differing.is_some(), "{to}: {stderr}");
        assert!(stderr.contains(differing.unwrap_or_default()), "{to}: {stderr}");
    }
}

#[tests::case]
fn a_policy_has_the_document_with_the_masquerade_addresses_and_can_be_read_again() {
    let case = program::root().join("tests/fixtures/derive/nic-dual-stack");
    let place = tempfile::tempdir().unwrap();
    let hosts = place.path().join("hosts");
    fs::create_dir(&hosts).unwrap();
    for name in ["worker-0", "worker-1"] {
        let text = fs::read_to_string(case.join("early.yml")).unwrap();
        let text = if name == "worker-1" {
            text.replace(".10", ".11").replace("::10", "::11")
        } else {
            text
        };
        fs::write(hosts.join(format!("{name}.yml")), text).unwrap();
    }
    nmgen_in(
        place.path(),
        &["generate", "--br-ex", "--to", "policy", "-o", "policies.yaml", "hosts"],
    )
    .exits(0);
    let text = fs::read_to_string(place.path().join("policies.yaml")).unwrap();
    let policy: Value = serde_yaml::from_str(text.split("---\n").nth(1).unwrap()).unwrap();
    assert_eq!(policy["metadata"]["name"], "worker-0-br-ex");
    assert_eq!(policy["spec"]["nodeSelector"]["kubernetes.io/hostname"], "worker-0");
    let interfaces = policy["spec"]["desiredState"]["interfaces"].as_sequence().unwrap();
    let bridge = interfaces.iter().find(|interface| interface["type"] == "ovs-interface").unwrap();
    for (family, ip, length) in [("ipv4", "169.254.0.2", 17), ("ipv6", "fd69::2", 112)] {
        let addresses = bridge[family]["address"].as_sequence().unwrap();
        assert!(
            addresses
                .iter()
                .any(|address| address["ip"] == ip && address["prefix-length"] == length),
            "{family}"
        );
        assert_eq!(addresses.len(), 2);
    }
    let output = nmgen_in(place.path(), &["check", "policies.yaml"]);
    assert_eq!(output.err(), "2 hosts in policies.yaml, no errors\n");
}

#[tests::case]
fn an_existing_directory_gets_the_machine_config_of_a_single_role() {
    let place = tempfile::tempdir().unwrap();
    let output = place.path().join("openshift");
    fs::create_dir(&output).unwrap();
    let input = program::root().join("examples");
    let output_shown = output.display().to_string();
    let arguments = [
        "generate",
        "--br-ex",
        "--to",
        "machine-config",
        "-o",
        &output_shown,
        "cluster/install-config.yaml",
    ];
    nmgen_in(&input, &arguments).exits(0);
    let text = fs::read_to_string(output.join("10-br-ex-master.yaml")).unwrap();
    let config: Value = serde_yaml::from_str(&text).unwrap();
    assert_eq!(config["spec"]["config"]["storage"]["files"].as_sequence().unwrap().len(), 3);
    // The way back.
    let arguments =
        ["diff", "cluster/install-config.yaml", &format!("{output_shown}/10-br-ex-master.yaml")];
    let diff = nmgen_in(&input, &arguments);
    assert_eq!(diff.out(), "");
}

#[tests::case]
fn the_policies_of_day_two_are_written_by_the_call_that_writes_the_machine_configs() {
    let place = tempfile::tempdir().unwrap();
    let source = program::root().join("examples/cluster/install-config.yaml");
    let source = source.display().to_string();
    let call = |policies: &str| {
        nmgen_in(
            place.path(),
            &[
                "generate",
                "--br-ex",
                "--to",
                "machine-config",
                "-o",
                "openshift/",
                "--policies",
                policies,
                &source,
            ],
        )
    };
    // The installer would take them for manifests.
    call("openshift/policies.yaml").exits(2);
    // Nothing is written unless all is.
    call("missing/policies.yaml").exits(1);
    assert!(!place.path().join("openshift/10-br-ex-master.yaml").exists());
    call("policies.yaml").exits(0);
    let alone = nmgen_in(place.path(), &["generate", "--br-ex", "--to", "policy", &source]);
    let text = fs::read_to_string(place.path().join("policies.yaml")).unwrap();
    assert_eq!(alone.out(), text);
    assert_eq!(text.matches("kind: NodeNetworkConfigurationPolicy").count(), 3);
    assert_eq!(text.matches("169.254.0.2").count(), 3);
    let files: Vec<_> = fs::read_dir(place.path().join("openshift"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(files, ["10-br-ex-master.yaml"]);
}

#[tests::case]
fn a_node_finds_the_document_of_a_host_with_a_long_name() {
    let place = tempfile::tempdir().unwrap();
    let install_config = program::root().join("examples/cluster/install-config.yaml");
    let text =
        fs::read_to_string(install_config).unwrap().replace("master-0", "master-0.example.com");
    fs::write(place.path().join("install-config.yaml"), text).unwrap();
    let output = nmgen_in(
        place.path(),
        &["generate", "--br-ex", "--to", "machine-config", "install-config.yaml"],
    );
    let stdout = output.out();
    assert!(stdout.contains("path: /etc/nmstate/openshift/master-0.yml\n"), "{stdout}");
}

#[tests::case]
fn a_choice_for_a_host_that_is_not_there_is_told() {
    let input = program::root().join("examples");
    let source = "cluster/install-config.yaml";
    let generate = ["generate", "--br-ex", "--to", "hosts", source];
    // A host that is not shown is there all the same.
    let show = ["show", "--br-ex", "--host", "master-0", source];
    for call in [&generate[..], &show] {
        for option in ["--uplink", "--br-ex1"] {
            let told = nmgen_in(&input, &[call, &[option, "master-9=bond0"]].concat());
            let stderr = String::from_utf8(told.stderr).unwrap();
            let expected =
                format!("error[no-such-host]: there is no host master-9, which {option} names\n");
            assert!(stderr.contains(&expected), "{call:?}: {stderr}");
            assert_eq!(told.status.code(), Some(2), "{call:?} {option}");
            let known = nmgen_in(&input, &[call, &[option, "master-1=bond0"]].concat());
            let stderr = known.err();
            assert!(!stderr.contains("no-such-host"), "{call:?} {option}: {stderr}");
        }
    }
}

/// The rules in brackets of the errors.
fn errors(output: &Output) -> BTreeSet<String> {
    let stderr = output.err();
    let rules = stderr.lines().filter_map(|line| line.strip_prefix("error[")?.split_once(']'));
    rules.map(|(rule, _)| rule.to_owned()).collect()
}

/// How many documents derive, and why the others do not.
#[derive(Debug, Default)]
struct Counts {
    derived: usize,
    refused: BTreeMap<String, usize>,
}

/// As they are, with each of their interfaces as the uplink, and both with balance-slb. No derived document has an error that its
/// early one has not. The counts are on stderr.
#[tests::case]
fn every_document_derives_or_says_why_not() {
    let place = tempfile::tempdir().unwrap();
    let (mut alone, mut with_uplink) = (Counts::default(), Counts::default());
    let mut with_slb = Counts::default();
    for document in documents::all() {
        fs::write(place.path().join("early.yml"), &document.text).unwrap();
        let known = errors(&nmgen_in(place.path(), &["check", "early.yml"]));
        let text: Value = serde_yaml::from_str(&document.text).unwrap();
        let interfaces = text["interfaces"].as_sequence().cloned().unwrap_or_default();
        let names: BTreeSet<&str> =
            interfaces.iter().filter_map(|interface| interface["name"].as_str()).collect();
        let names = names.into_iter().map(Some).chain([None]);
        for (name, slb) in names.flat_map(|name| [(name, None), (name, Some("--balance-slb"))]) {
            let counts = match (name, slb) {
                (_, Some(_)) => &mut with_slb,
                (Some(_), None) => &mut with_uplink,
                (None, None) => &mut alone,
            };
            let uplink = name.map(|name| format!("--uplink={name}"));
            let mut arguments = vec!["generate", "--br-ex", "--to", "hosts", "early.yml"];
            arguments.extend(uplink.as_deref());
            arguments.extend(slb);
            let output = nmgen_in(place.path(), &arguments);
            if output.status.code() == Some(0) {
                assert!(output.out().contains("type: ovs-interface"));
                counts.derived += 1;
                continue;
            }
            assert_eq!(output.status.code(), Some(2), "{} {name:?} {slb:?}", document.name);
            let found = errors(&output);
            let is_reason =
                |rule: &&String| rule.starts_with("uplink-") || rule.starts_with("bridge-");
            let is_own = || !known.is_empty() && found.is_subset(&known);
            let reason =
                found.iter().find(is_reason).or_else(|| found.first().filter(|_| is_own()));
            assert!(reason.is_some(), "{} {name:?} {slb:?}: {found:?}", document.name);
            *counts.refused.entry(reason.unwrap().clone()).or_default() += 1;
        }
    }
    tell(&format!("derived as they are: {alone:?}"));
    tell(&format!("derived with each interface as the uplink: {with_uplink:?}"));
    tell(&format!("derived with balance-slb: {with_slb:?}"));
    assert!(with_slb.derived > 2, "{with_slb:?}");
    assert!(alone.derived > 5 && with_uplink.derived > 10, "{alone:?} {with_uplink:?}");
    assert!(alone.refused.len() + with_uplink.refused.len() > 5, "{alone:?} {with_uplink:?}");
}
