//! An emergency shell of a boot without a usable document.

use tests::{
    lab::{Nic, VirtualMachine},
    two_stage::{
        MACS,
        fallback::{EMERGENCY, document, falls_back},
    },
};

use crate::Result;

/// A person's commands there; the case ends with them.
const SHELL: (&str, &str) = (
    "/etc/systemd/system/emergency.service.d/60-lab.conf",
    "[Service]\nExecStart=\nExecStart=/bin/sh -c 'exec >/dev/console 2>&1; echo lab: a shell in the initramfs; journalctl --no-pager --boot; \
     nmgen boot --explain; nmgen check /etc/nmgen/worker-1.yml; dmesg; systemctl poweroff --force --force'\n",
);
/// A preshared key that YAML has another type for.
const SECRET: &str = "83517246";

/// Ignition has no config that it can read either, so the boot ends in an emergency shell. A secret beside the fault is told
/// nowhere.
#[tests::case]
fn says_what_is_wrong_with_the_document() -> Result<()> {
    let tunnel =
        format!("  - {{name: t, type: ipsec, libreswan: {{right: 192.0.2.1, psk: {SECRET}}}}}");
    let broken = document().replace("prefix-length: 24", "prefix-length: 240").replacen(
        "interfaces:\n",
        &format!("interfaces:\n{tunnel}\n"),
        1,
    );
    let machine = VirtualMachine::new()
        .nic(Nic::new("nic1", MACS[0]))
        .ignition("192.0.2.1", "{")
        .early("/etc/nmgen/worker-1.yml", &broken)
        .early(SHELL.0, SHELL.1);
    falls_back(&machine, &["libreswan.psk cannot be \"<hidden>\""], |case| {
        case.wait_off()?;
        let console = case.console();
        let (_, shell) = console.split_once(EMERGENCY).ok_or("no emergency shell")?;
        for told in ["the boot goes on with", "it cannot be used: ", "error[prefix-length-range]"] {
            assert!(shell.contains(told), "{told}: {shell}");
        }
        assert!(!console.contains(SECRET));
        Ok(())
    })
}
