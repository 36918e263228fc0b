//! The agent in the operating system's image: the layer of `packaging/Containerfile`, and the Containerfile with which the operator
//! builds the image of a pool anew (MachineOSConfig). Debian's root file system of the lab is in the place of RHEL CoreOS.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;
use tests::{
    dayone::{Document, MAC, machine_config},
    guide,
    lab::{Error, Lab, Nic, Node, Peer, Release},
    program,
    tree::{self, Built},
};

use crate::{boots_with_br_ex, image::run};

/// The images, as the Containerfiles name them.
const BASE: &str = "localhost/base:latest";
const FILES: &str = "localhost/files:latest";
/// The real one refuses what a build leaves in directories that no image keeps.
const OSTREE: &str = "#!/bin/sh\n[ \"$*\" = 'container commit' ] || exit 2\nexec test -z \"$(find /tmp /var/tmp -mindepth 1)\"\n";

/// The storage of images, in a directory of the host.
struct Store(tempfile::TempDir);

impl Store {
    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A command of buildah, whose mounts end with it.
    fn buildah(&self) -> Command {
        let mut command = Command::new("unshare");
        command.args(["--mount", "--propagation=private", "buildah", "--storage-driver=overlay"]);
        command.arg("--root").arg(self.at("store"));
        command.arg("--runroot").arg(self.at("run"));
        command
    }

    fn build(&self, image: &str, file: &Path, context: &Path, rest: &[&str]) -> Result<(), Error> {
        let mut build = self.buildah();
        build.args(["build", "--quiet", "--isolation=chroot", "--pull=never", "--tag", image]);
        run(build.args(rest).arg("--file").arg(file).arg(context))
    }

    /// The base, which has a stand-in of ostree, and the image of the files.
    fn with_images(rootfs: &Path) -> Result<Self, Error> {
        let store = Self(tempfile::tempdir().expect("a directory"));
        let files = store.at("files");
        Built::programs().and_then(|built| built.install(&files)).expect("an installed tree");
        for name in ["dayone", "nmgen"] {
            run(Command::new("strip").arg(files.join("usr/bin").join(name)))?;
        }
        let [base, alone] = ["base", "alone"].map(|name| store.at(name));
        fs::write(&base, "FROM scratch\nCOPY . /\nRUN rm -rf /tmp/* /var/tmp/*\n").expect("a file");
        fs::write(&alone, "FROM scratch\nCOPY . /\n").expect("a file");
        store.build("localhost/debian:latest", &base, rootfs, &[])?;
        let ostree = store.at("ostree");
        fs::create_dir_all(&ostree).expect("a directory");
        fs::write(ostree.join("ostree"), OSTREE).expect("a file");
        fs::write(&base, "FROM localhost/debian:latest\nCOPY --chmod=0755 ostree /usr/bin/\n")
            .expect("a file");
        store.build(BASE, &base, &ostree, &[])?;
        store.build(FILES, &alone, &files, &[])?;
        Ok(store)
    }

    /// A directory with the files of an image's last layer.
    fn last_layer(&self, image: &str) -> Result<PathBuf, Error> {
        let (blobs, layer) = (self.at("oci"), self.at("layer"));
        for directory in [&blobs, &layer] {
            let _ = fs::remove_dir_all(directory);
        }
        fs::create_dir_all(&layer).expect("a directory");
        let to = format!("oci:{}:latest", blobs.display());
        run(self.buildah().args(["push", "--quiet", "--disable-compression", image, &to]))?;
        let read = |path: PathBuf| -> Value {
            serde_json::from_slice(&fs::read(path).expect("a file")).expect("JSON")
        };
        let blob = |value: &Value| {
            let (kind, digest) = value["digest"]
                .as_str()
                .and_then(|digest| digest.split_once(':'))
                .expect("a digest");
            blobs.join("blobs").join(kind).join(digest)
        };
        let index = read(blobs.join("index.json"));
        let manifest = read(blob(&index["manifests"][0]));
        let last = manifest["layers"].as_array().and_then(|layers| layers.last()).expect("a layer");
        run(Command::new("tar").arg("-xf").arg(blob(last)).arg("-C").arg(&layer))?;
        Ok(layer)
    }
}

/// The Containerfile of the guide's MachineOSConfig, whose image is that of the files, behind the stage that the operator makes.
fn of_the_machine_os_config() -> String {
    let guide = fs::read_to_string(program::root().join("nmgen/doc/guides/first-boot.md"));
    let guide = guide.expect("the guide");
    let object = guide::file(&guide, "machine-os-config.yaml").expect("the object");
    let object: Value = serde_yaml::from_str(&object).expect("YAML");
    let key = "machineconfiguration.openshift.io/pre-built-image";
    let image = object["metadata"]["annotations"][key].as_str().expect("the annotation");
    // The operator refuses a tag.
    let (name, digest) = image.split_once("@sha256:").expect("a digest");
    assert!(
        digest.len() == 64 && digest.chars().all(|character| character.is_ascii_hexdigit()),
        "{image}"
    );
    // Later images go where the first one is.
    let push = object["spec"]["renderedImagePushSpec"].as_str().expect("a place");
    assert_eq!(push.rsplit_once(':').map(|(name, _)| name), Some(name));
    let text = object["spec"]["containerFile"][0]["content"].as_str().expect("a Containerfile");
    let (before, rest) = text.split_once("COPY --from=").expect("the files");
    let (_, rest) = rest.split_once(' ').expect("their place");
    format!("FROM {BASE} AS configs\n{before}COPY --from={FILES} {rest}")
}

/// At the first boot, without anything fetched; the next one finds it in force.
#[tests::case]
fn first_boot_has_br_ex_by_the_document() -> Result<(), Error> {
    let lab = Lab::open()?;
    let store = Store::with_images(lab.root_file_system())?;
    let layer = program::root().join("packaging/Containerfile");
    let (base, files) = (format!("--build-arg=BASE={BASE}"), format!("--build-arg=FILES={FILES}"));
    store.build("layer", &layer, program::root(), &[&base, &files, "--target=agent"])?;
    let own = tree::files(&store.last_layer("layer")?).expect("its files");
    let later = store.at("later");
    fs::write(&later, of_the_machine_os_config()).expect("a file");
    store.build("later", &later, store.0.path(), &[])?;
    let added = store.last_layer("later")?;
    assert_eq!(
        tree::files(&added).expect("its files"),
        own,
        "the operator's image has other files"
    );

    let (config, _) = machine_config(&["--agent"], &Document::new().text());
    let node = Node::new("worker-0")
        .nic(Nic::new("eno1", MAC))
        .field(Release::V5_1)
        .ovn_remains()
        .tree(added)
        .tree(config.path())
        .day_one();
    lab.run(node, &Peer::new(), |case| {
        for boot in 0..2 {
            boots_with_br_ex(case, boot, "layer, ")?;
        }
        Ok(())
    })
}
