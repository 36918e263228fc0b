//! Checks of the dracut module and its units that need no initramfs.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use tests::{
    program::{self, Exits as _},
    skip,
};

#[tests::case]
fn systemd_has_nothing_to_say_against_the_units() {
    skip::unless_installed("systemd-analyze", "systemd");
    let mut command = Command::new("systemd-analyze");
    command.current_dir(program::nmgen_module()).args(["verify", "--man=no"]);
    let output = command.args(["nmgen.service", "nmgen-persist.service"]).output().unwrap();
    let said = output.err();
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

/// assisted-service's own unit, where its Ignition config has written it over the alias: before NetworkManager, or after
/// NetworkManager-wait-online.service if it runs nmstatectl. Neither order may be a cycle, which systemd breaks by starting a
/// unit less.
#[tests::case]
fn the_live_unit_starts_beside_the_one_that_it_replaces() {
    skip::unless_installed("systemd-analyze", "systemd");
    let place = tempfile::tempdir().unwrap();
    let unit = |name: &str, lines: &str| {
        let text = format!("[Unit]\n{lines}[Service]\nType=oneshot\nExecStart=/bin/true\n");
        std::fs::write(place.path().join(name), text).unwrap();
    };
    let live = program::root().join("systemd/usr/lib/systemd/system/nmgen-live.service");
    let text = std::fs::read_to_string(live).unwrap();
    std::fs::write(
        place.path().join("nmgen-live.service"),
        text.replace("/usr/bin/nmgen", "/bin/true"),
    )
    .unwrap();
    unit("NetworkManager.service", "After=network-pre.target\nBefore=network.target\n");
    let online = "Requires=NetworkManager.service\nAfter=NetworkManager.service\n";
    unit("NetworkManager-wait-online.service", online);
    unit("nmstate.service", "After=NetworkManager.service\n");
    let names = "nmgen-live.service NetworkManager.service NetworkManager-wait-online.service \
                 nmstate.service pre-network-manager-config.service";
    std::fs::write(place.path().join("all.target"), format!("[Unit]\nWants={names}\n")).unwrap();
    for order in [
        "Before=NetworkManager.service\n",
        "After=NetworkManager-wait-online.service\nBefore=nmstate.service\n",
    ] {
        unit("pre-network-manager-config.service", &format!("DefaultDependencies=no\n{order}"));
        let mut command = Command::new("systemd-analyze");
        // Its own directories besides, for the targets.
        command.env("SYSTEMD_UNIT_PATH", format!("{}:", place.path().display()));
        let output = command.args(["verify", "--man=no", "all.target"]).output().unwrap();
        let said = output.err();
        assert!(!said.contains("cycle") && !said.contains("nmgen-live"), "{order}: {said}");
    }
}

/// The alias in the place that images.md names: the unit of an Ignition config is not read.
#[tests::case]
fn the_alias_can_come_before_the_installers_unit() {
    skip::unless_installed("systemd-analyze", "systemd");
    let root = tempfile::tempdir().unwrap();
    let unit = "pre-network-manager-config.service";
    for directory in ["etc/systemd/system.control", "etc/systemd/system", "usr/lib/systemd/system"]
    {
        std::fs::create_dir_all(root.path().join(directory)).unwrap();
    }
    let live = "usr/lib/systemd/system/nmgen-live.service";
    std::fs::copy(program::root().join("systemd").join(live), root.path().join(live)).unwrap();
    let installers = "[Unit]\nInstallers=yes\n[Service]\nExecStart=/bin/true\n";
    std::fs::write(root.path().join("etc/systemd/system").join(unit), installers).unwrap();
    let is_read = || {
        let mut command = Command::new("systemd-analyze");
        command.arg(format!("--root={}", root.path().display()));
        let output = command.args(["verify", "--man=no", unit]).output().unwrap();
        output.err().contains("'Installers'")
    };
    assert!(is_read());
    let link = root.path().join("etc/systemd/system.control").join(unit);
    std::os::unix::fs::symlink(format!("/{live}"), link).unwrap();
    assert!(!is_read());
}

/// The module's calls to dracut.
#[tests::case]
fn dracut_gets_the_program_the_units_and_the_documents() {
    let root = tempfile::tempdir().unwrap();
    let path = |name: &str| root.path().join(name);
    std::fs::create_dir_all(path("usr/libexec/nmgen")).unwrap();
    std::fs::create_dir_all(path("etc/nmgen")).unwrap();
    program::copy(program::nmgen(), &path("usr/libexec/nmgen/nmgen"));
    for name in ["worker-0.yml", "cluster.yml", "README"] {
        std::fs::write(path("etc/nmgen").join(name), "").unwrap();
    }
    let run = |before: &str, function: &str| {
        let script = format!(
            "moddir=/m systemdsystemunitdir=/u initdir=/i SYSTEMCTL='echo systemctl'\n\
             inst_binary() {{ echo binary \"$@\"; }}; inst_simple() {{ echo file \"$@\"; }}\n\
             instmods() {{ echo modules; }}; inst_libdir_file() {{ echo library \"$@\"; }}; inst_multiple() {{ echo several \"$2\"; }}\n\
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
    assert_eq!(run("", "depends").1, "systemd network-manager network kernel-network-modules\n");
    assert_eq!(run("", "installkernel").1, "modules\n");
    // More for documents that ask for it, or on request.
    let document =
        "interfaces: [{name: eno1, 802.1x: {ca-cert: /etc/pki/ca.pem, private-key: '/none'}}]\n";
    std::fs::create_dir_all(path("etc/pki")).unwrap();
    std::fs::write(path("etc/pki/ca.pem"), "").unwrap();
    std::fs::write(path("etc/nmgen/worker-0.yml"), document).unwrap();
    let supplicant = "several wpa_supplicant\nlibrary ossl-modules/legacy.so\n";
    let certificate = "file /etc/pki/ca.pem\n";
    assert_eq!(run("", "install"), (Some(0), format!("{units}{supplicant}{certificate}{hosts}")));
    assert_eq!(
        run("nmgen_hosts= nmgen_for='infiniband supplicant'", "install").1,
        format!("{units}{supplicant}")
    );
    // Debian's unit has a group that dracut's base lacks.
    for directory in ["u", "i/etc"] {
        std::fs::create_dir_all(path(directory)).unwrap();
    }
    std::fs::write(path("u/wpa_supplicant.service"), "[Service]\nGroup=netdev\n").unwrap();
    std::fs::write(path("etc/group"), "root:x:0:\nnetdev:x:101:\n").unwrap();
    assert_eq!(run("initdir=$dracutsysrootdir/i", "install").0, Some(0));
    assert_eq!(std::fs::read_to_string(path("i/etc/group")).unwrap(), "netdev:x:101:\n");
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

/// Permissions of units, each with its reason: every other restriction of `systemd-analyze security` is set in every unit.
const PERMISSIONS: &[(&str, &str)] = &[
    ("UserOrDynamicUser", "profiles and state are root's"),
    ("PrivateUsers", "profiles and state are root's"),
    ("CapabilityBoundingSet_CAP_CHOWN_FSETID_SETFCAP", "a file put back has its owner"),
    ("CapabilityBoundingSet_CAP_DAC_FOWNER_IPC_OWNER", "files of NetworkManager and Open vSwitch"),
    ("CapabilityBoundingSet_CAP_NET_ADMIN", "links and their settings"),
    ("CapabilityBoundingSet_CAP_NET_BIND_SERVICE_BROADCAST_RAW", "a gateway is asked by ICMP"),
    ("CapabilityBoundingSet_CAP_SYS_ADMIN", "sethostname(2), of the document's host name"),
    ("SystemCallFilter_privileged", "chown(2), sethostname(2)"),
    ("PrivateNetwork", "the network is what they are for"),
    ("IPAddressDeny", "gateways, name servers and the API are the document's"),
    ("RestrictAddressFamilies_AF_INET_INET6", "probes"),
    ("RestrictAddressFamilies_AF_NETLINK", "links"),
    ("RestrictAddressFamilies_AF_PACKET", "a new address is asked for by ARP before it is used"),
    ("RestrictAddressFamilies_AF_UNIX", "D-Bus, OVSDB, systemd, udevd"),
    ("PrivateDevices", "/dev/console, /dev/kmsg"),
    ("DeviceAllow", "/dev/console, /dev/kmsg"),
    ("ProtectKernelLogs", "nmgen writes to /dev/kmsg"),
    ("ProtectKernelTunables", "duplicate address detection and the host name are below /proc/sys"),
    ("ProtectHostname", "the document's host name"),
    ("ProtectSystem", "/etc/hostname is replaced by a rename in /etc"),
    ("RootDirectoryOrRootImage", "the system is what they change"),
    ("ProcSubset", "/proc/sys, /proc/cmdline"),
    ("ProtectProc", "needs a mount namespace, or reads no process"),
    ("PrivateMounts", "an initramfs need not be able to make a mount namespace"),
    ("PrivateTmp", "has no use for /tmp"),
    ("ProtectControlGroups", "needs a mount namespace"),
    ("ProtectKernelModules", "needs a mount namespace"),
    ("ProtectClock", "would leave out /dev/kmsg; CAP_SYS_TIME is left out"),
    ("UMask", "profiles have a mode of their own, and the mark is for everybody"),
];

/// `UserOrDynamicUser` and so on, and the exposure that systemd counts.
fn security(unit: &Path) -> (Vec<String>, f64) {
    let analyze = |json: &str| {
        let mut command = Command::new("systemd-analyze");
        command.args(["security", "--offline=true", "--no-pager"]).arg(json).arg(unit);
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    let found: serde_json::Value = serde_json::from_str(&analyze("--json=short")).unwrap();
    let open = found.as_array().unwrap().iter().filter(|check| check["set"] == false);
    let open = open.filter(|check| !check["exposure"].is_null());
    let open = open
        .map(|check| check["json_field"].as_str().unwrap().trim_end_matches(')').to_owned())
        .collect();
    let text = analyze("--json=off");
    let level = text.lines().last().unwrap().split(": ").nth(1).unwrap();
    (open, level.split(' ').next().unwrap().parse().unwrap())
}

/// A core has the secrets of documents, and support's tools copy it.
#[tests::case]
fn no_unit_that_runs_a_program_of_ours_leaves_a_core() {
    let delivery = program::root().join("nmgen/crates/fleet/src/output/delivery/agent");
    let system = program::root().join("systemd/usr/lib/systemd/system");
    let mut units = 0;
    for directory in [&*system, program::nmgen_module(), &*delivery] {
        for entry in std::fs::read_dir(directory).unwrap() {
            let unit = entry.unwrap().path();
            if unit.extension().is_some_and(|extension| extension == "service") {
                let text = std::fs::read_to_string(&unit).unwrap();
                assert!(text.lines().any(|line| line == "LimitCORE=0"), "{}", unit.display());
                units += 1;
            }
        }
    }
    assert_eq!(units, 12);
}

#[tests::case]
fn every_unit_has_no_more_permissions_than_it_has_reasons_for() {
    skip::unless_installed("systemd-analyze", "systemd");
    let system = program::root().join("systemd/usr/lib/systemd/system");
    let (mut units, mut faults, mut used) = (0, Vec::new(), BTreeSet::new());
    for directory in [&*system, program::nmgen_module()] {
        for entry in std::fs::read_dir(directory).unwrap() {
            let unit = entry.unwrap().path();
            if unit.extension().is_none_or(|extension| extension != "service") {
                continue;
            }
            units += 1;
            let name = unit.file_name().unwrap().to_string_lossy().into_owned();
            let (open, level) = security(&unit);
            let most = if name.starts_with("nmgen") { 5.0 } else { 3.5 };
            if level >= most {
                faults.push(format!("{name}: {level}"));
            }
            for field in open {
                match PERMISSIONS.iter().find(|(known, _)| **known == field) {
                    Some((known, _)) => drop(used.insert(*known)),
                    None => faults.push(format!("{name}: {field} has no reason")),
                }
            }
            let text = std::fs::read_to_string(&unit).unwrap();
            if text.contains("CAP_SYS_ADMIN") && !text.contains("sethostname(2)") {
                faults.push(format!("{name}: CAP_SYS_ADMIN has no reason"));
            }
        }
    }
    // podman has to unpack files of any owner and mode: its unit is held to the sum.
    let installer = "nmgen/crates/fleet/src/output/delivery/agent/dayone-install.service";
    let (_, level) = security(&program::root().join(installer));
    if level >= 7.5 {
        faults.push(format!("dayone-install.service: {level}"));
    }
    let unused = PERMISSIONS.iter().filter(|(name, _)| !used.contains(name));
    faults.extend(unused.map(|(name, _)| format!("{name} is used by no unit")));
    assert!(units == 11 && faults.is_empty(), "{units} units: {faults:#?}");
}
