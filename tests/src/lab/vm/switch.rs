//! The switch of a virtual machine's cards: Open vSwitch in userspace, since it supports LACP and VLAN tags without the host's
//! kernel.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use super::{authenticator::Gate, emulator::Emulator};
use crate::lab::{
    command::{run, wait_for},
    error::{Error, Result},
    netns::Netns,
    node::Nic,
    peer::{LAN, Peer},
};

const START: Duration = Duration::from_secs(20);

/// A running switch; its processes end with it.
#[derive(Debug)]
pub(crate) struct Switch {
    daemon: Child,
    database: Child,
    emulator: Emulator,
    directory: PathBuf,
}

impl Switch {
    /// Starts it with a network for each of the peer's segments: devices of these names in `netns`, up.
    pub(crate) fn start(
        emulator: &Emulator,
        netns: &Netns,
        peer: &Peer,
        nics: &[Nic],
        directory: PathBuf,
    ) -> Result<Self> {
        fs::create_dir_all(&directory).map_err(Error::file("create", &directory))?;
        let path = |name: &str| directory.join(name).display().to_string();
        let (database, socket) = (path("conf.db"), path("db.sock"));
        let schema = "/usr/share/openvswitch/vswitch.ovsschema";
        let create = ["create", &database, schema];
        run(emulator.command(netns, "ovsdb-tool").args(create), START)?.success()?;
        let log = |name: &str| format!("--log-file={}", path(name));
        let control = |name: &str| format!("--unixctl={}", path(name));
        let server = daemon(
            emulator,
            netns,
            &directory,
            "ovsdb-server",
            &[
                database,
                format!("--remote=punix:{socket}"),
                control("database.ctl"),
                log("database.log"),
            ],
        )?;
        wait_for("the switch's database", START, || {
            Ok(directory.join("db.sock").exists().then_some(()))
        })?;
        let daemon = daemon(
            emulator,
            netns,
            &directory,
            "ovs-vswitchd",
            &[
                format!("unix:{socket}"),
                "--disable-system".into(),
                control("switch.ctl"),
                log("switch.log"),
            ],
        )?;
        let switch = Self { daemon, database: server, emulator: emulator.clone(), directory };
        switch.vsctl(netns, &["--no-wait", "init"])?;
        // The kernel also receives packets of the port, and would answer there for the segment's address.
        let arp = "echo 1 >/proc/sys/net/ipv4/conf/all/arp_ignore";
        run(netns.command("sh").args(["-c", arp]), START)?.success()?;
        for segment in peer.segments(nics) {
            switch.add_segment(netns, segment, peer.vlan_of(segment))?;
        }
        Ok(switch)
    }

    /// Plugs cards in: a port for each tap, and one port with LACP for each aggregate. A port carries the LAN untagged and its
    /// VLANs tagged. A guarded card's port is left to its authenticator.
    pub(crate) fn plug(&self, netns: &Netns, nics: &[Nic]) -> Result<()> {
        for nic in nics {
            let port = nic.port();
            netns.ip(&["tuntap", "add", "dev", &port, "mode", "tap"])?;
            netns.ip(&["link", "set", &port, "up"])?;
            if nic.aggregate.is_none() && nic.guard.is_none() {
                self.vsctl(netns, &["add-port", &nic.segment, &port])?;
            }
        }
        let mut aggregates: Vec<&str> =
            nics.iter().filter_map(|nic| nic.aggregate.as_deref()).collect();
        aggregates.dedup();
        for aggregate in aggregates {
            let mine = |nic: &&Nic| nic.aggregate.as_deref() == Some(aggregate);
            let ports: Vec<String> = nics.iter().filter(mine).map(Nic::port).collect();
            self.vsctl(netns, &words(&channel(aggregate, &ports)))?;
        }
        Ok(())
    }

    /// Puts the ports of an aggregate's cards into these port channels with LACP, in one step; the ports left are in none. A
    /// channel of several ports has the aggregate's name.
    pub(crate) fn channels(
        &self,
        netns: &Netns,
        aggregate: &str,
        nics: &[&Nic],
        channels: &[&[&str]],
    ) -> Result<()> {
        let mut all = ["--if-exists", "del-port", LAN, aggregate].map(str::to_owned).to_vec();
        let mut then = |words: Vec<String>| all.extend(["--".to_owned()].into_iter().chain(words));
        for nic in nics {
            let port = nic.port();
            then(["--if-exists", "del-port", LAN, &port].map(str::to_owned).to_vec());
        }
        for names in channels {
            let mine = nics.iter().filter(|nic| names.contains(&nic.name()));
            let ports: Vec<String> = mine.map(|nic| nic.port()).collect();
            then(channel(aggregate, &ports));
        }
        for nic in nics.iter().filter(|nic| !channels.concat().contains(&nic.name())) {
            then(["add-port", LAN, &nic.port()].map(str::to_owned).to_vec());
        }
        self.vsctl(netns, &words(&all))
    }

    /// The VLANs that an aggregate's port carries beside the LAN itself; `None`: all.
    pub(crate) fn carries(
        &self,
        netns: &Netns,
        aggregate: &str,
        vlans: Option<&[u16]>,
    ) -> Result<()> {
        let Some(vlans) = vlans else {
            return self.vsctl(netns, &["clear", "port", aggregate, "trunks"]);
        };
        let vlans: Vec<String> = vlans.iter().map(u16::to_string).collect();
        let trunks = format!("trunks=0,{}", vlans.join(","));
        self.vsctl(netns, &["set", "port", aggregate, &trunks])
    }

    /// The MTU of these cards' ports and of the LAN's own, which is the peer's.
    pub(crate) fn frames(&self, netns: &Netns, nics: &[Nic], mtu: u16) -> Result<()> {
        let request = format!("mtu_request={mtu}");
        for port in nics.iter().map(Nic::port).chain([LAN.to_owned()]) {
            self.vsctl(netns, &["set", "interface", &port, &request])?;
        }
        Ok(())
    }

    /// Sends a frame by a card's port, whatever the port is a part of.
    pub(crate) fn send(&self, netns: &Netns, nic: &Nic, frame: &[u8]) -> Result<()> {
        let bridge = format!("unix:{}", self.directory.join(LAN).display()) + ".mgmt";
        let hex: String = frame.iter().map(|byte| format!("{byte:02x}")).collect();
        let out = format!("in_port=controller packet={hex} actions=output:{}", nic.port());
        let mut command = self.emulator.command(netns, "ovs-ofctl");
        run(command.args(["packet-out", &bridge, &out]), START)?.success()?;
        Ok(())
    }

    /// The switch's view of an aggregate's partner.
    pub(crate) fn lacp(&self, netns: &Netns, aggregate: &str) -> Result<String> {
        let control = self.directory.join("switch.ctl");
        let target = format!("--target={}", control.display());
        let mut command = self.emulator.command(netns, "ovs-appctl");
        run(command.args([&target, "lacp/show", aggregate]), START)?.success()
    }

    fn add_segment(&self, netns: &Netns, name: &str, vlan: Option<u16>) -> Result<()> {
        let internal = ["--", "set", "interface", name, "type=internal"];
        if let Some(vlan) = vlan {
            let tag = format!("tag={vlan}");
            self.vsctl(netns, &[&["add-port", LAN, name, &tag][..], &internal].concat())?;
        } else {
            let netdev = ["--", "set", "bridge", name, "datapath_type=netdev"];
            self.vsctl(netns, &[&["add-br", name][..], &netdev].concat())?;
        }
        // Otherwise packets reach the userspace datapath without checksums.
        run(netns.command("ethtool").args(["-K", name, "tx", "off"]), START)?.success()?;
        netns.ip(&["link", "set", name, "up"])?;
        Ok(())
    }

    /// The commands that make the port of a guarded card a part of the switch, and end that.
    pub(crate) fn gate(&self, netns: &Netns, nic: &Nic) -> Gate {
        let (segment, port) = (&nic.segment, &nic.port());
        Gate {
            open: self.vsctl_command(netns, &["--may-exist", "add-port", segment, port]),
            close: self.vsctl_command(netns, &["--if-exists", "del-port", segment, port]),
        }
    }

    fn vsctl(&self, netns: &Netns, arguments: &[&str]) -> Result<()> {
        run(&mut self.vsctl_command(netns, arguments), START)?.success()?;
        Ok(())
    }

    fn vsctl_command(&self, netns: &Netns, arguments: &[&str]) -> Command {
        let database = format!("--db=unix:{}", self.directory.join("db.sock").display());
        let mut command = self.emulator.command(netns, "ovs-vsctl");
        command.args([&database, "--timeout=15"]).args(arguments);
        command
    }
}

impl Drop for Switch {
    fn drop(&mut self) {
        for child in [&mut self.daemon, &mut self.database] {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// The arguments that make a port channel with LACP, of one port or of several.
fn channel(aggregate: &str, ports: &[String]) -> Vec<String> {
    let mut arguments = vec!["add-bond".to_owned(), LAN.to_owned(), aggregate.to_owned()];
    if let [port] = ports {
        arguments = ["add-port", LAN, port, "--", "set", "port", port].map(str::to_owned).to_vec();
    } else {
        arguments.extend_from_slice(ports);
        arguments.push("bond_mode=balance-tcp".to_owned());
    }
    arguments.extend(["lacp=active", "other_config:lacp-time=fast"].map(str::to_owned));
    arguments
}

fn words(arguments: &[String]) -> Vec<&str> {
    arguments.iter().map(String::as_str).collect()
}

fn daemon(
    emulator: &Emulator,
    netns: &Netns,
    directory: &Path,
    program: &str,
    arguments: &[String],
) -> Result<Child> {
    let mut command = emulator.command(netns, program);
    // The sockets of its bridges: the tree is that of every machine.
    command.env("OVS_RUNDIR", directory);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().map_err(|source| Error::Spawn { program: program.into(), source })
}
