//! Checks of the dracut module and its units that need no initramfs.

use std::process::Command;

use tests::{program, skip};

#[tests::case]
fn systemd_has_nothing_to_say_against_the_units() {
    skip::unless_installed("systemd-analyze", "systemd");
    let mut command = Command::new("systemd-analyze");
    command.current_dir(program::nmgen_module()).args(["verify", "--man=no"]);
    let output = command.args(["nmgen.service", "nmgen-persist.service"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "{said}");
}

/// A unit's failure never fails a boot.
#[tests::case]
fn the_units_ignore_exit_codes_and_have_an_end() {
    for unit in ["nmgen.service", "nmgen-persist.service"] {
        let text = std::fs::read_to_string(program::nmgen_module().join(unit)).unwrap();
        for line in text.lines().filter(|line| line.starts_with("Exec")) {
            assert!(line.contains("=-/usr/bin/"), "{unit}: {line}");
        }
        let timeout = text.lines().find_map(|line| line.strip_prefix("TimeoutStartSec="));
        let seconds: u32 = timeout.and_then(|seconds| seconds.parse().ok()).unwrap();
        // Longer than the maximum of nmgen.timeout=.
        assert!(unit != "nmgen.service" || seconds > 600, "{seconds}");
        assert!(text.contains("\nDefaultDependencies=no\n"), "{unit}");
        assert!(!text.contains("OnFailure="), "{unit}");
    }
}

/// In kdump's initramfs `/sysroot` is the crashed system.
#[tests::case]
fn no_unit_runs_in_kdump() {
    for unit in ["nmgen.service", "nmgen-persist.service"] {
        let text = std::fs::read_to_string(program::nmgen_module().join(unit)).unwrap();
        assert!(text.contains("\nConditionPathExists=!/proc/vmcore\n"), "{unit}");
    }
}

/// Interfaces of the running system's own profiles are released once NetworkManager has stopped: units stop in the inverse order.
#[tests::case]
fn interfaces_are_released_after_networkmanager_and_before_the_switch() {
    let text = std::fs::read_to_string(program::nmgen_module().join("nmgen.service")).unwrap();
    for line in [
        "ExecStop=-/usr/bin/nmgen boot --release",
        "RemainAfterExit=yes",
        "Before=nm-initrd.service NetworkManager-initrd.service",
        "Conflicts=initrd-switch-root.target",
        "Before=initrd-switch-root.target",
        "PartOf=NetworkManager-config-initrd.service",
    ] {
        assert!(text.lines().any(|it| it == line), "{line}");
    }
}

/// `systemctl isolate emergency.target` stops what conflicts with it, and what does not ignore it.
#[tests::case]
fn an_emergency_shell_keeps_its_interfaces() {
    let text = std::fs::read_to_string(program::nmgen_module().join("nmgen.service")).unwrap();
    assert!(text.lines().any(|line| line == "IgnoreOnIsolate=yes"), "{text}");
    assert!(!text.contains("emergency.target"), "{text}");
}

/// assisted-service's own unit, where its Ignition config has written it over the alias.
#[tests::case]
fn the_live_unit_comes_after_the_one_that_it_replaces() {
    skip::unless_installed("systemd-analyze", "systemd");
    let units = program::root().join("systemd/usr/lib/systemd/system");
    let text = std::fs::read_to_string(units.join("nmgen-live.service")).unwrap();
    assert!(text.contains("\nAfter=pre-network-manager-config.service\n"), "{text}");
    let mut command = Command::new("systemd-analyze");
    let output = command
        .current_dir(units)
        .args(["verify", "--man=no", "nmgen-live.service"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!said.contains("nmgen-live"), "{said}");
}

/// The module's calls to dracut.
#[tests::case]
fn dracut_gets_the_program_the_units_and_the_documents() {
    let root = tempfile::tempdir().unwrap();
    let path = |name: &str| root.path().join(name);
    std::fs::create_dir_all(path("usr/libexec/nmgen")).unwrap();
    std::fs::create_dir_all(path("etc/nmgen")).unwrap();
    std::fs::copy(program::nmgen(), path("usr/libexec/nmgen/nmgen")).unwrap();
    for name in ["worker-0.yml", "cluster.yml", "README"] {
        std::fs::write(path("etc/nmgen").join(name), "").unwrap();
    }
    let run = |before: &str, function: &str| {
        let script = format!(
            "moddir=/m systemdsystemunitdir=/u initdir=/i SYSTEMCTL='echo systemctl'\n\
             inst_binary() {{ echo binary \"$@\"; }}; inst_simple() {{ echo file \"$@\"; }}\n\
             instmods() {{ echo modules; }}; inst_multiple() {{ echo several \"$2\"; }}\n\
             dracut_module_included() {{ [[ \" ${{mods_to_load-}} \" == *\" $1 \"* ]]; }}\n{before}\n. ./module-setup.sh; {function}"
        );
        let output = Command::new("bash")
            .current_dir(program::nmgen_module())
            .env("dracutsysrootdir", root.path())
            .args(["-euc", &script])
            .output()
            .unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8(text).unwrap())
    };
    let units = "\
binary /usr/libexec/nmgen/nmgen /usr/bin/nmgen
file /m/nmgen.service /u/nmgen.service
systemctl -q --root /i add-wants initrd.target nmgen.service
file /m/nmgen-persist.service /u/nmgen-persist.service
systemctl -q --root /i add-wants initrd.target nmgen-persist.service
";
    let hosts = "file /etc/nmgen/cluster.yml /etc/nmgen/cluster.yml\n\
                 file /etc/nmgen/worker-0.yml /etc/nmgen/worker-0.yml\n";
    assert_eq!(run("", "install"), (Some(0), format!("{units}{hosts}")));
    assert_eq!(run("nmgen_hosts=", "install"), (Some(0), units.to_owned()));
    assert_eq!(run("nmgen_hosts=/nowhere", "install"), (Some(0), units.to_owned()));
    assert_eq!(run("", "depends").1, "systemd network-manager\n");
    assert_eq!(run("", "installkernel").1, "modules\n");
    // More for documents that ask for it, or on request.
    let document =
        "interfaces: [{name: eno1, 802.1x: {ca-cert: /etc/pki/ca.pem, private-key: '/none'}}]\n";
    std::fs::create_dir_all(path("etc/pki")).unwrap();
    std::fs::write(path("etc/pki/ca.pem"), "").unwrap();
    std::fs::write(path("etc/nmgen/worker-0.yml"), document).unwrap();
    let supplicant = "several wpa_supplicant\n";
    let certificate = "file /etc/pki/ca.pem\n";
    assert_eq!(run("", "install"), (Some(0), format!("{units}{supplicant}{certificate}{hosts}")));
    assert_eq!(
        run("nmgen_hosts= nmgen_for='infiniband supplicant'", "install").1,
        format!("{units}{supplicant}")
    );
    assert_eq!(run("nmgen_for=infiniband", "installkernel").1, "modules\nmodules\n");
    // kdump's initramfs gets nothing, whether dracut has come as far as its module or not.
    for kdump in ["mods_to_load='base kdumpbase nmgen'", "add_dracutmodules=' nmgen kdumpbase '"] {
        for function in ["install", "installkernel", "depends"] {
            assert_eq!(run(kdump, function), (Some(0), String::new()), "{kdump}");
        }
    }
    // The module is opt-in, and needs the program.
    assert_eq!(run("", "check"), (Some(255), String::new()));
    std::fs::remove_file(path("usr/libexec/nmgen/nmgen")).unwrap();
    assert_eq!(run("", "check").0, Some(1));
}
