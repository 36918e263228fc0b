//! `dayone plan` on a node without a document, before configure-ovs.sh has made br-ex and beside it.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use tests::{
    dayone::{DAY_ONE, MAC, day_one_dhcp, ovs_rows, picture, replays, settle},
    lab::{Inside, Nic, Node, Peer, Result},
    program,
};

const SCRIPT: &str = "/usr/local/bin/configure-ovs.sh";
/// The container's host may have no openvswitch.
const SETTINGS: &str = "[bridge]\ndatapath-type = \"netdev\"\n";

/// Profiles by id; sections of properties.
type Profiles = BTreeMap<String, Value>;

fn node(profile: &str) -> Node {
    Node::new("worker-0")
        .nic(Nic::new("eno1", MAC))
        .keyfile("eno1", profile)
        .bind(program::dayone(), "/usr/bin/dayone")
        .copy(program::configure_ovs(), SCRIPT)
        .settings(SETTINGS)
}

/// Everything that a plan must leave as it is.
fn everything(inside: &Inside) -> Result<String> {
    let settings = live(inside)?;
    let files = inside.sh(
        "for path in $(find /etc /run/dayone /var/lib/dayone /var/lib/ovnk /run/configure-ovs-boot-done \
           -type f 2>/dev/null | sort); do stat -c '%n %a %Y' $path; sha256sum <$path; done",
    )?;
    let bridges = match inside.sh("ovs-vsctl list-br")?.is_empty() {
        true => String::new(),
        false => ovs_rows(inside)?,
    };
    // Raised at each change of the database.
    let changes = inside.sh("ovs-vsctl get Open_vSwitch . next_cfg external_ids")?;
    Ok(format!("{}\n{bridges}\n{changes}\n{files}\n{settings:#?}", picture(inside)?))
}

/// The profiles of NetworkManager, with their settings.
fn live(inside: &Inside) -> Result<Profiles> {
    let settings = "org.freedesktop.NetworkManager.Settings";
    let text = inside.sh(&format!(
        "for path in $(busctl --json=short call org.freedesktop.NetworkManager /org/freedesktop/NetworkManager/Settings \
           {settings} ListConnections | grep -o '/org/freedesktop/NetworkManager/Settings/[0-9]*'); do \
           busctl --json=short call org.freedesktop.NetworkManager $path {settings}.Connection GetSettings; \
         done"
    ))?;
    let mut profiles = Profiles::new();
    for line in text.lines() {
        let profile: Value = serde_json::from_str(line).expect("busctl prints JSON");
        let profile = profile["data"][0].clone();
        // NetworkManager's own profile of the bridge's tun device is called br-ex too.
        if profile["connection"]["type"]["data"] != "tun" {
            profiles.insert(
                profile["connection"]["id"]["data"].as_str().expect("an id").to_owned(),
                profile,
            );
        }
    }
    Ok(profiles)
}

/// The profiles of the plan.
fn planned(plan: &str) -> Profiles {
    let plan: Value = serde_json::from_str(plan).expect("the plan is JSON");
    let profiles = plan["plan"]["profiles"].as_array().expect("profiles").iter();
    let entry = |profile: &Value| {
        (profile["id"].as_str().expect("an id").to_owned(), profile["settings"].clone())
    };
    profiles.map(entry).collect()
}

/// Properties that differ on purpose, or that NetworkManager adds: identity, times, older spellings, and defaults that it
/// reports all the same.
const NOT_COMPARED: [&str; 9] = [
    "uuid",
    "timestamp",
    "permissions",
    "addresses",
    "routes",
    "dns",
    "cloned-mac-address",
    "auto-negotiate",
    "s390-options",
];

/// `section.property: value`, with the id of a controller in place of its UUID.
fn properties(profiles: &Profiles, id: &str) -> Vec<String> {
    let id_of = |uuid: &Value| {
        let is_it =
            |(_, settings): &(&String, &Value)| settings["connection"]["uuid"]["data"] == *uuid;
        profiles.iter().find(is_it).map(|(id, _)| id.clone())
    };
    let empty = Map::new();
    let mut found = Vec::new();
    for (section, properties) in profiles[id].as_object().unwrap_or(&empty) {
        for (property, value) in properties.as_object().unwrap_or(&empty) {
            let value = &value["data"];
            let is_empty = value.as_array().is_some_and(Vec::is_empty);
            if is_empty || NOT_COMPARED.contains(&property.as_str()) {
                continue;
            }
            let shown = match property.as_str() {
                "master" => id_of(value).unwrap_or_else(|| value.to_string()),
                _ => value.to_string(),
            };
            found.push(format!("{section}.{property}: {}", shown.trim_matches('"')));
        }
    }
    found.sort();
    found
}

fn case(profile: &str, peer: &Peer, addresses: &str) -> Result<()> {
    node(profile).run(peer, |case| {
        let inside = case.boot()?;
        settle(&inside)?;
        let before = everything(&inside)?;
        let shown = inside.sh("dayone plan")?;
        let plan = planned(&inside.sh("dayone plan --json")?);
        assert_eq!(everything(&inside)?, before);
        assert!(shown.starts_with("# br-ex on eno1: it has the first default route, via 192.0.2.1\n"), "{shown}");
        assert!(shown.contains("├─ eno1  ethernet  52:54:00:00:00:01  MTU 1500\n"), "{shown}");
        assert!(shown.contains(addresses), "{shown}");

        // The plan's profiles are configure-ovs.sh's, property by property.
        inside.sh(&format!("LAB_CARRIES_DNS_AND_LLDP=1 RETRY= {SCRIPT} >/tmp/configure-ovs.log 2>&1"))?;
        let made = live(&inside)?;
        for id in plan.keys() {
            assert!(made.contains_key(id), "configure-ovs.sh has not made {id}");
            assert_eq!(properties(&plan, id), properties(&made, id), "{id}");
        }

        // Beside them the plan is the next boot's.
        let before = everything(&inside)?;
        let beside = inside.sh("dayone plan")?;
        assert_eq!(planned(&inside.sh("dayone plan --json")?), plan);
        replays(&inside)?;
        assert_eq!(everything(&inside)?, before);
        let reason = "# br-ex on eno1: br-ex has the first default route, via 192.0.2.1, and eno1 is the uplink in ovs-if-phys0\n";
        assert!(beside.starts_with(reason), "{beside}");
        let yaml = |text: &str| {
            text.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join("\n")
        };
        assert_eq!(yaml(&beside), yaml(&shown));

        // Bad input has its own exit code, and names the remedy.
        inside.sh("mkdir -p /etc/ovnk; : >/etc/ovnk/default_bridge")?;
        let refused = inside.run(&["dayone", "plan"])?.exits(2);
        let message = &refused.stderr;
        assert!(message.contains("write the name of the uplink into it, or remove it"), "{message}");
        Ok(())
    })
}

#[tests::case]
fn a_static_address() -> Result<()> {
    case(DAY_ONE, &Peer::new(), "      - ip: 192.0.2.10\n".trim_start())
}

#[tests::case]
fn dhcp() -> Result<()> {
    case(
        &day_one_dhcp(),
        &Peer::new().dhcp(),
        "    dhcp: true\n    dhcp-client-id: ll\n    auto-route-metric: 48\n",
    )
}
