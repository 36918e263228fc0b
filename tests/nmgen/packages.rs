//! Packages: together they contain every file of `make install-built` once; effects of installation, upgrade and removal on the
//! units.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tests::packages::{self, PACKAGES};
use tests::program::{self, Exits as _, root};
use tests::skip;
use tests::tree::{Built, files};

use scripts::Manager;

mod scripts;

/// Typical files of each package.
const OWNERS: [(&str, &str); 14] = [
    ("usr/bin/nmgen", "nmgen"),
    ("usr/bin/gather_dayone", "nmgen"),
    ("etc/sos/extras.d/dayone", "dayone"),
    ("usr/share/man/man1/nmgen.1", "nmgen"),
    ("usr/libexec/nmgen/nmgen", "nmgen-dracut"),
    ("usr/lib/dracut/modules.d/50nmgen/module-setup.sh", "nmgen-dracut"),
    ("usr/bin/dayone", "dayone"),
    ("usr/share/doc/nmgen/nmgen.cdx.json", "nmgen"),
    ("usr/share/doc/nmgen-dracut/nmgen-dracut.cdx.json", "nmgen-dracut"),
    ("usr/share/doc/dayone/dayone.cdx.json", "dayone"),
    ("usr/share/doc/dayone/licences.txt", "dayone"),
    ("usr/lib/systemd/system/dayone.service", "dayone"),
    ("usr/lib/systemd/system/ovs-configuration.service.d/10-dayone.conf", "dayone"),
    ("usr/lib/systemd/system/mtu-migration.service.d/10-dayone.conf", "dayone"),
];

/// Path to mode and package.
type Packed = BTreeMap<PathBuf, (u32, &'static str)>;

fn run(command: &mut Command) -> String {
    packages::run(command).unwrap()
}

/// Every file is in exactly one package, with its installed mode.
fn compare(built: &Built, packed: &Packed) {
    let tree = tempfile::tempdir().unwrap();
    built.install(tree.path()).unwrap();
    let modes: BTreeMap<PathBuf, u32> =
        packed.iter().map(|(path, (mode, _))| (path.clone(), *mode)).collect();
    assert_eq!(modes, files(tree.path()).unwrap());
    for (path, owner) in OWNERS {
        assert_eq!(packed[Path::new(path)].1, owner, "{path}");
    }
}

fn add(packed: &mut Packed, path: &Path, mode: u32, package: &'static str) {
    let before = packed.insert(path.to_owned(), (mode, package));
    assert_eq!(before, None, "{} is in two packages", path.display());
}

/// A manual page's name before compression.
fn uncompressed(path: &Path) -> PathBuf {
    let is_page = path.starts_with("usr/share/man") && path.extension().is_some_and(|e| e == "gz");
    if is_page { path.with_extension("") } else { path.to_owned() }
}

#[tests::case]
fn debian_packages_have_everything_and_install_it() {
    skip::unless_installed("dh", "debhelper");
    skip::unless_installed("lintian", "lintian");
    let built = Built::stand_ins().unwrap();
    let place = tempfile::tempdir().unwrap();
    let packages = packages::debian(&built, &place.path().join("deb")).unwrap();
    let mut packed = Packed::new();
    for (name, package) in &packages {
        let tree = place.path().join(name);
        run(Command::new("dpkg-deb").arg("--extract").args([package, &tree]));
        // Files that Debian's tools add.
        let documentation = Path::new("usr/share/doc").join(name);
        let own = [
            documentation.join("changelog.gz"),
            documentation.join("copyright"),
            Path::new("usr/share/lintian/overrides").join(name),
        ];
        for (path, mode) in files(&tree).unwrap() {
            if !own.contains(&path) {
                add(&mut packed, &uncompressed(&path), mode, name);
            }
        }
    }
    // Debian's goes without it: dpkg would remember a removed package for a conffile.
    add(&mut packed, Path::new("etc/sos/extras.d/dayone"), 0o644, "dayone");
    compare(&built, &packed);
    run(Command::new("lintian").args(["--fail-on", "error,warning"]).args(packages.values()));
    skip::unless_root("installing a package");
    let dpkg = Manager::dpkg(&place.path().join("root"));
    dpkg.install_upgrade_remove(|version| {
        packages::debian_of_version(&packages["dayone"], version).unwrap()
    });
}

/// The units that the preset enables.
fn preset_units() -> Vec<String> {
    let preset = root().join("systemd/usr/lib/systemd/system-preset/80-dayone.preset");
    let preset = fs::read_to_string(preset).unwrap();
    preset.lines().filter_map(|line| line.strip_prefix("enable ")).map(str::to_owned).collect()
}

#[tests::case]
fn rpm_packages_have_everything() {
    skip::unless_installed("rpmbuild", "rpm");
    let built = Built::stand_ins().unwrap();
    let place = tempfile::tempdir().unwrap();
    let packages = packages::rpms(None, &built, &place.path().join("rpm")).unwrap();

    let query = |package: &Path, format: &str| {
        let mut rpm = Command::new("rpm");
        rpm.args(["--dbpath", place.path().join("db").to_str().unwrap()]);
        run(rpm.args(["-qp", "--qf", format]).arg(package))
    };
    let mut packed = Packed::new();
    for package in packages {
        let name = query(&package, "%{name}");
        let name = *PACKAGES.iter().find(|package| **package == name).unwrap();
        assert_eq!(query(&package, "%{version}"), env!("CARGO_PKG_VERSION"));
        for line in query(&package, "[%{filemodes:octal} %{filenames}\n]").lines() {
            let (mode, path) = line.split_once(' ').unwrap();
            let mode = u32::from_str_radix(mode, 8).unwrap();
            let path = Path::new(path.strip_prefix('/').unwrap());
            let is_directory = mode & 0o170_000 == 0o040_000;
            if !is_directory && !path.starts_with("usr/share/licenses") {
                add(&mut packed, &uncompressed(path), mode & 0o7777, name);
            }
        }
        if name == "dayone" {
            // Enabled by presets, one call a unit.
            let units = preset_units();
            let installation = query(&package, "%{postin}");
            let named =
                |line: &str| units.iter().filter(|unit| line.contains(&format!(" {unit}"))).count();
            let calls: Vec<_> = installation.lines().map(named).filter(|it| *it > 0).collect();
            assert_eq!(calls, vec![1; units.len()], "{installation}");
            let upgrade = query(&package, "[%{triggername} %{triggerversion}\n]%{triggerscripts}");
            assert!(upgrade.starts_with("dayone 0.3.0~\n"), "{upgrade}");
            for unit in ["dayone-health.path", "dayone-health.timer"] {
                let preset = format!("systemctl --no-reload preset {unit} || :\n");
                assert!(upgrade.contains(&preset), "{upgrade}");
            }
            // No unit is stopped that another one requires, since kubelet would stop too.
            let removal = query(&package, "%{preun}");
            let disable = format!("systemctl --no-reload disable {}\n", units.join(" "));
            assert!(removal.contains(&disable), "{removal}");
            assert!(!removal.contains("--now"), "{removal}");
            let stopped: Vec<_> = removal.split("systemctl stop ").skip(1).collect();
            assert!(
                matches!(stopped[..], [only] if only.starts_with(
                    "dayone-health.timer dayone-health.path dayone-pending.path || :\n"
                )),
                "{removal}"
            );
        }
    }
    compare(&built, &packed);
}

#[tests::case]
fn rpm_scripts_install_upgrade_and_remove() {
    skip::unless_installed("rpmbuild", "rpm");
    skip::unless_root("installing a package");
    let place = tempfile::tempdir().unwrap();
    let built = Built::stand_ins().unwrap();
    let packages: BTreeMap<&str, PathBuf> = ["0.2.0", env!("CARGO_PKG_VERSION"), "0.3.1"]
        .into_iter()
        .map(|version| (version, packages::rpm_of_version(version, &built, place.path()).unwrap()))
        .collect();
    for is_offline in [false, true] {
        let root = place.path().join(if is_offline { "offline" } else { "root" });
        Manager::rpm(&root, is_offline).install_upgrade_remove(|version| packages[version].clone());
    }
}

/// Its scripts would have the macros' names in them, and fail.
#[tests::case]
fn an_rpm_without_the_macros_of_systemd_is_not_built() {
    skip::unless_installed("rpmbuild", "rpm");
    let spec = root().join("packaging/rpm/nmgen.spec");
    let mut rpmbuild = Command::new("rpmbuild");
    // Whatever macros the host has.
    rpmbuild.args(["--undefine", "systemd_post", "-bp", "--nodeps"]).arg(spec);
    let output = rpmbuild.output().unwrap();
    let said = output.err();
    assert!(!output.status.success() && said.contains("needs systemd-rpm-macros"), "{said}");
}

/// Without a build: checks that the paths, targets and units in it exist.
#[tests::case]
fn the_containerfile_names_what_there_is() {
    let text = fs::read_to_string(root().join("packaging/Containerfile")).unwrap();
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    let of = |keyword: &'static str| {
        lines.iter().filter_map(move |line| line.strip_prefix(keyword)).map(str::trim_start)
    };
    let mut copied = BTreeSet::new();
    for copy in of("COPY ").filter(|copy| !copy.starts_with("--from=")) {
        let (sources, _) = copy.rsplit_once(' ').unwrap();
        for source in sources.split(' ') {
            assert!(root().join(source).exists(), "{copy}");
            copied.insert(source);
        }
    }
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let members = manifest.lines().find_map(|line| line.strip_prefix("members = [")).unwrap();
    for member in members.trim_end_matches(']').split(", ") {
        let member = Path::new(member.trim_matches('"'));
        assert!(
            copied.iter().any(|copy| member.starts_with(copy)),
            "{member:?} is needed to build"
        );
    }
    let makefile = fs::read_to_string(root().join("Makefile")).unwrap();
    let target = of("RUN make ").next().unwrap().split(' ').next().unwrap();
    assert!(makefile.contains(&format!("\n{target}:")), "make {target}");
    // Preset and unit are both in the tree.
    let units = preset_units();
    assert_eq!(of("RUN systemctl preset ").next(), Some(units.join(" ").as_str()));
    assert!(root().join("systemd/usr/lib/systemd/system").join(&units[0]).exists());
}

/// Whoever builds them does so for a machine of the same kind.
#[tests::case]
fn packages_units_and_the_dracut_module_name_no_architecture() {
    const NAMES: [&str; 9] =
        ["x86_64", "x86-64", "amd64", "aarch64", "arm64", "ppc64le", "ppc64el", "s390x", "/lib64"];
    for directory in ["packaging", "systemd"] {
        let files = files(&root().join(directory)).unwrap();
        assert!(files.len() > 5, "{directory}");
        for path in files.into_keys() {
            let path = Path::new(directory).join(path);
            let text = fs::read_to_string(root().join(&path)).unwrap();
            let named = NAMES.into_iter().find(|name| text.contains(name));
            assert_eq!(named, None, "{}", path.display());
        }
    }
}

#[tests::case]
fn the_version_is_the_same_wherever_it_is_told() {
    run(Command::new(root().join("packaging/release")).arg("check"));
}

/// A build by cargo alone has no commit; cargo would compile everything again for each.
#[tests::case]
fn programs_as_shipped_name_their_commit() {
    let number = env!("CARGO_PKG_VERSION");
    let commit = run(&mut Command::new(root().join("packaging/commit")));
    let version = if program::is_shipped() {
        format!("{number} ({})", commit.trim())
    } else {
        number.to_owned()
    };
    for (name, program) in [("nmgen", program::nmgen()), ("dayone", program::dayone())] {
        assert_eq!(run(Command::new(program).arg("--version")), format!("{name} {version}\n"));
    }
}

/// `make node` splits a program as shipped; of another one a copy is split here.
#[tests::case]
fn debug_information_of_the_agent_is_in_a_file_that_its_build_id_names() {
    let place = tempfile::tempdir().unwrap();
    let mut program = program::dayone().to_owned();
    if !program::is_shipped() {
        program = place.path().join("dayone");
        fs::copy(program::dayone(), &program).unwrap();
        run(Command::new(root().join("packaging/split-debug")).arg(&program));
    }
    assert!(run(Command::new(&program).arg("--version")).starts_with("dayone "));
    let read = |path: &Path| run(Command::new("readelf").args(["-n", "-S", "-W"]).arg(path));
    let (own, debug) = (read(&program), read(&program.with_extension("debug")));
    let has_lines = |sections: &str| sections.contains(" .debug_line ");
    assert!(!has_lines(&own) && !own.contains(" .symtab ") && has_lines(&debug), "{own}{debug}");
    let build_id = |notes: &str| Some(notes.split_once("Build ID: ")?.1.lines().next()?.to_owned());
    assert_eq!(build_id(&own), build_id(&debug));
    assert!(!program::is_shipped() || build_id(&own).is_some(), "{own}");
}

/// `make nmgen` is for a first try.
#[tests::case]
fn no_package_takes_the_quick_build() {
    for target in ["all", "install", "deb", "rpm", "image"] {
        let mut make = Command::new("make");
        let planned = run(make.current_dir(root()).args(["--dry-run", target]));
        assert!(planned.contains(" build --locked --release -p nmgen\n"), "{planned}");
        assert!(!planned.contains("quick"), "{planned}");
    }
}

/// RHEL 9 has glibc 2.34. A program without optimisation refers to at least as much as one with it.
#[tests::case]
fn no_dynamic_program_needs_a_newer_c_library_than_rhel_9_has() {
    for program in [program::nmgen(), program::dayone()] {
        let symbols = run(Command::new("objdump").arg("--dynamic-syms").arg(program));
        let versions = symbols.split("GLIBC_").skip(1).filter_map(|rest| {
            let version = rest.split(|c: char| c != '.' && !c.is_ascii_digit()).next()?;
            version.split('.').map(|number| number.parse().ok()).collect::<Option<Vec<u32>>>()
        });
        let highest = versions.max().unwrap();
        assert!(highest <= vec![2, 34], "{}: {highest:?}", program.display());
    }
}

#[tests::case]
fn a_build_refuses_a_directory_with_a_blank_in_its_path() {
    let mut make = Command::new("make");
    make.current_dir(root()).args(["--silent", "toolchain", "CARGO_HOME=/a b"]);
    let output = make.output().unwrap();
    let told = output.err();
    assert!(!output.status.success(), "{told}");
    assert!(told.contains("a build needs a directory without a blank in its path: /a b\n"));
}

#[tests::case]
fn programs_are_built_where_they_are_installed_from() {
    for target in ["nmgen", "nmgen-release", "node", "ramdisk"] {
        let mut make = Command::new("make");
        let planned = run(make.current_dir(root()).args(["--dry-run", target]));
        assert!(planned.contains("CARGO_TARGET_DIR=target "), "{planned}");
    }
}

#[tests::case]
fn relocations_are_packed_unless_the_c_library_is_too_old() {
    for (switch, is_packed) in [("RELR=on", true), ("RELR=off", false)] {
        let mut make = Command::new("make");
        let planned = run(make.current_dir(root()).args(["--dry-run", "ramdisk", switch]));
        assert_eq!(planned.contains("-Wl,-z,pack-relative-relocs"), is_packed, "{planned}");
    }
}
