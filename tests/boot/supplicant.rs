//! 802.1X: the card authenticates itself in the initramfs, Ignition's configuration comes over the port that this opens, and
//! the running system authenticates the card again, with the profile that it got and with a document's.

use std::{fs, path::Path, process::Command};

use tests::{
    lab::{Machines, Nic, Peer, VirtualMachine, VmCase},
    two_stage::{
        ADDRESS, Ignition, MACS, NAME, SOON, default_route, kubelet_last, messages, one_card,
        static_address, tell_timeline,
    },
};

use crate::Result;

/// The directory of the machine's certificates, in the initramfs and in the running system.
const PKI: &str = "/etc/pki/802-1x";
/// The password of its key, in PKCS #8.
const PASSWORD: &str = "of-the-key";
const CARD: &str = "nic1";

/// An authority, a certificate of the authenticator's and one of the machine's, made for this case.
struct Certificates {
    directory: tempfile::TempDir,
}

impl Certificates {
    fn new() -> Result<Self> {
        let it = Self { directory: tempfile::tempdir()? };
        it.openssl(
            "req -x509 -newkey rsa:2048 -nodes -subj /CN=authority -keyout ca.key -out ca.pem",
        )?;
        it.issue("server", "serverAuth", "-nodes")?;
        it.issue("client", "clientAuth", &format!("-passout pass:{PASSWORD}"))?;
        Ok(it)
    }

    /// Makes a key and a certificate for `usage`.
    fn issue(&self, name: &str, usage: &str, protection: &str) -> Result<()> {
        fs::write(self.path().join("usage"), format!("extendedKeyUsage={usage}\n"))?;
        self.openssl(&format!(
            "req -newkey rsa:2048 {protection} -subj /CN={name} -keyout {name}.key -out {name}.csr"
        ))?;
        self.openssl(&format!(
            "x509 -req -in {name}.csr -CA ca.pem -CAkey ca.key -CAcreateserial -extfile usage -out {name}.pem"
        ))
    }

    fn openssl(&self, arguments: &str) -> Result<()> {
        let mut openssl = Command::new("openssl");
        let output =
            openssl.current_dir(self.path()).args(arguments.split_whitespace()).output()?;
        let told = String::from_utf8_lossy(&output.stderr);
        if output.status.success() { Ok(()) } else { Err(format!("{openssl:?}: {told}").into()) }
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    /// The files that the machine needs: paths there, and contents.
    fn of_machine(&self) -> Result<Vec<(String, String)>> {
        let file = |name: &&str| {
            Ok((format!("{PKI}/{name}"), fs::read_to_string(self.path().join(name))?))
        };
        ["ca.pem", "client.pem", "client.key"].iter().map(file).collect()
    }
}

/// The section of the card, in a document.
fn section(identity: &str) -> String {
    format!(
        "    802.1x:\n      identity: {identity}\n      eap-methods: [tls]\n      ca-cert: {PKI}/ca.pem\n      client-cert: {PKI}/client.pem\n      private-key: {PKI}/client.key\n      private-key-password: {PASSWORD}\n"
    )
}

/// A document for the card: `name` is the system's, or stands for the card with the address.
fn document(name: &str, identity: &str) -> String {
    let ip = section(identity) + &static_address(ADDRESS);
    one_card(name, MACS[0], &ip, &default_route(Peer::GATEWAY, name))
}

/// Waits until the card is connected, by 802.1X, and reached.
fn is_connected(case: &VmCase<'_>, card: &str) -> Result<()> {
    let state = format!("nmcli -g GENERAL.STATE device show {card} | grep -Fx '100 (connected)'");
    case.inside()?.wait_sh(&state, VmCase::BOOT)?;
    assert!(case.authenticator(CARD)?.is_open());
    assert!(case.peer().pings(ADDRESS, SOON)?);
    Ok(())
}

#[tests::case]
fn each_stage_authenticates_the_card() -> Result<()> {
    let machines = Machines::open()?;
    let certificates = Certificates::new()?;
    let files = certificates.of_machine()?;
    let mut ignition = Ignition::new(NAME).document(NAME, &document("enp0s16", "node"));
    let mut machine = VirtualMachine::new()
        .nic(Nic::new(CARD, MACS[0]).guarded(certificates.path()))
        .built_with(&format!("/etc/nmgen/{NAME}.yml"), &document("eth1", "early"));
    for (path, content) in &files {
        ignition = ignition.private_file(path, content);
        machine = machine.built_with(path, content);
    }
    let machine = machine.ignition(&Peer::GATEWAY.to_string(), &ignition.text());
    machines.run(&machine, &Peer::new(), |case| {
        assert!(!case.authenticator(CARD)?.is_open());
        case.power_on()?;
        case.wait_authenticated(CARD, 1, VmCase::BOOT)?;
        assert_eq!(case.authenticator(CARD)?.identity()?, "early");
        case.wait_requested("config.ign")?;
        case.wait_running()?;
        // With the profile that the system got.
        case.wait_authenticated(CARD, 2, VmCase::BOOT)?;
        let inside = case.inside()?;
        kubelet_last(&inside)?;
        case.wait_authenticated(CARD, 3, SOON)?;
        is_connected(case, "enp0s16")?;
        assert_eq!(case.authenticator(CARD)?.identity()?, "node");
        tell_timeline(&messages(&inside)?);
        case.authenticator(CARD)?.ask_again()?;
        case.wait_authenticated(CARD, 4, SOON)?;
        Ok(())
    })
}
