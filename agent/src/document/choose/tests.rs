//! The choice on trees of files.

use std::{fs, time::Duration};

use super::{Chosen, choose};
use crate::{document::read::DocumentError, paths::Paths};

type Tested = Result<(), Box<dyn std::error::Error>>;

/// Host name, host files, the chosen one and the reason.
type Case<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a str, &'a str);

const DOCUMENT: &str = "interfaces: [{name: eno1}]\n";

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
    choose(paths, Duration::ZERO, || unreachable!("nothing is worth the wait")).await
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
    assert!(matches!(chosen(&paths).await, Err(DocumentError::List { .. })));
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
