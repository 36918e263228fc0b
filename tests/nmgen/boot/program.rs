//! `nmgen generate --to initrd --with-program`: the program, its units and their links, as the kernel unpacks them.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use tests::{
    program::{self, Exits as _},
    skip,
    tree::files,
};

const UNITS: &str = "etc/systemd/system";
const WANTS: &str = "etc/systemd/system/initrd.target.wants";

/// A header of a static program for 64 bits without a program header, and content.
fn static_program() -> Vec<u8> {
    let mut program = b"\x7fELF\x02\x01\x01".to_vec();
    program.resize(64, 0);
    program.extend(b"the program");
    program
}

fn generate(arguments: &[&str], source: &Path) -> Output {
    let mut command = Command::new(program::nmgen());
    command.args(["generate", "--to", "initrd"]).args(arguments).arg(source);
    command.output().unwrap()
}

/// Unpacks by cpio, after gzip if compressed.
fn unpack(archive: &Path, to: &Path) {
    let mut command = Command::new("sh");
    command.current_dir(to).stdin(Stdio::from(fs::File::open(archive).unwrap()));
    let is_compressed = archive.extension().is_some_and(|extension| extension == "img");
    let reader = if is_compressed { "gzip -dc" } else { "cat" };
    let status = command.args(["-euc", &format!("{reader} | cpio -idm --quiet")]).status();
    assert!(status.unwrap().success(), "{}", archive.display());
}

/// The unpacked program and units are those of the dracut module, with links that lead to them.
fn has_program(root: &Path) {
    let module = program::nmgen_module();
    for unit in ["nmgen.service", "nmgen-persist.service"] {
        let expected = fs::read_to_string(module.join(unit)).unwrap();
        assert_eq!(fs::read_to_string(root.join(UNITS).join(unit)).unwrap(), expected);
        assert_eq!(fs::read_link(root.join(WANTS).join(unit)).unwrap(), Path::new("..").join(unit));
        assert_eq!(fs::read_to_string(root.join(WANTS).join(unit)).unwrap(), expected);
    }
    assert_eq!(fs::read(root.join("usr/bin/nmgen")).unwrap(), static_program());
    let modes: Vec<(String, u32)> = files(root)
        .unwrap()
        .into_iter()
        .filter(|(path, _)| !path.starts_with(WANTS))
        .map(|(path, mode)| (path.to_str().unwrap().to_owned(), mode))
        .filter(|(path, _)| !path.starts_with("etc/nmgen"))
        .collect();
    let unit = |name: &str| (format!("{UNITS}/{name}"), 0o644);
    let program = ("usr/bin/nmgen".to_owned(), 0o755);
    assert_eq!(modes, [unit("nmgen-persist.service"), unit("nmgen.service"), program]);
    for directory in ["usr", "usr/bin", "etc", "etc/systemd", UNITS, WANTS] {
        let mode = root.join(directory).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o7777, 0o755, "{directory}");
    }
}

#[tests::case]
fn one_archive_has_program_units_links_and_documents() {
    skip::unless_installed("cpio", "cpio");
    let place = tempfile::tempdir().unwrap();
    let path = |name: &str| place.path().join(name);
    fs::write(path("nmgen"), static_program()).unwrap();
    let source = program::root().join("tests/fixtures/targets/input/hosts");
    let (program, archive) = (path("nmgen"), path("archive"));
    let arguments = ["--with-program", program.to_str().unwrap(), "-o", archive.to_str().unwrap()];
    generate(&arguments, &source).exits(0);
    fs::create_dir(path("root")).unwrap();
    unpack(&archive, &path("root"));
    has_program(&path("root"));
    let documents = files(&path("root/etc/nmgen")).unwrap();
    assert_eq!(documents.len(), 3);
    assert!(documents.values().all(|mode| *mode == 0o600), "{documents:?}");
    // Always the same bytes.
    let first = fs::read(&archive).unwrap();
    generate(&arguments, &source).exits(0);
    assert_eq!(fs::read(&archive).unwrap(), first);
    // One host's archive has no other's document.
    generate(&[&arguments[..], &["--host", "worker-1"]].concat(), &source).exits(0);
    fs::create_dir(path("one")).unwrap();
    unpack(&archive, &path("one"));
    has_program(&path("one"));
    let names: Vec<_> = files(&path("one/etc/nmgen")).unwrap().into_keys().collect();
    assert_eq!(names, [Path::new("worker-1.yml")]);
}

#[tests::case]
fn in_assisteds_layout_the_second_image_has_the_program() {
    skip::unless_installed("cpio", "cpio");
    let place = tempfile::tempdir().unwrap();
    let path = |name: &str| place.path().join(name);
    fs::write(path("nmgen"), static_program()).unwrap();
    let source = program::root().join("tests/fixtures/targets/input/hosts");
    let (program, out) = (path("nmgen"), path("out"));
    let arguments = [
        "--with-program",
        program.to_str().unwrap(),
        "--layout",
        "assisted",
        "-o",
        out.to_str().unwrap(),
    ];
    generate(&arguments, &source).exits(0);
    for directory in ["first", "second"] {
        fs::create_dir(path(directory)).unwrap();
    }
    unpack(&out.join("assisted_installer_custom.img"), &path("first"));
    unpack(&out.join("nmstate.img"), &path("second"));
    assert_eq!(files(&path("first")).unwrap().len(), 3);
    has_program(&path("second"));
    assert!(!path("second/etc/nmgen").exists());
}
