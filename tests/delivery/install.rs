//! A MachineConfig takes the agent out of a container image (`nmgen generate --to machine-config --install`).

use std::{fs, path::Path};

use tests::{
    dayone::{
        Document, MAC, SHORT_WAIT, booted_without_image, br_ex_works, finished,
        installing_machine_config, machine_config_goes, outcome,
    },
    lab::{Error, Lab, Nic, Node, Peer, Release},
};

use crate::{
    boots_with_br_ex,
    image::{INSECURE, Image},
};

fn node(release: Release, tree: &Path) -> Node {
    Node::new("worker-0")
        .nic(Nic::new("eno1", MAC))
        .podman()
        .field(release)
        .ovn_remains()
        .installed(tree, "/etc/systemd/system", &[])
        .file(INSECURE.0, INSECURE.1, 0o644)
        .day_one()
}

/// From a registry over the day-one network; later boots need none; after the MachineConfig nothing is left.
#[tests::case]
fn first_boot_has_br_ex_by_the_document() -> Result<(), Error> {
    let lab = Lab::open()?;
    let image = Image::build()?;
    let (tree, paths) = installing_machine_config(&image.name(), &Document::new().text());
    lab.run(node(Release::V5_1, tree.path()), &Peer::new(), |case| {
        let registry = image.serve(case.peer())?;
        let mut registry = Some(registry);
        for boot in 0..2 {
            let inside = boots_with_br_ex(case, boot, "")?;
            let installer = inside.unit("dayone-install.service")?;
            assert_eq!(installer.exec_start.is_some(), boot == 0, "{installer:?}");
            if boot == 0 {
                let times = "ExecMainStartTimestampMonotonic,ExecMainExitTimestampMonotonic";
                let times = inside.sh(&format!(
                    "systemctl show --value --property={times} dayone-install.service"
                ))?;
                let times: Vec<u64> = times.split_whitespace().flat_map(str::parse).collect();
                println!("dayone-install.service: {} ms", times[1].abs_diff(times[0]) / 1000);
                // Neither image nor container stays.
                assert_eq!(inside.sh("podman images --quiet; podman ps --all --quiet")?, "");
            }
            registry = None;
        }
        drop(registry);
        machine_config_goes(case, &paths)
    })
}

/// A registry that is away: the node boots as without the agent, and asks again at the next boot, which finds the registry.
#[tests::case]
fn registry_that_is_away_costs_the_bound_alone() -> Result<(), Error> {
    let lab = Lab::open()?;
    let image = Image::build()?;
    let (tree, _) = installing_machine_config(&image.name(), &Document::new().text());
    // With a document the operator's own unit would apply it.
    let document = tree.path().join("etc/nmstate/openshift/worker-0.yml");
    let text = fs::read_to_string(&document).expect("a document");
    fs::remove_file(document).expect("a document");
    let node = node(Release::V4_20, tree.path());
    lab.run(node.file(SHORT_WAIT.0, SHORT_WAIT.1, 0o644), &Peer::new(), |case| {
        case.boot()?;
        let inside = booted_without_image(case)?;
        inside.sh(&format!("rm {}", SHORT_WAIT.0))?;
        inside.write("/etc/nmstate/openshift/worker-0.yml", &text)?;
        let _registry = image.serve(case.peer())?;
        let inside = case.reboot()?;
        finished(&inside)?;
        outcome(&inside, None)?.exits(0);
        br_ex_works(case)
    })
}
