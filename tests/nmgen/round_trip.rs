//! Documents survive a target and reading back, byte for byte.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tests::program::{self, Exits as _};

const AGENT_CONFIG: &str = "\
apiVersion: v1beta1
kind: AgentConfig
metadata:
  name: example
hosts:
  - hostname: master-0
    role: master
    interfaces:
      - name: eno1
        macAddress: 52:54:00:00:10:01
    networkConfig:
      interfaces:
        - name: eno1
          type: ethernet
          state: up
          mac-address: 52:54:00:00:10:01
          ipv4:
            enabled: true
            dhcp: false
            address:
              - {ip: 192.0.2.20, prefix-length: 24}
  - hostname: worker-0
    role: worker
    interfaces:
      - {name: eno2, macAddress: '52:54:00:00:11:02'}
    networkConfig:
      # Comments are not a part of what is embedded.
      interfaces:
        - {name: eno2, type: ethernet, state: up, description: \"on: 0x10\", ipv4: {enabled: true, dhcp: true}}
";

fn generate(to: &[&str], input: &Path, output: &Path) {
    let mut command = Command::new(program::nmgen());
    command.args(["generate", "--to"]).args(to).arg("-o").args([output, input]);
    let run = command.output().unwrap();
    assert!(run.status.success(), "{command:?}\n{}", run.err());
}

/// The hosts' documents in a source.
fn documents(source: &Path, place: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let directory = place.join(format!("hosts-of-{}", source.file_stem().unwrap().display()));
    generate(&["hosts"], source, &directory);
    files(&directory)
}

fn files(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let entries = fs::read_dir(directory).unwrap().map(Result::unwrap);
    entries.map(|entry| (entry.file_name().into(), fs::read(entry.path()).unwrap())).collect()
}

#[tests::case]
fn a_hosts_directory_comes_back_from_a_machine_config_and_from_secrets() {
    let place = tempfile::tempdir().unwrap();
    let hosts = program::root().join("tests/fixtures/targets/input/hosts");
    for target in [&["machine-config", "--role", "worker"][..], &["bmh-secret"]] {
        let output = place.path().join(format!("{}.yaml", target[0]));
        generate(target, &hosts, &output);
        assert_eq!(documents(&output, place.path()), files(&hosts), "{target:?}");
    }
}

#[tests::case]
fn the_hosts_of_an_agent_config_come_back_from_nmstateconfigs() {
    let place = tempfile::tempdir().unwrap();
    let agent_config = place.path().join("agent-config.yaml");
    fs::write(&agent_config, AGENT_CONFIG).unwrap();
    let expected = documents(&agent_config, place.path());
    assert_eq!(expected.len(), 2);
    let nmstateconfig = place.path().join("nmstateconfig.yaml");
    generate(&["nmstateconfig"], &agent_config, &nmstateconfig);
    assert_eq!(documents(&nmstateconfig, place.path()), expected);
    // The map of NICs too: the output from the documents read back is the same.
    let again = place.path().join("again.yaml");
    generate(&["nmstateconfig"], &nmstateconfig, &again);
    assert_eq!(fs::read(&again).unwrap(), fs::read(&nmstateconfig).unwrap());
}
