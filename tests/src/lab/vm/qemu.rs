//! One run of QEMU.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Stdio},
    time::Duration,
};

use serde_json::{Value, json};

use super::{Clock, VirtualMachine, agent::GuestAgent, connection::Connection, emulator::Emulator};
use crate::lab::{
    command::wait_for,
    error::{Error, Result},
    netns::Netns,
    node::Nic,
};

/// Bound on the monitor's answers.
const ANSWER: Duration = Duration::from_secs(10);

/// The PCI slot of the first card, which determines its name: `enp0s16`.
const FIRST_SLOT: u8 = 16;

/// Parameters of a boot.
pub(crate) struct Power<'a> {
    pub(crate) emulator: &'a Emulator,
    pub(crate) netns: &'a Netns,
    pub(crate) machine: &'a VirtualMachine,
    pub(crate) arguments: &'a str,
    pub(crate) state: &'a Path,
}

/// A running machine; killed on drop.
#[derive(Debug)]
pub(crate) struct Qemu {
    child: Child,
    state: PathBuf,
}

impl Qemu {
    pub(crate) fn start(power: &Power<'_>) -> Result<Self> {
        for name in ["agent", "monitor", "console"] {
            let path = power.state.join(name);
            match fs::remove_file(&path) {
                Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                    return Err(Error::file("remove", path)(e));
                }
                _ => {}
            }
        }
        let mut command = power.emulator.command(power.netns, "qemu-system-x86_64");
        command.args(arguments(power));
        let log = power.state.join("qemu.log");
        let log = fs::File::create(&log).map_err(Error::file("create", &log))?;
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(log);
        let child = command
            .spawn()
            .map_err(|source| Error::Spawn { program: "qemu-system-x86_64".into(), source })?;
        let mut qemu = Self { child, state: power.state.to_owned() };
        wait_for("QEMU's monitor", ANSWER, || {
            qemu.check_running()?;
            let socket = |name| qemu.state.join(name).exists();
            Ok((socket("monitor") && socket("agent")).then_some(()))
        })?;
        Ok(qemu)
    }

    /// The guest agent, running or not yet.
    pub(crate) fn agent(&self) -> GuestAgent {
        GuestAgent::new(self.state.join("agent"))
    }

    /// The output on the serial console.
    pub(crate) fn console(&self) -> String {
        console(&self.state)
    }

    /// Fails if the machine has ended.
    pub(crate) fn check_running(&mut self) -> Result<()> {
        match self.child.try_wait() {
            Ok(Some(status)) => Err(Error::MachineEnded {
                status: status.to_string(),
                console: last_lines(&console(&self.state)),
            }),
            _ => Ok(()),
        }
    }

    /// Waits for the machine to switch itself off.
    pub(crate) fn wait_end(&mut self, limit: Duration) -> Result<()> {
        let child = &mut self.child;
        wait_for("the machine to switch itself off", limit, || {
            child.try_wait().map_err(|source| Error::Spawn { program: "wait".into(), source })
        })?;
        Ok(())
    }

    /// Plugs a card into a slot of a running machine: 0 or 1.
    pub(crate) fn plug(&self, nic: &Nic, slot: usize) -> Result<()> {
        let mut device = json!({
            "driver": "virtio-net-pci", "id": format!("d-{}", nic.name), "netdev": nic.name,
            "mac": nic.mac, "bus": format!("hot{slot}"), "csum": false, "guest_csum": false,
            "speed": 10000, "duplex": "full",
        });
        device["romfile"] = "".into();
        self.monitor("netdev_add", &json!({
            "type": "tap", "id": nic.name, "ifname": nic.port(), "script": "no", "downscript": "no",
        }))?;
        self.monitor("device_add", &device)
    }

    /// Plugs or pulls the cable of a card: the card has a carrier, or none.
    pub(crate) fn link(&self, nic: &Nic, on: bool) -> Result<()> {
        self.monitor("set_link", &json!({ "name": nic.name, "up": on }))
    }

    fn monitor(&self, command: &str, arguments: &Value) -> Result<()> {
        let mut connection = Connection::open(&self.state.join("monitor"))?;
        connection.ask("qmp_capabilities", &json!({}), ANSWER)?;
        connection.ask(command, arguments, ANSWER)?;
        Ok(())
    }
}

impl Drop for Qemu {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The output on the serial console since the last start.
pub(crate) fn console(state: &Path) -> String {
    let text = fs::read(state.join("console")).unwrap_or_default();
    String::from_utf8_lossy(&text).replace('\r', "")
}

/// Its end, for the report of a failed case.
pub(crate) fn last_lines(console: &str) -> String {
    let lines: Vec<_> = console.lines().collect();
    lines[lines.len().saturating_sub(80)..].join("\n")
}

fn arguments(power: &Power<'_>) -> Vec<String> {
    let state = power.state.display();
    let image = Emulator::IMAGE;
    // No KVM in a test: tests mostly run in a virtual machine themselves. The oldest processor of this architecture: emulating
    // later instructions takes an eighth of a boot's time.
    let processor: &[&str] = match power.machine.clock {
        Clock::Host => &["-accel tcg -cpu qemu64"],
        // shift=n: 2^n nanoseconds an instruction; an idle machine follows the host's clock.
        Clock::Instructions => &["-accel tcg -cpu qemu64", "-icount shift=1,sleep=on"],
        Clock::Processor => &["-accel kvm -cpu host"],
    };
    let mut all: Vec<String> = [
        // One core: on a busy host the clocks of two emulated cores diverge, and the kernel waits for a timer for ever.
        "-M q35 -smp 1 -m 2048 -nodefaults -display none -no-reboot",
        "-object rng-random,id=rng -device virtio-rng-pci,rng=rng",
        // Ports for cards plugged in later: the root bus supports no hot plug.
        "-device pcie-root-port,id=hot0,chassis=1,slot=1,addr=8",
        "-device pcie-root-port,id=hot1,chassis=2,slot=2,addr=9",
        "-device virtio-serial -device virtserialport,chardev=agent,name=org.qemu.guest_agent.0",
    ]
    .iter()
    .chain(processor)
    .flat_map(|line| line.split(' ').map(str::to_owned))
    .collect();
    let mut pair = |name: &str, value: String| all.extend([name.to_owned(), value]);
    pair("-chardev", format!("file,id=console,path={state}/console"));
    pair("-serial", "chardev:console".into());
    pair("-chardev", format!("socket,id=agent,path={state}/agent,server=on,wait=off"));
    pair("-qmp", format!("unix:{state}/monitor,server=on,wait=off"));
    if power.machine.network_disk.is_none() {
        pair("-drive", format!("file={state}/disk,if=virtio,format=qcow2,cache=unsafe"));
    }
    // Uncompressed: the processor starts in the kernel itself, which need not unpack itself first.
    pair("-kernel", format!("{image}/vmlinux"));
    pair("-initrd", format!("{state}/initrd"));
    pair("-append", power.arguments.to_owned());
    for (nic, slot) in power.machine.nics.iter().zip(FIRST_SLOT + power.machine.moved..) {
        let Nic { name, mac, .. } = nic;
        let port = nic.port();
        pair("-netdev", format!("tap,id={name},ifname={port},script=no,downscript=no"));
        // LACP needs a link speed; TCP through a switch in userspace needs checksums without offload.
        pair(
            "-device",
            format!(
                "virtio-net-pci,addr={slot:x}.0,netdev={name},mac={mac},speed=10000,duplex=full,csum=off,guest_csum=off,romfile="
            ),
        );
    }
    all
}
