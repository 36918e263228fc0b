use std::{
    fs,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _},
};

use super::{restore, save};
use crate::{
    durable::{label, protected::DocumentNames},
    paths::Paths,
};

type Tested = Result<(), Box<dyn std::error::Error>>;

/// A node with profiles, and the directory for copies.
fn node() -> Result<(tempfile::TempDir, Paths, std::path::PathBuf), std::io::Error> {
    let root = tempfile::tempdir()?;
    let paths = Paths::new(root.path());
    let dir = paths.under("/etc/NetworkManager/system-connections");
    fs::create_dir_all(&dir)?;
    fs::create_dir_all(paths.state_dir())?;
    fs::write(dir.join("a.nmconnection"), "a")?;
    fs::write(dir.join("b.nmconnection"), "b")?;
    let copies = paths.state_dir().join("copies");
    Ok((root, paths, copies))
}

fn scope(hostname: bool) -> DocumentNames {
    DocumentNames::new(&["interfaces:\n- name: eno1\n- name: br-ex\n"], hostname)
}

#[test]
fn edited_deleted_and_new_profiles_are_undone() -> Tested {
    let (_root, paths, copies) = node()?;
    let dir = paths.under("/etc/NetworkManager/system-connections");
    std::os::unix::fs::symlink("/dev/null", dir.join("masked"))?;
    save(&paths, &copies, &scope(true))?;
    assert!(restore(&paths, &copies, true)?.is_empty());

    fs::write(dir.join("a.nmconnection"), "edited")?;
    fs::remove_file(dir.join("b.nmconnection"))?;
    fs::write(dir.join("br-ex-br.nmconnection"), "interface-name=br-ex\n")?;
    fs::write(paths.under("/etc/hostname"), "new")?;
    let run = paths.under("/run/NetworkManager/system-connections");
    fs::create_dir_all(&run)?;
    fs::write(run.join("volatile.nmconnection"), "x")?;

    assert_eq!(restore(&paths, &copies, false)?.len(), 4);
    assert!(run.join("volatile.nmconnection").exists());
    assert_eq!(restore(&paths, &copies, true)?.len(), 1);
    assert_eq!(fs::read_to_string(dir.join("a.nmconnection"))?, "a");
    assert_eq!(fs::read_to_string(dir.join("b.nmconnection"))?, "b");
    assert_eq!(fs::read_dir(&dir)?.count(), 3);
    assert!(!paths.under("/etc/hostname").exists());
    assert!(restore(&paths, &copies, true)?.is_empty());
    Ok(())
}

/// NetworkManager follows a link to a profile, and puts a file in its place when it writes the profile.
#[test]
fn a_profile_that_is_a_link_comes_back_with_its_content() -> Tested {
    let (root, paths, copies) = node()?;
    let profile = paths.under("/etc/NetworkManager/system-connections/eno1.nmconnection");
    let target = root.path().join("eno1.nmconnection");
    fs::write(&target, "interface-name=eno1\n")?;
    std::os::unix::fs::symlink(&target, &profile)?;
    save(&paths, &copies, &scope(false))?;
    assert!(restore(&paths, &copies, true)?.is_empty());
    assert!(profile.is_symlink());

    fs::remove_file(&profile)?;
    fs::write(&profile, "interface-name=eno1\nslave-type=ovs-port\n")?;
    assert_eq!(restore(&paths, &copies, true)?, std::slice::from_ref(&profile));
    assert_eq!(fs::read_to_string(&profile)?, "interface-name=eno1\n");
    Ok(())
}

#[test]
fn files_of_others_stay() -> Tested {
    let (_root, paths, copies) = node()?;
    let (scripts, links) =
        (paths.under("/etc/NetworkManager/dispatcher.d"), paths.under("/etc/systemd/network"));
    fs::create_dir_all(&scripts)?;
    fs::create_dir_all(&links)?;
    fs::write(scripts.join("30-resolv-prepender"), "old")?;
    save(&paths, &copies, &scope(false))?;

    let others = [
        paths.under("/etc/NetworkManager/system-connections/storage.nmconnection"),
        scripts.join("30-resolv-prepender"),
        scripts.join("99-new"),
        links.join("98-nmstate-eno1.link"),
        paths.under("/etc/hostname"),
    ];
    let texts = ["interface-name=eno7\n", "edited", "new", "[Link]\nName=eno1\n", "worker-0\n"];
    for (path, text) in others.iter().zip(texts) {
        fs::write(path, text)?;
    }
    let ours = [scripts.join("nmstate-br-ex-up.sh"), links.join("98-nmstate-br-ex.link")];
    for path in &ours {
        fs::write(path, "AlternativeName=x\n")?;
    }
    let mut touched = restore(&paths, &copies, true)?;
    touched.sort_unstable();
    assert_eq!(touched, ours);
    for (path, text) in others.iter().zip(texts) {
        assert_eq!(fs::read_to_string(path)?, text);
    }
    Ok(())
}

#[test]
fn the_host_name_stays_in_its_file() -> Tested {
    let (_root, paths, copies) = node()?;
    let place = paths.under("/etc/hostname");
    fs::write(&place, "worker-0\n")?;
    save(&paths, &copies, &scope(true))?;
    fs::write(&place, "a-longer-name\n")?;
    let before = fs::metadata(&place)?.ino();
    assert_eq!(restore(&paths, &copies, false)?, [paths.under("/etc/hostname")]);
    assert_eq!(fs::read_to_string(&place)?, "worker-0\n");
    assert_eq!(fs::metadata(&place)?.ino(), before);
    Ok(())
}

/// A host without SELinux keeps the attribute too, for root.
#[test]
fn a_host_name_that_is_gone_comes_back_with_its_label() -> Tested {
    const LABEL: &str = "system_u:object_r:hostname_etc_t:s0";
    let (_root, paths, copies) = node()?;
    let place = paths.under("/etc/hostname");
    fs::write(&place, "worker-0\n")?;
    match label::write(&place, LABEL) {
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => return Ok(()),
        done => done?,
    }
    save(&paths, &copies, &scope(true))?;
    fs::remove_file(&place)?;
    assert_eq!(restore(&paths, &copies, false)?, [paths.under("/etc/hostname")]);
    assert_eq!(fs::read_to_string(&place)?, "worker-0\n");
    assert_eq!(label::read(&place)?.as_deref(), Some(LABEL));
    Ok(())
}

#[test]
fn paths_are_those_of_the_manifest() -> Tested {
    let (_root, paths, copies) = node()?;
    save(&paths, &copies, &scope(false))?;
    let dir = paths.under("/etc/NetworkManager/system-connections");
    fs::write(dir.join("a.nmconnection"), "edited")?;
    // A manifest as another version would write it.
    let place = copies.join("manifest.json");
    let mut manifest: serde_json::Value = serde_json::from_slice(&fs::read(&place)?)?;
    manifest["entries"].as_array_mut().ok_or("no entries")?.reverse();
    fs::write(&place, manifest.to_string())?;
    assert_eq!(restore(&paths, &copies, false)?, [dir.join("a.nmconnection")]);
    assert_eq!(fs::read_to_string(dir.join("a.nmconnection"))?, "a");
    Ok(())
}

#[test]
fn a_manifest_that_leads_elsewhere_restores_nothing() -> Tested {
    let (_root, paths, copies) = node()?;
    save(&paths, &copies, &scope(false))?;
    let profile = paths.under("/etc/NetworkManager/system-connections/a.nmconnection");
    fs::write(&profile, "edited")?;
    let place = copies.join("manifest.json");
    let good = fs::read_to_string(&place)?;
    for (from, to) in [
        ("/etc/hostname", "/etc/../../hostname"),
        ("b.nmconnection", "../b.nmconnection"),
        ("b.nmconnection", "/etc/passwd"),
        ("\"store\": \"0\"", "\"store\": \"..\""),
    ] {
        assert!(good.contains(from), "{from} in {good}");
        fs::write(&place, good.replace(from, to))?;
        let error = restore(&paths, &copies, true).expect_err("elsewhere");
        assert!(error.is_unusable(), "{error}");
        assert_eq!(fs::read_to_string(&profile)?, "edited");
    }
    Ok(())
}

#[test]
fn permissions_come_back_and_a_profile_is_replaced_as_a_whole() -> Tested {
    let (_root, paths, copies) = node()?;
    let dir = paths.under("/etc/NetworkManager/system-connections");
    let (a, b) = (dir.join("a.nmconnection"), dir.join("b.nmconnection"));
    let set = |path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode));
    set(&a, 0o600)?;
    save(&paths, &copies, &scope(false))?;
    set(&a, 0o644)?;
    fs::write(&b, "edited")?;
    let before = fs::metadata(&b)?.ino();
    assert_eq!(restore(&paths, &copies, false)?, [a.clone(), b.clone()]);
    assert_eq!(fs::metadata(&a)?.permissions().mode() & 0o7777, 0o600);
    assert_ne!(fs::metadata(&b)?.ino(), before, "written in place, and half after a power cut");
    Ok(())
}

#[test]
fn a_host_name_is_restored_only_if_the_document_sets_one() -> Tested {
    for (is_set, expected) in [(false, "another\n"), (true, "worker-0\n")] {
        let (_root, paths, copies) = node()?;
        let place = paths.under("/etc/hostname");
        fs::write(&place, "worker-0\n")?;
        save(&paths, &copies, &scope(is_set))?;
        fs::write(&place, "another\n")?;
        restore(&paths, &copies, false)?;
        assert_eq!(fs::read_to_string(&place)?, expected);
        // The file itself may be gone.
        fs::remove_file(&place)?;
        restore(&paths, &copies, false)?;
        assert_eq!(place.exists(), is_set);
    }
    Ok(())
}

#[test]
fn a_path_that_cannot_be_read_is_no_missing_one() -> Tested {
    let (_root, paths, copies) = node()?;
    fs::write(paths.under("/etc/systemd"), "no directory")?;
    let error = save(&paths, &copies, &scope(false)).expect_err("saved");
    let text = error.to_string();
    assert!(text.starts_with("cannot read ") && text.ends_with("/network"), "{text}");
    Ok(())
}
