//! A container image with the agent, and the registry that has it.

use std::{
    fs,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use tests::{
    lab::{Error, Gateway, Peer},
    program::{self, Exits as _},
};

/// The registry, as nodes call it: a name that their name server knows, behind the gateway.
const PORT: u16 = 5000;
/// podman takes it without TLS.
pub(crate) const INSECURE: (&str, &str) = (
    "/etc/containers/registries.conf.d/lab.conf",
    "[[registry]]\nlocation = \"api.lab.test:5000\"\ninsecure = true\n",
);

/// An image in a directory of the host.
pub(crate) struct Image {
    directory: tempfile::TempDir,
    digest: String,
}

impl Image {
    /// Builds one with the agent as its only file.
    pub(crate) fn build() -> Result<Self, Error> {
        let directory = tempfile::tempdir().expect("a directory");
        let at = |name: &str| directory.path().join(name).display().to_string();
        run(Command::new("strip").arg(program::dayone()).args(["-o", &at("dayone")]))?;
        fs::write(at("Containerfile"), "FROM scratch\nCOPY dayone /usr/bin/dayone\n")
            .expect("a file");
        let buildah = || {
            let mut command = Command::new("buildah");
            command.args(["--storage-driver=vfs", "--root", &at("store"), "--runroot", &at("run")]);
            command
        };
        run(buildah().args(["build", "--quiet", "--tag=dayone", &at("")]))?;
        let oci = format!("oci:{}:latest", at("image"));
        run(buildah().args(["push", "--quiet", "--digestfile", &at("digest"), "dayone", &oci]))?;
        run(buildah().args(["rmi", "--all"]))?;
        let digest = fs::read_to_string(at("digest")).expect("a digest");
        Ok(Self { directory, digest })
    }

    /// The image by its digest, at the registry.
    pub(crate) fn name(&self) -> String {
        format!("{}:{PORT}/dayone@{}", Peer::API_NAME, self.digest)
    }

    /// Starts a registry at the peer, with this image.
    pub(crate) fn serve(&self, peer: &Gateway) -> Result<Registry, Error> {
        let state = self.directory.path().join("registry");
        let settings = self.directory.path().join("registry.yml");
        let text = format!(
            "version: 0.1\nlog: {{level: warn, accesslog: {{disabled: true}}}}\n\
             storage: {{filesystem: {{rootdirectory: {}}}}}\nhttp: {{addr: \":{PORT}\"}}\n",
            state.display()
        );
        fs::write(&settings, text).expect("a file");
        let mut command = peer.command("docker-registry");
        let child = command.arg("serve").arg(&settings).stdout(Stdio::null()).stderr(Stdio::null());
        let registry = Registry(child.spawn().expect("docker-registry"));
        let from = format!("oci:{}:latest", self.directory.path().join("image").display());
        let to = format!("docker://{}:{PORT}/dayone:latest", Peer::API);
        let start = Instant::now();
        loop {
            let mut copy = peer.command("skopeo");
            copy.args([
                "copy",
                "--quiet",
                "--preserve-digests",
                "--dest-tls-verify=false",
                &from,
                &to,
            ]);
            match run(&mut copy) {
                // Its port is open soon after its start.
                Err(_) if start.elapsed() < Duration::from_secs(10) => {}
                Err(error) => return Err(error),
                Ok(()) => return Ok(registry),
            }
        }
    }
}

/// A registry that runs until it is dropped.
pub(crate) struct Registry(Child);

impl Drop for Registry {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs a program; its last word of trouble is the error.
pub(crate) fn run(command: &mut Command) -> Result<(), Error> {
    let output = match command.output() {
        Ok(output) => output,
        Err(e) => return Err(Error::Unavailable(format!("{command:?}: {e}"))),
    };
    match output.status.success() {
        true => Ok(()),
        false => {
            let problem = format!("{command:?}: {}", output.err());
            Err(Error::Output { program: "a tool of containers", problem })
        }
    }
}
