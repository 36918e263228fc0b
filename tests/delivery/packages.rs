//! Packages on a node whose network is in force: dpkg's, then rpm's with a database of its own. No upgrade, downgrade or removal
//! costs the network a moment, or undoes what an administrator disabled.
//!
//! `OLDER_PACKAGES=DIR` has those of 0.2.0, `dayone.deb` and `dayone.rpm`; without it they are today's under that version.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use tests::{
    dayone::{ADDRESS, ATTEMPT, Document, HOST_FILE, MAC, SOON, br_ex_works, mark, outcome},
    lab::{Case, Error, Fault, Inside, Lab, Nic, Node, Peer},
    packages,
    program::Exits as _,
    tree::Built,
};

/// Where the node has the packages: for each manager the older one and today's.
const PLACE: &str = "/var/lib/lab-packages";

/// The commands of a package manager.
struct Manager {
    install: &'static str,
    remove: &'static str,
    suffix: &'static str,
}

const MANAGERS: [Manager; 2] = [
    Manager {
        install: "dpkg --force-depends --force-downgrade --install",
        remove: "dpkg --remove dayone",
        suffix: "deb",
    },
    Manager {
        install: "rpm --upgrade --nodeps --oldpackage --replacefiles",
        remove: "rpm --erase --nodeps dayone",
        suffix: "rpm",
    },
];

/// A directory with the packages.
fn packages() -> std::io::Result<tempfile::TempDir> {
    let place = tempfile::tempdir()?;
    let at = |name: &str| place.path().join(name);
    let built = Built::programs()?;
    let debian = packages::debian(&built, &at("deb"))?;
    let rpms = packages::rpms(None, &built, &at("rpm"))?;
    let is_agent = |path: &&PathBuf| path.to_string_lossy().contains("/dayone-");
    let rpm = rpms.iter().find(is_agent).ok_or_else(|| std::io::Error::other("no RPM"))?;
    let older = match std::env::var_os("OLDER_PACKAGES").map(PathBuf::from) {
        Some(older) => [older.join("dayone.deb"), older.join("dayone.rpm")],
        None => [
            packages::debian_of_version(&debian["dayone"], "0.2.0")?,
            packages::rpm_of_version("0.2.0", &built, place.path())?,
        ],
    };
    let kept = tempfile::tempdir()?;
    let [older_deb, older_rpm] = older;
    for (from, name) in [
        (&older_deb, "older.deb"),
        (&debian["dayone"], "today.deb"),
        (&older_rpm, "older.rpm"),
        (rpm, "today.rpm"),
    ] {
        fs::copy(from, kept.path().join(name))?;
    }
    Ok(kept)
}

fn node(packages: &Path) -> Node {
    Node::new("worker-0")
        .nic(Nic::new("eno1", MAC))
        .podman()
        .kubelet()
        .bind(packages, PLACE)
        .file("/usr/lib/systemd/systemd-update-helper", packages::UPDATE_HELPER, 0o755)
        .day_one()
}

/// What must go on while packages change.
#[derive(Debug, PartialEq)]
struct Going {
    services: String,
    disabled: String,
}

fn going(inside: &Inside) -> Result<Going, Error> {
    let services = "NetworkManager.service kubelet.service ovs-vswitchd.service";
    Ok(Going {
        services: inside
            .sh(&format!("systemctl show --property=Id,ActiveState,InvocationID {services}"))?,
        disabled: inside.sh("systemctl is-enabled dayone-pending.path || true")?,
    })
}

/// Pings the node five times a second until it is asked how many packets were lost.
struct Ping(Child);

impl Ping {
    fn start(case: &Case<'_>) -> Self {
        let mut ping = case.peer().command("ping");
        ping.args(["-n", "-q", "-i0.2", &ADDRESS.to_string()]).stdout(Stdio::piped());
        Self(ping.spawn().expect("ping"))
    }

    /// Returns the line with the loss.
    fn end(self) -> String {
        let stopped = Command::new("kill").args(["-INT", &self.0.id().to_string()]).status();
        assert!(stopped.is_ok_and(|status| status.success()));
        let said = self.0.wait_with_output().expect("what ping says");
        let said = said.out();
        said.lines().find(|line| line.contains("packet loss")).unwrap_or_default().to_owned()
    }
}

#[tests::case]
fn packages_change_beside_a_network_in_force() -> Result<(), Error> {
    let lab = Lab::open()?;
    let packages = packages().expect("packages");
    lab.run(node(packages.path()), &Peer::new(), |case| {
        case.boot()?;
        for (turn, manager) in MANAGERS.iter().enumerate() {
            let inside = case.inside()?;
            let install = |inside: &Inside, which: &str| {
                let Manager { install, suffix, .. } = manager;
                let said = inside.sh(&format!("{install} {PLACE}/{which}.{suffix} 2>&1"))?;
                // rpm ignores the failure of a script.
                assert!(!said.contains("scriptlet failed"), "{said}");
                Ok::<_, Error>(())
            };
            // No unit starts by itself: the next boot has the agent.
            let before = inside.unit("dayone.service")?.active_state;
            install(&inside, "older")?;
            assert_eq!(inside.unit("dayone.service")?.active_state, before);
            inside.write(HOST_FILE, &document(turn))?;
            let inside = case.reboot()?;
            inside.wait_unit("kubelet.service", "active", ATTEMPT)?;
            outcome(&inside, None)?.exits(0);
            br_ex_works(case)?;

            inside.sh("systemctl disable dayone-pending.path")?;
            let before = going(&inside)?;
            assert!(before.disabled.starts_with("disabled"), "{before:?}");
            let ping = Ping::start(case);
            for which in ["today", "older", "today"] {
                install(&inside, which)?;
                assert_eq!(going(&inside)?, before, "{which}");
                let status = inside.run(&["dayone", "status"])?;
                assert!(status.stdout.starts_with("IN FORCE: "), "{which}: {status}");
            }
            let lost = ping.end();
            assert!(lost.contains(" 0% packet loss"), "{lost}");

            in_the_middle_of_a_transaction(case, |which| install(&inside, which), turn)?;

            let ping = Ping::start(case);
            inside.sh(manager.remove)?;
            assert_eq!(inside.unit("kubelet.service")?.active_state, "active");
            let links = inside.sh("ls /etc/systemd/system/*/dayone* 2>/dev/null || true")?;
            assert_eq!(links, "");
            let lost = ping.end();
            assert!(lost.contains(" 0% packet loss"), "{lost}");
        }
        Ok(())
    })
}

/// The document of a turn, which has one virtual cable more than that of the one before.
fn document(turn: usize) -> String {
    let cable = |number| {
        format!("- name: lab{number}\n  type: veth\n  state: up\n  veth:\n    peer: labp{number}\n")
    };
    let more: String = (0..turn).map(cable).collect();
    Document::new().text().replacen("interfaces:\n", &format!("interfaces:\n{more}"), 1)
}

/// The package changes twice while the new network is probed, and the transaction ends as if it had not.
fn in_the_middle_of_a_transaction(
    case: &mut Case<'_>,
    install: impl Fn(&str) -> Result<(), Error>,
    turn: usize,
) -> Result<(), Error> {
    let inside = case.inside()?;
    let silent = [Fault::IgnoreNeighbours, Fault::DropPing];
    for fault in silent {
        case.peer_mut().fault(fault, true)?;
    }
    inside.sh("ip neigh flush all")?;
    inside.write(HOST_FILE, &document(turn + 1))?;
    let start = mark(&inside)?;
    inside.sh("systemctl restart --no-block dayone.service")?;
    inside.wait_journal(&start.entries(), ATTEMPT, |entry| {
        entry.message().starts_with("opening the journal")
    })?;
    install("older")?;
    install("today")?;
    for fault in silent {
        case.peer_mut().fault(fault, false)?;
    }
    outcome(&inside, Some(&start))?.exits(0);
    inside.wait_sh(&format!("ip link show dev lab{turn}"), SOON)?;
    br_ex_works(case)
}
