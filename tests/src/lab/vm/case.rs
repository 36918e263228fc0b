//! A virtual machine and its peer for the time of one test.

mod wire;

use std::{
    fs,
    io::Write as _,
    path::PathBuf,
    process::Command,
    time::{Duration, Instant},
};

use super::{
    VirtualMachine,
    authenticator::Authenticator,
    emulator::{Emulator, Policy},
    http::Http,
    initramfs,
    network_disk::{self, NetworkDisk},
    qemu::{Power, Qemu, console, last_lines},
    switch::Switch,
};
use crate::lab::{
    command::{run, wait_for},
    error::{Error, Result},
    gateway::Gateway,
    inside::Inside,
    netns::Netns,
    node::Nic,
    peer::Peer,
    place::Place,
};

/// The kernel's arguments in every boot. Those from `init_on_alloc` to `cryptomgr` disable self-tests and hardening of the kernel,
/// a fifteenth of a boot's time. On a busy host the test of the timer's interrupt fails, and the kernel panics: it is disabled too.
const ARGUMENTS: &str = "root=LABEL=root rw console=ttyS0 systemd.show_status=0 quiet loglevel=5 mitigations=off \
                         systemd.journald.forward_to_console=0 net.ifnames=1 \
                         init_on_alloc=0 init_on_free=0 hardened_usercopy=off kfence.sample_interval=0 \
                         randomize_kstack_offset=off cryptomgr.notests 8250.nr_uarts=1 no_timer_check";
/// The kernel's security modules, without SELinux and with it.
const SECURITY: [&str; 2] =
    ["audit=0 lsm=landlock", "audit=1 audit_backlog_limit=8192 lsm=landlock,selinux selinux=1"];
/// The path of Ignition's configuration on the peer's HTTP server.
const CONFIG: &str = "config.ign";

/// A bootable machine, its disk and its peer. Dropping it removes all three.
#[derive(Debug)]
pub struct VmCase<'place> {
    qemu: Option<Qemu>,
    _network_disk: Option<NetworkDisk>,
    http: Http,
    authenticators: Vec<Authenticator>,
    switch: Switch,
    // Dropped last: the namespace is the gateway's.
    gateway: Gateway,
    hot: usize,
    machine: VirtualMachine,
    emulator: Emulator,
    ignited: bool,
    place: &'place Place,
}

impl<'place> VmCase<'place> {
    /// Bound on a boot, or on a change of the network in the machine; one or two minutes are usual, but a host may take six
    /// times as long.
    pub const BOOT: Duration = Duration::from_secs(1200);

    pub(crate) fn new(
        place: &'place Place,
        emulator: Emulator,
        machine: &VirtualMachine,
        peer: &Peer,
    ) -> Result<Self> {
        let state = place.state();
        let netns = Netns::create(place.peer())?;
        let switch = Switch::start(&emulator, &netns, peer, &machine.nics, state.join("switch"))?;
        switch.plug(&netns, &machine.nics)?;
        let mut authenticators = Vec::new();
        for nic in &machine.nics {
            let Some(certificates) = &nic.guard else { continue };
            let (gate, directory) = (switch.gate(&netns, nic), state.join(nic.port()));
            let new = Authenticator::start(&emulator, &netns, nic, certificates, gate, directory)?;
            authenticators.push(new);
        }
        let http = Http::start(&emulator, &netns, state.join("http"), state.join("http.log"))?;
        if let Some((_, config)) = &machine.ignition {
            let path = state.join("http").join(CONFIG);
            fs::write(&path, config).map_err(Error::file("write", &path))?;
        }
        for (name, from) in &machine.served {
            let path = state.join("http").join(name);
            fs::copy(from, &path).map_err(Error::file("write", &path))?;
        }
        let disk = state.join("disk");
        create_disk(&emulator, &netns, &disk)?;
        initramfs::write(machine, &emulator.image, &state.join("initrd"), state, true)?;
        let gateway = Gateway::start(netns, peer, state)?;
        // After the gateway, which gives the peer its addresses.
        let network_disk = match machine.network_disk {
            Some(server) => Some(NetworkDisk::start(&emulator, &gateway, server, &disk)?),
            None => None,
        };
        Ok(Self {
            qemu: None,
            _network_disk: network_disk,
            http,
            authenticators,
            switch,
            gateway,
            hot: 0,
            machine: machine.clone(),
            emulator,
            ignited: false,
            place,
        })
    }

    /// Powers the machine on and waits until its start-up is over, whether or not every unit succeeded. Returns its inside, as
    /// each reboot does.
    pub fn boot(&mut self) -> Result<Inside> {
        self.power_on()?;
        self.wait_running()?;
        let inside = self.inside()?;
        // The exit status reports failed units.
        inside.run_within(&["systemctl", "is-system-running", "--wait"], Self::BOOT)?;
        Ok(inside)
    }

    /// Powers the machine on and returns at once.
    pub fn power_on(&mut self) -> Result<()> {
        let security = SECURITY[usize::from(self.emulator.policy == Policy::Enforced)];
        let arguments = self.machine.arguments.join(" ");
        let mut arguments = format!("{ARGUMENTS} {security} {arguments}");
        if let Some(server) = self.machine.network_disk {
            arguments += &format!(" {}", network_disk::argument(server));
        }
        if !self.ignited {
            arguments += &format!(" {}", self.machine.first_arguments.join(" "));
        }
        if let Some((address, _)) = &self.machine.ignition
            && !self.ignited
        {
            arguments += &format!(
                " ignition.firstboot ignition.platform.id=metal ignition.config.url=http://{address}/{CONFIG}"
            );
        }
        if self.machine.embedded && !self.ignited {
            arguments += " ignition.firstboot ignition.platform.id=metal";
        }
        self.qemu = Some(Qemu::start(&Power {
            emulator: &self.emulator,
            netns: self.gateway.netns(),
            machine: &self.machine,
            arguments: &arguments,
            state: self.place.state(),
        })?);
        Ok(())
    }

    /// Waits until the running system, after the pivot, answers commands.
    pub fn wait_running(&mut self) -> Result<()> {
        let start = Instant::now();
        // In parts, so that a machine's end stops the wait.
        while !self.is_running(Duration::from_secs(10))? {
            if start.elapsed() > Self::BOOT {
                let what = "the running system's guest agent".to_owned();
                return Err(Error::Timeout { what, after: start.elapsed() });
            }
        }
        Ok(())
    }

    /// Whether the running system answers commands within `limit`.
    ///
    /// # Errors
    /// [`Error::MachineEnded`], [`Error::NotRunning`].
    pub fn is_running(&mut self, limit: Duration) -> Result<bool> {
        let qemu = self.qemu.as_mut().ok_or(Error::NotRunning)?;
        qemu.check_running()?;
        match qemu.agent().wait(limit) {
            Ok(()) => {
                // Only a first boot fetches Ignition's configuration.
                self.ignited = true;
                Ok(true)
            }
            Err(Error::Timeout { .. }) => Ok(false),
            Err(e) => Err(e),
        }
    }

    /// Shuts the machine down and boots it again from the same disk.
    pub fn reboot(&mut self) -> Result<Inside> {
        let has_less = !self.machine.first_archives.is_empty();
        self.boot_again(has_less)
    }

    /// Shuts the machine down, changes its cards, kernel arguments or initramfs, and boots it again from the same disk.
    pub fn reboot_as(
        &mut self,
        change: impl FnOnce(VirtualMachine) -> VirtualMachine,
    ) -> Result<Inside> {
        self.machine = change(self.machine.clone());
        self.boot_again(true)
    }

    fn boot_again(&mut self, has_another_initramfs: bool) -> Result<Inside> {
        // The machine often ends before the answer.
        let _ = self.inside()?.run(&["systemctl", "poweroff", "--no-block"]);
        self.wait_off()?;
        if has_another_initramfs {
            let (image, state) = (&self.emulator.image, self.place.state());
            initramfs::write(&self.machine, image, &state.join("initrd"), state, false)?;
        }
        self.boot()
    }

    /// Waits until the machine has switched itself off, in any boot; the next one is as this one.
    pub fn wait_off(&mut self) -> Result<()> {
        self.qemu.as_mut().ok_or(Error::NotRunning)?.wait_end(Self::BOOT)?;
        self.qemu = None;
        Ok(())
    }

    /// The inside of the running system, after the pivot.
    ///
    /// # Errors
    /// [`Error::NotRunning`] if the machine is off.
    pub fn inside(&self) -> Result<Inside> {
        let qemu = self.qemu.as_ref().ok_or(Error::NotRunning)?;
        Ok(Inside::virtual_machine(qemu.agent()))
    }

    /// The peer.
    pub fn peer(&self) -> &Gateway {
        &self.gateway
    }

    /// The output on the machine's serial console since power-on.
    pub fn console(&self) -> String {
        console(self.place.state())
    }

    /// Waits for a whole line on the console that contains `text`: the machine writes it piece by piece.
    pub fn wait_console(&mut self, text: &str, limit: Duration) -> Result<String> {
        let qemu = self.qemu.as_mut().ok_or(Error::NotRunning)?;
        wait_for(&format!("\"{text}\" on the console"), limit, || {
            qemu.check_running()?;
            let console = qemu.console();
            let mut lines = console.split_inclusive('\n').filter(|line| line.ends_with('\n'));
            Ok(lines.find(|line| line.contains(text)).map(|line| line.trim_end().to_owned()))
        })
    }

    /// The HTTP server's requests: one a line, with the client's address.
    pub fn requests(&self) -> Result<String> {
        self.http.log()
    }

    /// Waits for this request to the HTTP server.
    pub fn wait_requested(&mut self, path: &str) -> Result<()> {
        let qemu = self.qemu.as_mut().ok_or(Error::NotRunning)?;
        wait_for(&format!("a request for {path}"), Self::BOOT, || {
            qemu.check_running()?;
            Ok(self.http.log()?.contains(path).then_some(()))
        })
    }

    /// The authenticator at the port of this guarded card.
    ///
    /// # Errors
    /// [`Error::NotGuarded`].
    pub fn authenticator(&self, nic: &str) -> Result<&Authenticator> {
        let mut all = self.authenticators.iter();
        all.find(|authenticator| authenticator.card() == nic)
            .ok_or_else(|| Error::NotGuarded(nic.into()))
    }

    /// Waits until this guarded card has authenticated itself `count` times in all.
    pub fn wait_authenticated(&mut self, nic: &str, count: usize, limit: Duration) -> Result<()> {
        wait_for(&format!("success {count} of {nic} at its authenticator"), limit, || {
            self.qemu.as_mut().ok_or(Error::NotRunning)?.check_running()?;
            Ok((self.authenticator(nic)?.successes() >= count).then_some(()))
        })
    }

    /// The switch's view of its partner in an aggregate.
    pub fn lacp(&self, aggregate: &str) -> Result<String> {
        self.switch.lacp(self.gateway.netns(), aggregate)
    }

    /// Plugs a further card into the running machine. There are two slots for that: the cards are `enp1s0` and `enp2s0`.
    pub fn plug(&mut self, nic: &Nic) -> Result<()> {
        self.switch.plug(self.gateway.netns(), std::slice::from_ref(nic))?;
        self.qemu.as_ref().ok_or(Error::NotRunning)?.plug(nic, self.hot)?;
        self.hot += 1;
        Ok(())
    }

    /// Journal, network and console of the machine, for the report of a failed case.
    pub fn report(&self) -> String {
        let console = last_lines(&self.console());
        // The log of ovs-vswitchd and the wait of each of its threads show where it hangs.
        let commands = "journalctl --boot --no-pager --output=short-monotonic --lines=150; \
                        echo; nmcli device; ip address; ip route; ovs-vsctl show; \
                        tail --lines=40 /var/log/openvswitch/ovs-vswitchd.log; \
                        for task in /proc/$(pidof ovs-vswitchd)/task/*; do \
                        paste $task/comm $task/wchan; head -n 3 $task/stack; done";
        let journal = match self.inside().and_then(|inside| inside.run(&["sh", "-c", commands])) {
            Ok(output) => output.stdout,
            Err(e) => e.to_string(),
        };
        let ports: String = self.authenticators.iter().map(Authenticator::log).collect();
        format!("--- machine\n{journal}\n--- console\n{console}\n--- authenticators\n{ports}---\n")
    }
}

impl Drop for VmCase<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let _ = std::io::stderr().write_all(self.report().as_bytes());
        }
        self.qemu = None;
        let _ = fs::remove_dir_all(self.place.state());
    }
}

/// An empty layer on the image's disk: each case writes to its own.
fn create_disk(emulator: &Emulator, netns: &Netns, disk: &PathBuf) -> Result<()> {
    let base = format!("{}/disk", Emulator::IMAGE);
    let mut create: Command = emulator.command(netns, "qemu-img");
    create.args(["create", "-q", "-f", "qcow2", "-F", "raw", "-b", &base]).arg(disk);
    run(&mut create, Duration::from_secs(20))?.success()?;
    Ok(())
}
