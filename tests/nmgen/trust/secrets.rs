//! No output shows a secret, in whatever form it stands: a table of forms, each on every output.

use std::fs;

use tests::program::Exits as _;

use super::{MARKERS, agent, said, trace};

/// Documents with a secret where nobody expects one: behind the key of another tool, behind a quote within a quoted value, in the
/// address of a proxy.
fn unexpected() -> Vec<String> {
    let of_section = |(section, key): (&str, &str)| {
        let flow =
            format!("interfaces: [{{name: eth0, type: ethernet, {section}: {{{key}: VALUE}}}}]\n");
        let block = format!(
            "interfaces:\n- name: eth0\n  type: ethernet\n  {section}:\n    {key}: VALUE\n"
        );
        [flow.clone(), format!("{flow}]"), block.clone(), format!("{block}   typo: 1\n")]
    };
    let keys = ["pass", "pwd", "pw", "key", "secret", "token"];
    let sections = keys.into_iter().map(|key| ("802.1x", key));
    let sections = sections.chain([("macsec", "key"), ("libreswan", "secret")]);
    // Keys of other programs: Open vSwitch's maps, WireGuard, Ignition, a pull secret, headers, an environment.
    let of_others = [
        "secret",
        "token",
        "api-key",
        "apiKey",
        "auth_token",
        "private_key",
        "private-key",
        "preshared-key",
        "wep-key0",
        "clientSecret",
        "auth",
        "Authorization",
        "AWS_SECRET_ACCESS_KEY",
        "IPSec secret",
    ];
    let of_others = of_others.into_iter().flat_map(|key| {
        [
            format!("interfaces: [{{name: eth0, type: ethernet, \"{key}\": VALUE, mtu: many}}]\n"),
            format!("interfaces:\n- name: eth0\n  type: ethernet\n  {key}: VALUE\n  mtu: many\n"),
            format!(
                "interfaces: [{{name: br0, type: ovs-bridge, bridge: {{}}, ovs-db: {{external_ids: {{\"{key}\": VALUE}}}}}}]\n"
            ),
            format!("interfaces:\n- name: eth0 # {key}: VALUE\n  mtu: many # {key}=VALUE\n"),
            format!("{{\"interfaces\": [{{\"name\": \"eth0\", \"{key}\": {{\"a\": \"VALUE\"}},, \"mtu\": 1}}]}}\n"),
        ]
    });
    let install = "apiVersion: v1\nkind: InstallConfig\nproxy: {httpProxy: \"http://user:VALUE@proxy:3128\", noProxy: [}\n";
    let config = "{\"apiVersion\":\"machineconfiguration.openshift.io/v1\",\"kind\":\"MachineConfig\",\"metadata\":{\"name\":\"m\",\
                  \"labels\":{\"machineconfiguration.openshift.io/role\":\"worker\"}},\"spec\":{\"config\":{\"ignition\":{\"version\":\
                  \"3.2.0\"},\"storage\":{\"luks\":[{\"name\":\"d\",\"keyFile\":{\"source\":\"data:,VALUE\"}}],\"files\":[{\"path\":\
                  \"/etc/nmstate/openshift/cluster.yml\",\"contents\":{\"source\":\"data:,%GG\"}}]}}}}";
    let others = [
        r#"interfaces: [{name: eth0,, 802.1x: {password: "abc\"VALUE"}}]"#,
        "interfaces: [{name: eth0,, 802.1x: {password: 'it''s VALUE'}}]",
        "interfaces: [{name: eth0,, 802.1x: {key: 'it''s VALUE'}}]",
        "interfaces: [{name: eth0, description: 'http://user:VALUE@proxy', tipe: 1}]",
        "interfaces: [{name: 'http://user:VALUE@proxy/', type: ethernet}]",
        "interfaces: [{name: eth0, type: ethernet, description: 'https://h/?a=b&token=VALUE', mtu: many}]",
        "interfaces: [{name: eth0, type: ethernet, description: 'Authorization: Bearer VALUE', mtu: many}]",
        "interfaces: [{name: eth0, type: ethernet, description: 'Environment=TOKEN=VALUE', mtu: many}]",
        "interfaces:\n- name: eth0\n  description: |\n    -----BEGIN PRIVATE KEY-----\n    VALUE\n    -----END PRIVATE KEY-----\n  mtu: many",
        "dns-resolver: {config: {server: [192.0.2.1], search: ['user:VALUE@example.com']}}",
        "dns-resolver: {config: {server: ['user:VALUE@192.0.2.1'], search: ['user:VALUE@example.com', 1: 2]}}",
        "interfaces: [{name: eth0, type: ethernet, mtu: many}] # old password was VALUE",
        "interfaces: [{name: eth0, type: ethernet, mtu: many}] # psk VALUE",
        "interfaces: [{name: eth0, type: ethernet, mtu: many}] # the API key VALUE of the switch",
        "{\"auths\": {\"quay.io\": {\"auth\": \"VALUE\", \"email\": \"a@b\"}}, \"interfaces\": [{\"name\": 1,, }]}",
        install,
        config,
    ];
    let others = others.map(|text| format!("{text}\n"));
    sections.flat_map(of_section).chain(of_others).chain(others).collect()
}

#[tests::case]
fn no_finding_shows_a_secret_that_stands_where_nobody_expects_one() {
    let place = tempfile::tempdir().unwrap();
    let at = place.path();
    fs::write(at.join("none.yml"), "interfaces:\n- {name: eth0, type: ethernet}\n").unwrap();
    let commands: [&[&str]; 12] = [
        &["check", "a.yml"],
        &["check", "--format", "json", "a.yml"],
        &["check", "--format", "sarif", "a.yml"],
        &["check", "--format", "github", "a.yml"],
        &["diff", "none.yml", "a.yml"],
        &["diff", "--format", "json", "none.yml", "a.yml"],
        &["show", "a.yml"],
        &["show", "--format", "json", "a.yml"],
        &["show", "--format", "svg", "a.yml"],
        &["gc", "a.yml"],
        &["nmstatectl", "validate", "a.yml"],
        &["dayone", "check", "--document", "a.yml"],
    ];
    let mut faults = Vec::new();
    for document in unexpected() {
        fs::write(at.join("a.yml"), document.replace("VALUE", MARKERS[0])).unwrap();
        for command in commands {
            let said = said(at, command);
            // What is made of a document has its secrets.
            let output = if command[0] == "gc" { &[][..] } else { &said.output[..] };
            for shown in [output, &said.messages] {
                let found = trace(shown, MARKERS[0]);
                faults.extend(found.map(|line| format!("{command:?}\n{document}{line}\n")));
            }
        }
    }
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}

/// Files of a node, and what each may have of a secret.
const OF_A_NODE: &[(&str, &str)] = &[
    (
        "etc/nmstate/openshift/worker-0.yml",
        "# psk VALUE\n# old password was VALUE\n# token: VALUE\n# the private key VALUE\ninterfaces: []\novs-db:\n  external_ids: \
         {secret: VALUE, token: VALUE, api-key: VALUE, \"auth-token\": \"VALUE\", private_key: VALUE}\n",
    ),
    (
        "etc/nmstate/openshift/one-line.yml",
        "{\"interfaces\": [{\"name\": \"a\", \"apiKey\": \"VALUE\"}], \"token\": {\"a\": \"VALUE\"}}",
    ),
    (
        "etc/nmstate/openshift/search.yml",
        "dns-resolver: {config: {search: ['user:VALUE@example.com']}}\n",
    ),
    (
        "etc/systemd/system/dayone.service.d/a.conf",
        "[Service]\nEnvironment=TOKEN=VALUE\nEnvironment=\"API_KEY=VALUE b\" \"A=b\"\nSetCredential=a:VALUE \\\n  VALUE\n\
         SetCredentialEncrypted=b: VALUE\nExecStart=curl -H 'Authorization: Bearer VALUE' https://h/?sig=VALUE\n",
    ),
    (
        "etc/dayone/dayone.toml",
        "# api key VALUE\napi_key = \"VALUE\"\n[probe]\nclient-secret = 'VALUE'\n",
    ),
    (
        "etc/NetworkManager/system-connections/a.nmconnection",
        "[connection]\nid=a\n[802-1x]\npassword=VALUE\npassword-raw=VALUE\npin=VALUE\nprivate-key=data:;base64,VALUE\n\
         phase2-private-key-password=VALUE\n[wireguard]\nprivate-key=/VALUE\n[wireguard-peer.x]\npreshared-key=VALUE\n[macsec]\n\
         mka-cak=VALUE\n[vpn]\nIPSec secret=VALUE\n[vpn-secrets]\nany=VALUE\n[user]\norg.a.token=VALUE\nKEY1=s:VALUE\n; psk = VALUE\n",
    ),
    (
        "etc/NetworkManager/conf.d/a.conf",
        "[connectivity]\nuri=http://user:VALUE@h/\n#token=VALUE\n",
    ),
    ("proc/cmdline", "a systemd.set_credential=b:VALUE root=live:https://h/?token=VALUE c\n"),
    (
        "etc/dayone/pull.yml",
        "pullSecret: '{\"auths\":{\"quay.io\":{\"auth\":\"VALUE\"}}}'\nauths: {quay.io: {auth: VALUE}}\n",
    ),
];

#[tests::case]
fn a_collected_node_has_no_secret_in_any_form() {
    let place = tempfile::tempdir().unwrap();
    for (path, text) in OF_A_NODE {
        let path = place.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text.replace("VALUE", MARKERS[0])).unwrap();
    }
    fs::write(place.path().join("etc/hostname"), "worker-0\n").unwrap();
    let root = place.path().display().to_string();
    let collected = agent(place.path(), &["--root", &root, "collect"]).exits(0);
    let node = collected.json();
    let files = node["files"].as_array().unwrap();
    for (path, _) in OF_A_NODE {
        let file = files.iter().find(|file| file["path"].as_str() == Some(&format!("/{path}")));
        let text = file.and_then(|file| file["text"].as_str()).unwrap();
        assert_eq!(trace(text.as_bytes(), MARKERS[0]), None, "{path}: {text}");
        assert!(text.contains("<hidden>"), "{path}: {text}");
    }
    assert_eq!(trace(&collected.stdout, MARKERS[0]), None);
}
