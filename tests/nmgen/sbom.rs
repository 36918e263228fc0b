//! Bills of materials: every crate that is linked into a program, and no other; nothing of the machine that wrote them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Command;
use std::sync::OnceLock;

use serde_json::Value;
use spdx::Expression;
use tests::program::{self, Exits as _, root};
use toml::Table;

const NMGEN: &str = "nmgen.cdx.json";
const RAMDISK: &str = "nmgen-dracut.cdx.json";
const DAYONE: &str = "dayone.cdx.json";

/// Components that no Cargo.lock has: what the toolchain brings, and C libraries that a crate compiles. By package URL.
const TOOLCHAIN: [&str; 3] = ["github/rust-lang/rust", "generic/glibc", "generic/gcc"];
const EMBEDDED: [&str; 1] = ["generic/mimalloc"];

fn write() -> BTreeMap<String, String> {
    let directory = tempfile::tempdir().unwrap();
    program::write_bills(directory.path()).unwrap();
    let entries = fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap());
    let name = |entry: &fs::DirEntry| entry.file_name().into_string().unwrap();
    entries.map(|entry| (name(&entry), fs::read_to_string(entry.path()).unwrap())).collect()
}

fn texts() -> &'static BTreeMap<String, String> {
    static TEXTS: OnceLock<BTreeMap<String, String>> = OnceLock::new();
    TEXTS.get_or_init(write)
}

fn bill(name: &str) -> Value {
    serde_json::from_str(&texts()[name]).unwrap()
}

fn components(bill: &Value) -> &[Value] {
    bill["components"].as_array().unwrap()
}

/// A component's package URL without its version: `cargo/serde`, `generic/nmgen-core`.
fn place(component: &Value) -> &str {
    let url = component["purl"].as_str().unwrap();
    url.strip_prefix("pkg:").and_then(|url| url.split('@').next()).unwrap()
}

/// Name and version of each component that Cargo.lock has.
fn crates(bill: &Value) -> BTreeSet<(&str, &str)> {
    let others = [&TOOLCHAIN[..], &EMBEDDED].concat();
    let all = components(bill).iter().filter(|component| !others.contains(&place(component)));
    all.map(|component| {
        (component["name"].as_str().unwrap(), component["version"].as_str().unwrap())
    })
    .collect()
}

/// Name and version of each package that cargo links besides the program's own, which is the first line.
fn linked(selection: &[&str]) -> BTreeSet<(String, String)> {
    let cargo = std::env::var_os("CARGO").unwrap_or("cargo".into());
    let mut tree = Command::new(cargo);
    tree.current_dir(root()).args(["tree", "--locked", "--edges", "normal,no-proc-macro"]);
    let output =
        tree.args(["--prefix=none", "--format={p}"]).args(selection).output().unwrap().exits(0);
    let text = output.out();
    let identity = |line: &str| {
        let mut words = line.split(' ').map(str::to_owned);
        Some((words.next()?, words.next()?.strip_prefix('v')?.to_owned()))
    };
    text.lines().skip(1).map(|line| identity(line).unwrap()).collect()
}

#[tests::case]
fn each_bill_has_every_crate_that_is_linked_and_no_other() {
    let programs: [(&str, &str, &[&str]); 3] = [
        (NMGEN, "nmgen", &["-p", "nmgen"]),
        (RAMDISK, "nmgen", &["-p", "nmgen-boot"]),
        (DAYONE, "dayone", &["-p", "agent"]),
    ];
    for (file, name, selection) in programs {
        let bill = bill(file);
        let linked = linked(selection);
        let expected = linked.iter().map(|(name, version)| (name.as_str(), version.as_str()));
        assert_eq!(crates(&bill), expected.collect(), "{file}");
        let program = &bill["metadata"]["component"];
        assert_eq!((&program["type"], &program["name"]), (&"application".into(), &name.into()));
        assert_eq!(program["version"], env!("CARGO_PKG_VERSION"));
    }
    assert_eq!(texts().len(), 2 * programs.len(), "a bill and a page of licences each");
}

/// A control: the programs' dependencies differ.
#[tests::case]
fn the_programs_differ_as_their_dependencies_do() {
    for (wanted, expected) in [
        ("cargo/nmstate", [true, true, true]),
        ("cargo/svg", [true, false, false]),
        ("cargo/clap", [true, false, true]),
        ("generic/nmgen-fleet", [true, false, false]),
        ("generic/nmgen-core", [true, true, true]),
        ("cargo/libmimalloc-sys", [true, false, false]),
        ("generic/mimalloc", [true, false, false]),
        ("cargo/zbus", [false, false, true]),
        ("github/rust-lang/rust", [true, true, true]),
        ("generic/glibc", [false, true, false]),
        ("generic/gcc", [false, true, false]),
        // A procedural macro runs in the compiler.
        ("cargo/serde_derive", [false, false, false]),
        ("cargo/proptest", [false, false, false]),
    ] {
        let has = [NMGEN, RAMDISK, DAYONE]
            .map(|file| components(&bill(file)).iter().any(|other| place(other) == wanted));
        assert_eq!(has, expected, "{wanted}");
    }
}

/// The program's own word: where code of a crate can panic, its path has the crate's name and version.
#[tests::case]
fn the_ramdisk_program_names_no_crate_that_its_bill_has_not() {
    let program = fs::read(program::nmgen_ramdisk()).unwrap();
    let bill = bill(RAMDISK);
    let listed = crates(&bill);
    let mut named = BTreeSet::new();
    // registry/INDEX/NAME-VERSION/src/FILE
    for path in program.split(|byte| !byte.is_ascii_graphic()) {
        let path = String::from_utf8_lossy(path);
        for part in path.split("registry/").skip(1).filter_map(|rest| rest.split('/').nth(1)) {
            named.insert(part.to_owned());
        }
    }
    let unlisted = |name: &&String| !listed.iter().any(|(a, b)| **name == format!("{a}-{b}"));
    assert_eq!(named.iter().filter(unlisted).collect::<Vec<_>>(), Vec::<&String>::new());
    assert!(named.iter().any(|name| name.starts_with("serde_yaml-")), "{named:?}");
}

#[tests::case]
fn components_have_licence_package_url_and_checksum() {
    let lock: Table = fs::read_to_string(root().join("Cargo.lock")).unwrap().parse().unwrap();
    let locked = |name: &str, version: &str| {
        let all = lock["package"].as_array().unwrap().iter();
        let mut all = all.filter(|package| package["name"].as_str() == Some(name));
        all.find(|package| package["version"].as_str() == Some(version)).cloned()
    };
    for file in [NMGEN, RAMDISK, DAYONE] {
        for component in components(&bill(file)) {
            let text = |key: &str| component[key].as_str().unwrap().to_owned();
            let (name, version, purl) = (text("name"), text("version"), text("purl"));
            let licence = component["licenses"][0]["expression"].as_str().unwrap();
            assert!(Expression::parse(licence).is_ok(), "{name}: {licence}");
            assert_eq!(text("bom-ref"), purl);
            if TOOLCHAIN.contains(&place(component)) || EMBEDDED.contains(&place(component)) {
                assert!(version.starts_with(|first: char| first.is_ascii_digit()), "{version}");
                continue;
            }
            let locked = locked(&name, &version).unwrap();
            let checksum = locked.get("checksum").and_then(|checksum| checksum.as_str());
            assert_eq!(component["hashes"][0]["content"].as_str(), checksum, "{name}");
            // A registry has strangers' crates under the names of the workspace's.
            let kind = if checksum.is_some() { "cargo" } else { "generic" };
            assert_eq!(purl, format!("pkg:{kind}/{name}@{}", version.replace('+', "%2B")));
        }
    }
}

#[tests::case]
fn every_component_is_reached_from_its_program() {
    for file in [NMGEN, RAMDISK, DAYONE] {
        let bill = bill(file);
        let mut below = BTreeMap::new();
        for dependency in bill["dependencies"].as_array().unwrap() {
            let on = dependency["dependsOn"].as_array().unwrap().iter();
            let on: Vec<&str> = on.map(|reference| reference.as_str().unwrap()).collect();
            assert_eq!(below.insert(dependency["ref"].as_str().unwrap(), on), None);
        }
        let mut reached = BTreeSet::new();
        let mut next = vec![bill["metadata"]["component"]["bom-ref"].as_str().unwrap()];
        while let Some(reference) = next.pop() {
            if reached.insert(reference) {
                next.extend(&below[reference]);
            }
        }
        let all = components(&bill).iter();
        let mut all: BTreeSet<&str> =
            all.map(|component| component["bom-ref"].as_str().unwrap()).collect();
        assert_eq!(all.len(), components(&bill).len(), "one reference each");
        all.insert(bill["metadata"]["component"]["bom-ref"].as_str().unwrap());
        assert_eq!(reached, all, "{file}");
    }
}

#[tests::case]
fn bills_are_reproducible_and_name_no_path() {
    assert_eq!(&write(), texts());
    for (name, text) in texts() {
        for path in program::paths_of_the_build() {
            assert!(!text.contains(path.to_str().unwrap()), "{name} names {}", path.display());
        }
        for other in ["file://", "timestamp", "serialNumber"] {
            assert!(!text.contains(other), "{name} has {other}");
        }
    }
}

/// Every package that the tarball has a directory of, and the workspace's own.
fn packages() -> Vec<Value> {
    let cargo = std::env::var_os("CARGO").unwrap_or("cargo".into());
    let mut metadata = Command::new(cargo);
    metadata.args(["metadata", "--locked", "--all-features", "--format-version=1"]);
    let all = metadata.current_dir(root()).output().unwrap().exits(0).json();
    all["packages"].as_array().unwrap().clone()
}

/// A crate that compiles C does it with the crate cc.
#[tests::case]
fn a_crate_that_compiles_c_has_its_library_in_the_bill() {
    let compiles_c = |package: &Value| {
        let mut all = package["dependencies"].as_array().unwrap().iter();
        all.any(|dependency| dependency["kind"] == "build" && dependency["name"] == "cc")
    };
    let packages = packages();
    let compilers: BTreeSet<&str> = packages
        .iter()
        .filter(|package| compiles_c(package))
        .map(|package| package["name"].as_str().unwrap())
        .collect();
    assert!(compilers.contains("libmimalloc-sys"), "{compilers:?}");
    for file in [NMGEN, RAMDISK, DAYONE] {
        let bill = bill(file);
        for dependency in bill["dependencies"].as_array().unwrap() {
            let url = |reference: &Value| reference.as_str().unwrap().to_owned();
            let own = url(&dependency["ref"]);
            let name = own.strip_prefix("pkg:cargo/").and_then(|own| own.split('@').next());
            if name.is_some_and(|name| compilers.contains(name)) {
                let mut below = dependency["dependsOn"].as_array().unwrap().iter().map(url);
                let is_library = |url: String| {
                    EMBEDDED.iter().any(|library| url.starts_with(&format!("pkg:{library}@")))
                };
                assert!(below.any(is_library), "{file}: {own}");
            }
        }
    }
}

/// The RPM's spec as the bills want it: each package's licence, and a line for each crate and C library that is linked into it.
fn expected_spec(spec: &str) -> String {
    let sections = ["%description\n", "%description dracut\n", "%description -n dayone\n"];
    let mut rest = spec;
    let mut expected = String::new();
    for (end, name) in sections.into_iter().zip(["nmgen", "nmgen-dracut", "dayone"]) {
        let (section, behind) = rest.split_once(end).unwrap();
        for line in section.lines().filter(|line| !line.starts_with("Provides:       bundled(")) {
            match line.starts_with("License:") {
                true => expected.push_str(&licence_line(name)),
                false => expected.push_str(line),
            }
            expected.push('\n');
        }
        assert!(expected.ends_with("\n\n"), "an empty line ends the tags of {name}");
        expected.pop();
        expected.push_str(&bundled_lines(name));
        expected = expected + "\n" + end;
        rest = behind;
    }
    expected + rest
}

fn licence_line(name: &str) -> String {
    let page = &texts()[&format!("{name}.licences.txt")];
    let expression = page.lines().next().and_then(|line| line.strip_prefix("License: ")).unwrap();
    assert!(Expression::parse(expression).is_ok(), "{expression}");
    format!("License:        {expression}")
}

/// A version in RPM's form: without a build's name, and with a tilde before that of a pre-release.
fn bundled_lines(name: &str) -> String {
    let bill = bill(&format!("{name}.cdx.json"));
    let mut lines = String::new();
    for component in components(&bill) {
        let name = component["name"].as_str().unwrap();
        let name = match place(component) {
            place if place.starts_with("cargo/") => format!("crate({name})"),
            place if EMBEDDED.contains(&place) => name.to_owned(),
            _ => continue,
        };
        let version = component["version"].as_str().unwrap();
        let version = version.split('+').next().unwrap().replace('-', "~");
        lines += &format!("Provides:       bundled({name}) = {version}\n");
    }
    lines
}

/// Debian's copyright with the licences of every crate of the tarball, those of tests and build scripts too.
fn expected_copyright(copyright: &str) -> String {
    let (before, stanza) = copyright.split_once("\nFiles: vendor/*\n").unwrap();
    let (own, behind) = stanza.split_once("License: ").unwrap();
    let (_, behind) = behind.split_once('\n').unwrap();
    format!("{before}\nFiles: vendor/*\n{own}License: {}\n{behind}", licences_of_vendor())
}

/// In Debian's form, where a comma before "and" does what brackets do in SPDX's.
fn licences_of_vendor() -> String {
    let mut all: BTreeSet<BTreeSet<String>> = BTreeSet::new();
    for package in packages().iter().filter(|package| !package["source"].is_null()) {
        let licence = package["license"].as_str().unwrap();
        let canonical = Expression::canonicalize(licence).unwrap();
        for part in canonical.as_deref().unwrap_or(licence).split(" AND ") {
            let choice = part.trim_start_matches('(').trim_end_matches(')').split(" OR ");
            all.insert(choice.map(exception_in_words).collect());
        }
    }
    let choices = all.into_iter().map(|choice| choice.into_iter().collect::<Vec<_>>().join(" or "));
    choices.collect::<Vec<_>>().join(", and ")
}

/// `Apache-2.0 WITH LLVM-exception` is `Apache-2.0 with LLVM exception`.
fn exception_in_words(licence: &str) -> String {
    licence.replace(" WITH ", " with ").replace("-exception", " exception")
}

#[tests::case]
fn packages_name_each_licence_and_each_crate_that_is_linked() {
    let mut stale = Vec::new();
    for (path, expected) in [
        ("packaging/rpm/nmgen.spec", expected_spec as fn(&str) -> String),
        ("packaging/debian/copyright", expected_copyright),
    ] {
        let file = root().join(path);
        let text = fs::read_to_string(&file).unwrap();
        let expected = expected(&text);
        if std::env::var_os("BLESS").is_some() {
            fs::write(&file, &expected).unwrap();
        }
        if text != expected {
            stale.push(path);
        }
    }
    assert!(stale.is_empty(), "{stale:?} lack a licence or a crate: BLESS=1 writes them");
}

/// Holds that the page has the texts that MIT, BSD and Apache want passed on, the C sources' own, and for a static program's
/// libraries those of LGPL, GPL and GCC's exception.
#[tests::case]
fn texts_of_licences_are_there() {
    for (name, words) in [
        ("nmgen", &["Permission is hereby granted", "Apache License", "Microsoft Corporation"][..]),
        (
            "nmgen-dracut",
            &[
                "Permission is hereby granted",
                "Apache License",
                "GNU LESSER GENERAL PUBLIC LICENSE\n\nVersion 2.1",
                "GNU GENERAL PUBLIC LICENSE\nVersion 3",
                "GCC RUNTIME LIBRARY EXCEPTION",
            ],
        ),
        ("dayone", &["Permission is hereby granted", "Apache License", "Redistributions"]),
    ] {
        let page = &texts()[&format!("{name}.licences.txt")];
        for word in words {
            assert!(page.contains(word), "{name} lacks {word:?}");
        }
    }
}
