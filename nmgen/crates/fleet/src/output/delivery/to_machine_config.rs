//! MachineConfigs: each holds the documents of all nodes of a role, and each node selects its own.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use nmgen_core::write::File;
use nmgen_document::diagnostic::{Diagnostic, Diagnostics, Place, rules};
use nmgen_document::error::Error;
use serde_json::json;

use super::compress::gzip;
use super::host_name::{document_name, node_name};
use super::kubernetes_object::{self, yaml};
use super::to_ignition::{self, PUBLIC, SECRET};
use super::{agent, secrets};
use crate::convert::Converted;
use crate::output::options::{Agent, Options};
use crate::output::rendered::Output;
use crate::parallel::each;

rules! {
    error ROLE_UNKNOWN = "role-unknown";
    warning SIZE = "machine-config-size";
    error TOO_LARGE = "machine-config-too-large";
}

/// The directory of documents for machine-config-operator's service and the agent.
const DOCUMENTS: &str = "/etc/nmstate/openshift";
const AGENT_CONFIGURATION: &str = "/etc/dayone/dayone.toml";
/// etcd's `--max-request-bytes`, the bound of every object.
const ETCD_LIMIT: usize = 1536 * 1024;
/// A warning's threshold: the pool's rendered MachineConfig must hold all of its MachineConfigs.
const CAUTION: usize = 1024 * 1024;

/// The name in OpenShift's documentation, without the role.
const NAME: &str = "10-br-ex";

/// `10-br-ex-<role>`: a single config, or `<name>.yaml` for each of several roles.
pub(crate) fn render(
    hosts: &[Converted],
    options: &Options,
    diagnostics: &mut Diagnostics,
) -> Result<Output, Error> {
    let roles = roles(hosts, options.role.as_deref(), diagnostics);
    let mut files = Vec::new();
    for (role, hosts) in &roles {
        let name = format!("{}-{role}", options.name.as_deref().unwrap_or(NAME));
        let content = one(&name, role, hosts, options)?;
        diagnostics.extend(secrets::in_machine_config(role, hosts));
        if let Some(first) = hosts.first() {
            diagnostics.extend(size(role, &name, content.len(), hosts.len(), &first.host.place));
        }
        files.push(File { directories: Vec::new(), name: format!("{name}.yaml"), content });
    }
    match files.len() {
        1 => Ok(Output::Named(files.remove(0))),
        _ => Ok(Output::Directory(files)),
    }
}

fn roles<'h>(
    hosts: &'h [Converted],
    otherwise: Option<&'h str>,
    diagnostics: &mut Diagnostics,
) -> BTreeMap<&'h str, Vec<&'h Converted>> {
    let mut roles: BTreeMap<&str, Vec<&Converted>> = BTreeMap::new();
    for converted in hosts {
        let host = &converted.host;
        let Some(role) = host.role.as_deref().or(otherwise) else {
            let message = format!("the role of {} is unknown", document_name(converted));
            let help = "set it with --role worker, or --role master";
            diagnostics.add(ROLE_UNKNOWN, host.place.clone(), message, help);
            continue;
        };
        if kubernetes_object::is_name(role, "a role", &host.place, diagnostics) {
            roles.entry(role).or_default().push(converted);
        }
    }
    roles
}

fn one(name: &str, role: &str, hosts: &[&Converted], options: &Options) -> Result<Vec<u8>, Error> {
    let documents = each(hosts, |converted| {
        let document = converted.host.document()?;
        let path = format!("{DOCUMENTS}/{}.yml", node_name(converted));
        Some(file(&path, &document.text(), if secrets::has(converted) { SECRET } else { PUBLIC }))
    });
    let mut files: String = documents.into_iter().flatten().collect::<Result<_, _>>()?;
    let mut systemd = None;
    if let Some(Agent { configuration, install }) = &options.agent {
        if let Some(configuration) = configuration {
            files += &file(AGENT_CONFIGURATION, configuration, PUBLIC)?;
        }
        let units = match install {
            None => agent::enabled(),
            Some(image) => {
                files += &file(agent::INSTALLER, agent::INSTALLER_TEXT, agent::PROGRAM)?;
                agent::installed(image)
            }
        };
        systemd = Some(json!({ "units": units }));
    }
    let mut config = json!({
        "ignition": { "version": to_ignition::version(options.ignition_version) },
        "storage": { "files": [] },
    });
    if let Some(systemd) = systemd {
        config["systemd"] = systemd;
    }
    let text = yaml(&json!({
        "apiVersion": "machineconfiguration.openshift.io/v1",
        "kind": "MachineConfig",
        "metadata": {
            "labels": { "machineconfiguration.openshift.io/role": role },
            "name": name,
        },
        "spec": { "config": config },
    }))?;
    Ok(with_files(&text, &files).into_bytes())
}

/// The object with these items in its empty list of files: written as text, on all cores.
fn with_files(object: &str, files: &str) -> String {
    const EMPTY: &str = " files: []\n";
    match object.split_once(EMPTY) {
        Some((before, after)) if !files.is_empty() => format!("{before} files:\n{files}{after}"),
        _ => object.to_owned(),
    }
}

/// An item of the list of files; the content is compressed if that is smaller.
fn file(path: &str, text: &str, mode: u32) -> Result<String, Error> {
    let plain = format!("data:text/plain;charset=utf-8;base64,{}", STANDARD.encode(text));
    let packed = format!("data:;base64,{}", STANDARD.encode(gzip(text.as_bytes())?));
    const GZIP: &str = "compression: gzip";
    let contents = if packed.len() + GZIP.len() < plain.len() {
        json!({ "compression": "gzip", "source": packed })
    } else {
        json!({ "source": plain })
    };
    let item = json!({ "contents": contents, "mode": mode, "overwrite": true, "path": path });
    let text = serde_yaml::to_string(&[item]).map_err(|source| Error::RenderYaml { source })?;
    // Every value is on one line, so indentation changes none.
    Ok(text.lines().map(|line| format!("      {line}\n")).collect())
}

fn size(role: &str, name: &str, bytes: usize, hosts: usize, place: &Place) -> Option<Diagnostic> {
    let (rule, message) = if bytes > ETCD_LIMIT {
        (
            TOO_LARGE,
            format!("{name} has {bytes} bytes; etcd takes at most {ETCD_LIMIT} per request"),
        )
    } else if bytes > CAUTION {
        let left = ETCD_LIMIT - bytes;
        let message = format!(
            "{name} has {bytes} bytes: etcd's limit of {ETCD_LIMIT} per request leaves {left} for the \
             rest of the pool"
        );
        (SIZE, message)
    } else {
        return None;
    };
    let help = format!(
        "the pool's rendered MachineConfig holds all of them: {}, or shorten the documents",
        pools(role, bytes, hosts)
    );
    Some(Diagnostic::new(rule, message, place.clone()).help(help))
}

/// The pools that would each stay below the warning's threshold, by name.
fn pools(role: &str, bytes: usize, hosts: usize) -> String {
    let pools = bytes.div_ceil(CAUTION);
    if hosts < pools {
        return "split the pool".to_owned();
    }
    let each = hosts.div_ceil(pools);
    let names = match pools {
        2 => format!("{role}-1 and {role}-2"),
        _ => format!("{role}-1 to {role}-{pools}"),
    };
    format!("split the pool into {pools} of at most {each} hosts, such as {names}")
}

#[cfg(test)]
mod tests {
    use super::{CAUTION, pools};

    #[test]
    fn a_pool_that_is_too_large_is_split_by_name() {
        let of = |bytes, hosts| pools("worker", bytes, hosts);
        let two = "split the pool into 2 of at most 3 hosts, such as worker-1 and worker-2";
        assert_eq!(of(CAUTION + 1, 5), two);
        let eight = "split the pool into 8 of at most 1250 hosts, such as worker-1 to worker-8";
        assert_eq!(of(8 * CAUTION, 9_997), eight);
        assert_eq!(of(2 * CAUTION, 1), "split the pool");
    }
}
