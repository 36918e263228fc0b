//! A node whose operating system has no agent: a MachineConfig brings its units and takes the program out of a container image.

use std::{fs, path::Path};

use tests::{
    dayone::{
        Document, SHORT_WAIT, booted_without_image, br_ex_works, finished,
        installing_machine_config, machine_config_goes, outcome,
    },
    lab::{Error, Lab, Node, Peer, Release},
    program,
};

use super::{graph, node, peers::made_by_configure_ovs};

const IMAGE: &str = "registry.lab.test/dayone@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
/// The registry is away, and nothing else.
const AWAY: &str = "/etc/lab-registry-away";
/// Begins as the agent's programs do.
const SOMEBODYS: &str = "/usr/local/bin/dayone-exporter";
const OWN: &str = "/usr/local/bin/dayone-0123456789ab";

/// Stands in for podman and the image: the peer's API takes the place of the registry, unless this one alone is away.
const PODMAN: &str = r#"#!/bin/sh
set -eu
case $1 in
pull) [ ! -e /etc/lab-registry-away ] && exec /usr/local/bin/lab-reaches-registry ;;
create) echo lab ;;
cp) cp /usr/lib/lab-image/dayone "$3" ;;
rm | rmi) ;;
esac
"#;

fn with(node: Node, tree: &Path) -> Node {
    node.installed(tree, "/etc/systemd/system", &[])
        .bind(program::dayone(), "/usr/lib/lab-image/dayone")
        .file("/usr/bin/podman", PODMAN, 0o755)
        .day_one()
}

/// The first boot takes the program over the day-one network, and ends with the document's br-ex; the next one needs no registry;
/// after the MachineConfig nothing is left.
#[tests::case]
fn from_a_container_image_at_the_first_boot() -> Result<(), Error> {
    let lab = Lab::open()?;
    let (tree, paths) = installing_machine_config(IMAGE, &Document::new().text());
    let node = with(node(Release::V5_1), tree.path()).file(SOMEBODYS, "", 0o755);
    lab.run(node, &Peer::new(), |case| {
        for boot in 0..2 {
            if boot > 0 {
                case.reboot()?;
            } else {
                case.boot()?;
            }
            let inside = case.inside()?;
            finished(&inside)?;
            outcome(&inside, None)?.exits(0);
            br_ex_works(case)?;
            assert_eq!(graph::complaints(&inside)?, Vec::<String>::new());
            let installer = inside.unit("dayone-install.service")?;
            assert_eq!(installer.exec_start.is_some(), boot == 0, "{installer:?}");
            inside.sh(&format!("[ /usr/local/bin/dayone -ef {OWN} ]"))?;
            inside.write(AWAY, "")?;
        }
        // It is there still.
        case.inside()?.sh(&format!("rm {SOMEBODYS}"))?;
        machine_config_goes(case, &paths)
    })
}

/// Without the registry the node boots as without the agent, and asks again at the next boot.
#[tests::case]
fn without_the_registry_configure_ovs_makes_br_ex() -> Result<(), Error> {
    let lab = Lab::open()?;
    let (tree, _) = installing_machine_config(IMAGE, &Document::new().text());
    // With a document the operator's own unit would apply it.
    fs::remove_file(tree.path().join("etc/nmstate/openshift/worker-0.yml")).expect("a document");
    let node = with(node(Release::V4_20), tree.path()).file(AWAY, "", 0o644);
    lab.run(node.file(SHORT_WAIT.0, SHORT_WAIT.1, 0o644), &Peer::new(), |case| {
        case.boot()?;
        made_by_configure_ovs(&booted_without_image(case)?)
    })
}
