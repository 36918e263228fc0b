//! The choice on trees of files.

use std::{fs, path::Path, time::Duration};

use super::{Chosen, choose};
use crate::{
    document::{InForce, digest::Digest, read::DocumentError},
    paths::Paths,
};

type Tested = Result<(), Box<dyn std::error::Error>>;

/// Host name, host files, the chosen one and the reason.
type Case<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a str, &'a str);

const DOCUMENT: &str = "interfaces: [{name: eno1}]\n";
const OTHER: &str = "interfaces: [{name: eno2}]\n";

/// A node with this host name, and host files with their text.
fn node(
    host_name: &str,
    files: &[(&str, &str)],
) -> Result<(tempfile::TempDir, Paths), std::io::Error> {
    let root = tempfile::tempdir()?;
    let paths = Paths::new(root.path());
    fs::create_dir_all(paths.documents())?;
    fs::write(paths.under("/etc/hostname"), host_name)?;
    for (name, text) in files {
        fs::write(paths.documents().join(name), text)?;
    }
    Ok((root, paths))
}

async fn chosen(paths: &Paths) -> Result<Chosen, DocumentError> {
    chosen_with(paths, None).await
}

async fn chosen_with(paths: &Paths, in_force: Option<&InForce>) -> Result<Chosen, DocumentError> {
    choose(paths, in_force, Duration::ZERO, || unreachable!("nothing is worth the wait")).await
}

#[tokio::test]
async fn a_host_file_goes_before_the_clusters_and_the_reason_says_why() -> Tested {
    let (short, full) = ("worker-0.yml", "worker-0.example.com.yml");
    let cases: [Case<'_>; 5] = [
        (
            "worker-0.example.com",
            &[(short, DOCUMENT), ("cluster.yml", DOCUMENT)],
            short,
            "host file for short hostname worker-0",
        ),
        (
            "worker-0.example.com",
            &[(full, DOCUMENT), ("cluster.yml", DOCUMENT)],
            full,
            "host file for hostname worker-0.example.com",
        ),
        (
            "worker-0",
            &[("cluster.yml", DOCUMENT)],
            "cluster.yml",
            "cluster.yml, since no host file matches this node",
        ),
        (
            "worker-0",
            &[(short, " \n"), ("cluster.yml", DOCUMENT)],
            "cluster.yml",
            "cluster.yml, since no host file matches this node",
        ),
        // Without host files there is nothing that a later host name could choose.
        (
            "localhost",
            &[("cluster.yml", DOCUMENT)],
            "cluster.yml",
            "cluster.yml, since no host file matches this node",
        ),
    ];
    for (host_name, files, name, reason) in cases {
        let (_root, paths) = node(host_name, files)?;
        let found = chosen(&paths).await?;
        let document = found.document.ok_or("no document")?;
        assert_eq!(
            (document.path.as_path(), document.text.as_str()),
            (&*paths.documents().join(name), DOCUMENT)
        );
        assert_eq!((found.reason.as_str(), found.hostname.as_str()), (reason, host_name));
        assert!(found.unmatched.is_none());
    }
    Ok(())
}

#[tokio::test]
async fn only_host_files_of_others_leave_a_node_unmatched() -> Tested {
    let (_root, paths) = node("worker-0", &[("worker-1.yml", DOCUMENT)])?;
    let found = chosen(&paths).await?;
    assert!(found.document.is_none() && found.unmatched.is_some());
    assert_eq!((found.reason.as_str(), found.warnings.len()), ("no document for this node", 1));
    let (_root, paths) = node("worker-0", &[("worker-1.txt", DOCUMENT)])?;
    fs::create_dir(paths.documents().join("worker-0.yml"))?;
    let found = chosen(&paths).await?;
    assert!(found.document.is_none() && found.unmatched.is_none());
    Ok(())
}

#[tokio::test]
async fn a_missing_directory_has_no_documents_and_an_unreadable_one_is_an_error() -> Tested {
    let (_root, paths) = node("worker-0", &[])?;
    fs::remove_dir(paths.documents())?;
    assert!(chosen(&paths).await?.document.is_none());
    fs::write(paths.documents(), "")?;
    assert!(matches!(chosen(&paths).await, Err(DocumentError::Path(_))));
    Ok(())
}

/// This file with the text [`DOCUMENT`] is in force.
fn in_force(file: &str) -> InForce {
    let source = Path::new("/etc/nmstate/openshift").join(file);
    InForce { source, digest: Digest::of(DOCUMENT.as_bytes()) }
}

#[tokio::test]
async fn a_host_file_in_force_outlasts_a_boot_under_another_name_or_none() -> Tested {
    let files = [("worker-0.yml", DOCUMENT), ("worker-1.yml", OTHER), ("cluster.yml", OTHER)];
    for (name, told) in [
        ("host-192-0-2-10", "this node is named host-192-0-2-10 in this boot"),
        ("localhost", "this node is without a name in this boot"),
        ("worker-1", "this node is named worker-1 in this boot"),
    ] {
        for without_cluster in [false, true] {
            let (_root, paths) = node(name, &files[..if without_cluster { 2 } else { 3 }])?;
            let found = chosen_with(&paths, Some(&in_force("worker-0.yml"))).await?;
            let document = found.document.ok_or("no document")?;
            assert_eq!(document.path, paths.documents().join("worker-0.yml"), "{name}");
            assert_eq!(found.reason, "the host file in force, whatever this node's name is");
            let warning = found.warnings.concat();
            assert!(warning.contains(told), "{warning}");
            assert!(warning.contains("worker-0.yml is in force and stays"), "{warning}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_host_file_in_force_gives_way_to_a_change_that_is_meant() -> Tested {
    // The committed file, the host name, the changed file and the one that is chosen then.
    for (committed, name, (changed, text), expected) in [
        // The right name: any other file by the usual order.
        ("worker-0.yml", "worker-0", ("worker-0.yml", OTHER), Some("worker-0.yml")),
        ("cluster.yml", "worker-0", ("worker-0.yml", OTHER), Some("worker-0.yml")),
        ("52-54-00-00-00-01.yml", "worker-0", ("worker-0.yml", OTHER), Some("worker-0.yml")),
        ("worker-0.yml", "worker-0", ("worker-0.yml", ""), None),
        // Another name: new bytes of the file are this machine's, unless the name has a file of its own.
        ("worker-0.yml", "unknown", ("worker-0.yml", OTHER), Some("worker-0.yml")),
        ("worker-0.yml", "worker-1", ("worker-0.yml", OTHER), Some("worker-1.yml")),
        ("worker-0.yml", "unknown", ("worker-0.yml", " "), None),
    ] {
        let (_root, paths) = machine(name, &[("worker-1.yml", DOCUMENT), (committed, DOCUMENT)])?;
        fs::write(paths.documents().join(changed), text)?;
        let found = chosen_with(&paths, Some(&in_force(committed)))
            .await?
            .document
            .map(|document| document.path);
        let expected = expected.map(|file| paths.documents().join(file));
        assert_eq!(found, expected, "{committed} {name} {changed}");
    }
    // A document from elsewhere, as one of `dayone rollback` in a tree, is none of the node's.
    let (_root, paths) = node("unknown", &[("worker-0.yml", DOCUMENT)])?;
    let elsewhere = InForce { source: "/root/worker-0.yml".into(), ..in_force("worker-0.yml") };
    assert!(chosen_with(&paths, Some(&elsewhere)).await?.document.is_none());
    Ok(())
}

/// A machine with two cards, `lo`, a bridge and a serial number.
fn machine(
    host_name: &str,
    files: &[(&str, &str)],
) -> Result<(tempfile::TempDir, Paths), std::io::Error> {
    let (root, paths) = node(host_name, files)?;
    for (name, address, is_device) in [
        ("eno2", "52:54:00:00:00:02", true),
        ("eno1", "52:54:00:00:00:01", true),
        ("ib0", "00:00:00:00:00:00", true),
        ("lo", "52:54:00:00:00:03", true),
        ("br0", "52:54:00:00:00:04", false),
    ] {
        let link = paths.sys_net().join(name);
        fs::create_dir_all(if is_device { link.join("device") } else { link.clone() })?;
        fs::write(link.join("address"), format!("{address}\n"))?;
    }
    fs::create_dir_all(paths.dmi(""))?;
    fs::write(paths.dmi("product_serial"), "CZ3D1X0GBV\n")?;
    Ok((root, paths))
}

#[tokio::test]
async fn a_machine_without_a_name_is_known_by_its_hardware() -> Tested {
    for (file, reason) in [
        ("52-54-00-00-00-01.yml", "host file for MAC address 52-54-00-00-00-01"),
        ("52-54-00-00-00-02.yml", "host file for MAC address 52-54-00-00-00-02"),
        ("CZ3D1X0GBV.yml", "host file for DMI serial or UUID CZ3D1X0GBV"),
    ] {
        let (_root, paths) = machine("localhost", &[(file, DOCUMENT), ("cluster.yml", DOCUMENT)])?;
        // Decided: nothing is worth the wait for a name.
        assert_eq!(chosen(&paths).await?.reason, reason);
    }
    // Neither `lo` nor a link without a device is the machine's hardware.
    for file in ["52-54-00-00-00-03.yml", "52-54-00-00-00-04.yml"] {
        let (_root, paths) = machine("worker-0", &[(file, DOCUMENT)])?;
        let found = chosen(&paths).await?;
        assert!(found.document.is_none(), "{file}");
        let warning = found.warnings.concat();
        let names = "worker-0.yml, 52-54-00-00-00-01.yml, 52-54-00-00-00-02.yml, CZ3D1X0GBV.yml";
        assert!(warning.contains(&format!("it looks for {names}")), "{warning}");
        assert!(warning.ends_with(&format!("there are {file}")), "{warning}");
    }
    Ok(())
}
