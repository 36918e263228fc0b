//! The authenticator of 802.1X at a port of the peer's switch: hostapd with its own EAP server. The port is no part of the switch
//! until the card has authenticated itself.
//!
//! hostapd listens at the card's end of the port, since a switch forwards no frame to the group address of 802.1X.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read},
    os::unix::net::UnixDatagram,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::Duration,
};

use super::emulator::Emulator;
use crate::lab::{
    command::{run, wait_for},
    error::{Error, Result},
    netns::Netns,
    node::Nic,
};

/// Bound on its start, on an answer and on a change of the switch.
const SOON: Duration = Duration::from_secs(20);
/// hostapd's word for a port that it opens.
const OPENED: &str = "AP-STA-CONNECTED";
/// hostapd's word for a port that it closes.
const CLOSED: &str = "AP-STA-DISCONNECTED";

/// The authenticator of one port; it ends when dropped, and leaves the port as it is.
#[derive(Debug)]
pub struct Authenticator {
    child: Child,
    card: String,
    mac: String,
    control: PathBuf,
    directory: PathBuf,
    log: Arc<Mutex<String>>,
}

/// Commands that add a port to the switch and remove it.
pub(crate) struct Gate {
    pub(crate) open: Command,
    pub(crate) close: Command,
}

impl Authenticator {
    /// Starts it at the port of `nic`, with the certificates in `certificates`.
    pub(crate) fn start(
        emulator: &Emulator,
        netns: &Netns,
        nic: &Nic,
        certificates: &Path,
        gate: Gate,
        directory: PathBuf,
    ) -> Result<Self> {
        fs::create_dir_all(&directory).map_err(Error::file("create", &directory))?;
        for name in ["ca.pem", "server.pem", "server.key"] {
            let from = certificates.join(name);
            fs::copy(&from, directory.join(name)).map_err(Error::file("copy", &from))?;
        }
        let users = directory.join("users");
        fs::write(&users, "* TLS\n").map_err(Error::file("write", &users))?;
        let settings = directory.join("settings");
        let text = settings_of(&nic.port(), &directory);
        fs::write(&settings, text).map_err(Error::file("write", &settings))?;
        // Its output is a pipe, which the C library would fill before it writes.
        let mut command = emulator.command(netns, "stdbuf");
        command.args(["-oL", "hostapd"]).arg(&settings);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child =
            command.spawn().map_err(|source| Error::Spawn { program: "hostapd".into(), source })?;
        let log = Arc::new(Mutex::new(String::new()));
        if let Some(output) = child.stdout.take() {
            let log = Arc::clone(&log);
            thread::spawn(move || follow(output, gate, &log));
        }
        let authenticator = Self {
            child,
            card: nic.name.clone(),
            mac: nic.mac.clone(),
            control: directory.join("control").join(nic.port()),
            directory,
            log,
        };
        wait_for("hostapd's start", SOON, || {
            Ok(authenticator.log().contains("AP-ENABLED").then_some(()))
        })?;
        Ok(authenticator)
    }

    /// The lab's name of the card at this port.
    pub(crate) fn card(&self) -> &str {
        &self.card
    }

    /// The messages of hostapd since its start.
    pub fn log(&self) -> String {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The number of times that the card has authenticated itself.
    pub fn successes(&self) -> usize {
        self.log().matches(&format!("CTRL-EVENT-EAP-SUCCESS {}", self.mac)).count()
    }

    /// Whether the port is open.
    pub fn is_open(&self) -> bool {
        let log = self.log();
        log.rfind(OPENED) > log.rfind(CLOSED)
    }

    /// The identity that the card gave last.
    ///
    /// # Errors
    /// If hostapd knows no such card.
    pub fn identity(&self) -> Result<String> {
        let state = self.command("STA")?;
        let identity =
            state.lines().find_map(|line| line.strip_prefix("dot1xAuthSessionUserName="));
        identity.map(str::to_owned).ok_or_else(|| self.refused("STA", &state))
    }

    /// Asks the card to authenticate itself again, as a switch does from time to time. The port stays open meanwhile.
    ///
    /// # Errors
    /// If hostapd knows no such card.
    pub fn ask_again(&self) -> Result<()> {
        match self.command("EAPOL_REAUTH")?.trim() {
            "OK" => Ok(()),
            answer => Err(self.refused("EAPOL_REAUTH", answer)),
        }
    }

    /// The answer to a command about the card.
    fn command(&self, word: &str) -> Result<String> {
        let mine = self.directory.join("client");
        // The socket of an earlier command.
        let _ = fs::remove_file(&mine);
        let ask = || {
            let socket = UnixDatagram::bind(&mine)?;
            socket.set_read_timeout(Some(SOON))?;
            socket.connect(&self.control)?;
            socket.send(format!("{word} {}", self.mac).as_bytes())?;
            let mut answer = [0; 8192];
            let length = socket.recv(&mut answer)?;
            Ok(String::from_utf8_lossy(&answer[..length]).into_owned())
        };
        ask().map_err(Error::file("ask", &self.control))
    }

    fn refused(&self, word: &str, answer: &str) -> Error {
        Error::Authenticator { command: format!("{word} {}", self.mac), problem: answer.into() }
    }
}

impl Drop for Authenticator {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn settings_of(port: &str, directory: &Path) -> String {
    let directory = directory.display();
    format!(
        "interface={port}\n\
         driver=wired\n\
         ctrl_interface={directory}/control\n\
         ieee8021x=1\n\
         use_pae_group_addr=1\n\
         eap_reauth_period=0\n\
         eap_server=1\n\
         eap_user_file={directory}/users\n\
         ca_cert={directory}/ca.pem\n\
         server_cert={directory}/server.pem\n\
         private_key={directory}/server.key\n"
    )
}

/// Opens and closes the port as hostapd tells, whose driver of wired networks closes none. A line counts once the port is as it
/// says.
fn follow(output: impl Read, mut gate: Gate, log: &Mutex<String>) {
    for line in BufReader::new(output).lines().map_while(std::result::Result::ok) {
        let change = if line.contains(OPENED) {
            Some(&mut gate.open)
        } else if line.contains(CLOSED) {
            Some(&mut gate.close)
        } else {
            None
        };
        let failure =
            change.and_then(|command| run(command, SOON).and_then(|output| output.success()).err());
        let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
        match failure {
            Some(error) => log.push_str(&format!("the switch: {error}\n")),
            None => log.push_str(&format!("{line}\n")),
        }
    }
}
